"""The forward index during a build: rows in parts, after those of the base version."""

import shutil
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from base.files.durable import write_durably
from indexer.analysis.analysed import AnalysedPassage
from indexer.files.parts import (
    Column,
    first_small_part,
    kept_runs,
    map_numbers,
    part_name,
    parts_in,
    write_part,
)
from indexer.files.schema import StoredPassage
from indexer.forward.columns import (
    COLUMNS,
    DOC_LENGTHS,
    ID_LENGTHS,
    IDS,
    LENGTH,
    NUMBER,
    REMOVED,
    ROW_LENGTH,
    ROW_LENGTHS,
    ROWS,
    WORD,
    Part,
    empty_rows,
    read_removed,
)
from indexer.forward.lexicon import LexiconBuilder
from indexer.forward.rows import RowTokens, pack_row

PART_BYTES = 32_000_000  # of rows; a larger part is written to disk
LENGTHS = {ROWS: ROW_LENGTHS, IDS: ID_LENGTHS}  # the columns with the sizes of their pieces


class RowWriter:
    """Adds rows to the parts of the base version in a folder."""

    def __init__(self, folder: Path) -> None:
        """Continue the numbers of the base; FileNotFoundError if a file is missing."""
        self._folder, self._next = folder, sum(len(Part(path)) for path in parts_in(folder))
        self._is_new = not self._next
        self._removed, self._removed_now = read_removed(folder), list[int]()
        self._start_part()

    def _start_part(self) -> None:
        self._rows: list[bytes] = []
        self._ids: list[bytes] = []
        self._doc_lengths, self._size = array("H"), 0  # bytes of rows

    @property
    def removed(self) -> Column:
        """The numbers of removed passages, ascending."""
        return np.union1d(self._removed, np.array(self._removed_now, np.int64))

    def add(self, passage: StoredPassage, row: bytes) -> int:
        """Add a row, and return the number of its passage."""
        self._rows.append(row)
        self._ids.append(passage.passage_id.encode())
        self._doc_lengths.append(len(passage.doc_id.encode()))
        self._size += len(row)
        self._next += 1
        if self._size > PART_BYTES:
            self.flush()
        return self._next - 1

    def remove(self, numbers: Sequence[int]) -> None:
        """Mark passages of the base as removed."""
        self._removed_now += numbers

    def flush(self) -> None:
        """Write the rows since the last part into a new one."""
        if self._rows:
            row_lengths = np.array([len(row) // WORD.itemsize for row in self._rows], ROW_LENGTH)
            files: dict[str, Iterable[Any]] = {
                ROWS: self._rows,
                ROW_LENGTHS: [row_lengths],
                IDS: self._ids,
                ID_LENGTHS: [np.array([len(passage_id) for passage_id in self._ids], LENGTH)],
                DOC_LENGTHS: [np.array(self._doc_lengths, LENGTH)],
            }
            write_part(self._folder / part_name(self._next - len(self._rows)), files)
            self._start_part()

    def finish(self) -> None:
        """Write everything, and join small parts; in a build from empty all of them."""
        self.flush()
        self._folder.mkdir(exist_ok=True)
        removed = self.removed
        _join_parts(self._folder, removed, every=self._is_new)
        left = np.setdiff1d(removed, empty_rows(self._folder)).astype(NUMBER)
        write_durably(self._folder / REMOVED, left.tobytes())


def _join_parts(folder: Path, removed: Column, *, every: bool) -> None:
    """Join the small parts in a folder, or every part, with empty rows for removed passages."""
    paths = parts_in(folder)
    sizes = [(path / ID_LENGTHS).stat().st_size // LENGTH.itemsize for path in paths]
    place = 0 if every else first_small_part(sizes)
    if len(joined := paths[place:]) < 2:  # noqa: PLR2004
        return
    edges = np.cumsum([int(joined[0].name), *sizes[place:]])
    masks = [~np.isin(np.arange(start, end), removed) for start, end in pairwise(edges)]
    write_part(joined[0], {name: _kept(joined, masks, name) for name in COLUMNS})
    for path in joined[1:]:
        shutil.rmtree(path)


def _kept(paths: Sequence[Path], masks: Sequence[NDArray[np.bool_]], name: str) -> Iterator[Column]:
    """Yield a column of several parts; a passage that is not kept has length 0."""
    for path, mask in zip(paths, masks, strict=True):
        column = map_numbers(path / name, COLUMNS[name])
        if name not in LENGTHS:
            yield np.where(mask, column, 0).astype(COLUMNS[name])
            continue
        ends = np.cumsum(map_numbers(path / LENGTHS[name], COLUMNS[LENGTHS[name]]), dtype=np.int64)
        for first, stop in kept_runs(mask):
            yield column[int(ends[first - 1]) if first else 0 : int(ends[stop - 1])]


def packed_row(passage: StoredPassage, analysed: AnalysedPassage, lexicon: LexiconBuilder) -> bytes:
    """Pack the row of a passage, numbering its new terms in the lexicon."""
    tokens = analysed.tokens
    title = lexicon.numbers(tokens.title.words())
    named = sum(number > 0 for number in title)
    whole = passage.title.rstrip()
    if whole.endswith(")") and (bracket := whole.rfind("(")) > 0:  # as in "Mercury (planet)"
        named = sum(end <= bracket for *_, end in tokens.title.tokens())
    body, other = lexicon.numbers(tokens.text.words()), lexicon.numbers(tokens.title2.words())
    return pack_row(passage, RowTokens(body, other, title, analysed.names, named))
