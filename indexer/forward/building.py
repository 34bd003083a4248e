"""The forward index during a build: term numbers, and rows in parts.

Each part contains the rows and the new terms since the previous part. It is on disk before the engine commits
the same passages, so a resumed build finds the rows and the term numbers of all committed passages.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import TERM_SEPARATOR
from indexer.files.schema import StoredPassage
from indexer.forward.columns import ForwardColumns, ForwardPart, join_columns
from indexer.forward.lexicon import Lexicon, LexiconBuilder
from indexer.forward.rows import RowTokens, pack_row

TERMS = "terms"
PART_BYTES = 32_000_000  # of rows; a larger part is written to disk


@dataclass(frozen=True, slots=True)
class BaseForward:
    """The forward index of the base version of a build; without columns in a cluster."""

    lexicon: Path
    columns: Path | None = None


class ForwardWriter:
    """Numbers the terms of a build, and stores its rows.

    Args:
        folder: folder of the parts.
        base: forward index of the base version.
        committed: number of passages committed by the engine in a build from empty; later parts are dropped.
            None if the engine stores the rows; all parts count then.
    """

    def __init__(self, folder: Path, base: BaseForward | None = None, committed: int | None = None) -> None:
        """Read the parts of an earlier run of the build.

        Raises:
            ValueError: the parts do not match the committed passages, or files are missing.
        """
        self._folder, self._base = folder, base
        self._lexicon = LexiconBuilder(Lexicon.open(base.lexicon) if base else ())
        self._keeps_rows = committed is not None
        self._parts: list[Path] = []
        self._part, self._removed = ForwardPart(), set[int]()
        self._next = self._first = 0
        if base and base.columns:
            columns = ForwardColumns(base.columns)
            self._next = self._first = int(columns.numbers[-1]) + 1 if len(columns) else 0
        self._read_parts(committed)
        self._numbered = len(self._lexicon)  # terms that are on disk

    def _read_parts(self, committed: int | None) -> None:
        for path in sorted(self._folder.glob("[0-9]*")):
            if committed is not None and self._next - self._first >= committed:
                shutil.rmtree(path)
                continue
            try:
                terms = (path / TERMS).read_text(encoding="utf-8").split(TERM_SEPARATOR)[1:]
                rows = len(ForwardColumns(path))
            except FileNotFoundError as error:
                raise ValueError(f"{error.filename} is missing") from error
            self._lexicon.numbers(terms)
            self._parts.append(path)
            if committed is not None:
                self._next += rows
        if committed is not None and self._base is None and self._next != committed:
            raise ValueError(f"only {self._next:,} rows of {committed:,} passages exist")

    @property
    def terms(self) -> list[str]:
        """The terms in the order of their numbers."""
        return self._lexicon.terms_from(1)

    def row(self, passage: StoredPassage, analysed: AnalysedPassage) -> bytes:
        """Pack the row of a passage, numbering its new terms."""
        return packed_row(passage, analysed, self._lexicon)

    def add(self, passage: StoredPassage, row: bytes) -> int:
        """Add a row to the current part, and return the number of its passage."""
        number = self._next
        self._next += 1
        self._part.add(passage.passage_id, passage.doc_id, row, number)
        if self._part.size > PART_BYTES:
            self.flush()
        return number

    def remove(self, numbers: Sequence[int]) -> None:
        """Drop passages of the base."""
        self._removed.update(numbers)

    def flush(self) -> None:
        """Write the rows and terms since the last part to disk."""
        new = self._lexicon.terms_from(self._numbered + 1)
        if not new and not len(self._part):
            return
        path = self._folder / f"{len(self._parts):06}"
        self._part.write(path, terms="".join(TERM_SEPARATOR + term for term in new).encode())
        self._parts.append(path)
        self._part, self._numbered = ForwardPart(), len(self._lexicon)

    def finish(self, target: Path) -> None:
        """Join the rows of the base and of all parts in `target`; keep the parts for a resumed build."""
        self.flush()
        base = [self._base.columns] if self._base and self._base.columns else []
        shutil.rmtree(target, ignore_errors=True)
        join_columns([*base, *self._parts], self._removed, target)


def packed_row(passage: StoredPassage, analysed: AnalysedPassage, lexicon: LexiconBuilder) -> bytes:
    """Pack the row of a passage, numbering its new terms in the lexicon."""
    tokens = analysed.tokens
    title = lexicon.numbers(tokens.title.words())
    bracket = _bracket_at_end(passage.title)
    return pack_row(
        passage,
        RowTokens(
            body=lexicon.numbers(tokens.text.words()),
            other_title=lexicon.numbers(tokens.title2.words()),
            title=title,
            names=analysed.names,
            title_name=sum(end <= bracket for *_, end in tokens.title.tokens())
            if bracket
            else sum(number > 0 for number in title),
        ),
    )


def _bracket_at_end(title: str) -> int:
    """Return the start of a bracket at the end of a title, as in "Mercury (planet)"; 0 without one."""
    title = title.rstrip()
    return max(0, title.rfind("(")) if title.endswith(")") else 0
