"""The forward index during a build: term numbers, and rows in parts.

New terms and rows are on disk before the engine commits the same passages, so a resumed build finds the rows
and the term numbers of all committed passages.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from base.files.durable import write_durably
from indexer.analysis.analysed import AnalysedPassage
from indexer.analysis.packing import TERM_SEPARATOR
from indexer.files.parts import Column, part_name, parts_in
from indexer.files.schema import StoredPassage
from indexer.forward.columns import NewPart, Part, join_rows, read_removed, write_removed
from indexer.forward.lexicon import LexiconBuilder
from indexer.forward.rows import RowTokens, pack_row

PART_BYTES = 32_000_000  # of rows; a larger part is written to disk


class TermNumbers:
    """The term numbers of a build, after the numbers of its base; new terms are files of a folder."""

    def __init__(self, folder: Path, base: Iterable[str] = ()) -> None:
        """Read the terms of an earlier run of the build."""
        self._folder = folder
        self.lexicon = LexiconBuilder(base)
        for path in sorted(folder.glob("[0-9]*")):
            self.lexicon.numbers(path.read_text(encoding="utf-8").split(TERM_SEPARATOR)[1:])
        self._written = len(self.lexicon)

    def flush(self) -> None:
        """Write the terms since the last call to disk."""
        if new := self.lexicon.terms_from(self._written + 1):
            self._folder.mkdir(parents=True, exist_ok=True)
            text = "".join(TERM_SEPARATOR + term for term in new)
            write_durably(self._folder / part_name(self._written), text)
            self._written = len(self.lexicon)

    @property
    def terms(self) -> list[str]:
        """The terms in the order of their numbers."""
        return self.lexicon.terms_from(1)


class RowWriter:
    """Adds rows to the parts in a folder; the base version or an earlier run wrote them.

    Args:
        folder: folder of the parts.
        committed: number of passages committed by the engine in a build from empty; later parts are dropped.
            None in an update, which continues the numbers of its base.
    """

    def __init__(self, folder: Path, committed: int | None = None) -> None:
        """Find the next number.

        Raises:
            ValueError: the parts do not match the committed passages.
            FileNotFoundError: a file is missing.
        """
        self._folder, self._next, self._is_new = folder, 0, committed is not None
        for path in parts_in(folder):
            if committed is not None and self._next >= committed:
                shutil.rmtree(path)
            else:
                self._next += len(Part(path))
        if committed is not None and self._next != committed:
            raise ValueError(f"only {self._next:,} rows of {committed:,} passages exist")
        self._part, self._removed = NewPart(), read_removed(folder)
        self._removed_now: list[int] = []

    @property
    def removed(self) -> Column:
        """The numbers of removed passages, ascending."""
        return np.union1d(self._removed, np.array(self._removed_now, np.int64))

    def add(self, passage: StoredPassage, row: bytes) -> int:
        """Add a row, and return the number of its passage."""
        number = self._next
        self._next += 1
        self._part.add(passage.passage_id, passage.doc_id, row)
        if self._part.size > PART_BYTES:
            self.flush()
        return number

    def remove(self, numbers: Sequence[int]) -> None:
        """Mark passages of the base as removed."""
        self._removed_now += numbers

    def flush(self) -> None:
        """Write the rows since the last part to disk."""
        if len(self._part):
            self._part.write(self._folder / part_name(self._next - len(self._part)))
            self._part = NewPart()

    def finish(self) -> None:
        """Write everything, and join small parts; in a build from empty all of them."""
        self.flush()
        self._folder.mkdir(exist_ok=True)
        removed = self.removed
        join_rows(self._folder, removed, every=self._is_new)
        write_removed(self._folder, removed)


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
