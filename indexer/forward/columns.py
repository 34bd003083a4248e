"""The rows of a version in memory-mapped files, by the number of a passage.

The folder contains parts (`indexer/files/parts.py`), which cover all numbers from 0 on without a gap. No
number is used again.

| file of a part | content |
|---|---|
| rows | the rows of its passages, concatenated |
| ids | the passage_ids, concatenated |
| sizes | of each passage: words of its row, bytes of its passage_id, and of the doc_id at the start of that |

A removed passage has an empty row after its part was joined with others. Until then its number is in the file
`removed` beside the parts (64-bit integers, ascending).
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from indexer.files.parts import Column, map_numbers, parts_in
from indexer.forward.rows import PassageRows, Places, Words

ROWS, IDS, SIZES, REMOVED = "rows", "ids", "sizes", "removed"
WORD, NUMBER = np.dtype("<u2"), np.dtype("<i8")
SIZE = np.dtype([(ROWS, "<u4"), (IDS, "<u2"), ("doc", "<u2")])
COLUMNS: Mapping[str, np.dtype[Any]] = {ROWS: WORD, IDS: np.dtype("u1"), SIZES: SIZE}


class Part:
    """A part, memory-mapped; several threads may read it."""

    def __init__(self, folder: Path) -> None:
        """Map the files, whose sizes the manifest has; FileNotFoundError if one is missing."""
        columns = {name: map_numbers(folder / name, dtype) for name, dtype in COLUMNS.items()}
        self.words: Words = columns[ROWS]
        self.ends: Places = np.cumsum(columns[SIZES][ROWS], dtype=np.int64)
        self._ids, self._doc_lengths = columns[IDS].data, columns[SIZES]["doc"].copy().data
        self._id_ends = np.cumsum(columns[SIZES][IDS], dtype=np.int64).data

    def __len__(self) -> int:
        return len(self.ends)

    def names(self, place: int) -> tuple[str, str]:
        """Return passage_id and doc_id of the passage at a place."""
        start, end = self._id_ends[place - 1] if place else 0, self._id_ends[place]
        passage_id, length = str(self._ids[start:end], "utf-8"), self._doc_lengths[place]
        is_whole = length == end - start
        return passage_id, passage_id if is_whole else str(self._ids[start : start + length], "utf-8")

    def row(self, place: int) -> Words:
        """Return the row at a place."""
        return self.words[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])]


class ForwardColumns:
    """The rows of a version, memory-mapped; several threads may read them."""

    def __init__(self, folder: Path) -> None:
        """Map the parts in a folder; raises as `Part`."""
        self._parts = list(map(Part, parts_in(folder)))
        *self._firsts, self._count = accumulate(map(len, self._parts), initial=0)

    def __len__(self) -> int:
        """Return the number after the highest one."""
        return self._count

    def _at(self, number: int) -> tuple[Part, int]:
        """Return the part of a number, and its place there; ValueError for an unknown number."""
        if not 0 <= number < self._count:
            raise ValueError("a passage of the index has no row")
        part = bisect_right(self._firsts, number) - 1
        return self._parts[part], number - self._firsts[part]

    def names(self, number: int) -> tuple[str, str]:
        """Return passage_id and doc_id of a passage."""
        part, place = self._at(number)
        return part.names(place)

    def packed(self, number: int) -> bytes:
        """Return a row as it was packed."""
        part, place = self._at(number)
        return part.row(place).tobytes()

    def rows(self, numbers: Places) -> PassageRows:
        """Return the rows of these numbers."""
        if len(self._parts) == 1:
            ends = self._parts[0].ends
            starts = np.where(numbers > 0, ends[np.maximum(numbers - 1, 0)], 0)
            return PassageRows.of_words(self._parts[0].words, starts, ends[numbers])
        return PassageRows.of([self.packed(number) for number in numbers.tolist()])


def read_removed(folder: Path) -> Column:
    """Return the numbers of removed passages, ascending: those in the file, and those with empty rows."""
    path = folder / REMOVED
    noted = np.fromfile(path, NUMBER) if path.exists() else np.zeros(0, NUMBER)
    return np.union1d(noted, empty_rows(folder))


def empty_rows(folder: Path) -> Column:
    """Return the numbers of passages with empty rows."""
    sizes = [(int(path.name), map_numbers(path / SIZES, SIZE)) for path in parts_in(folder)]
    empty = (first + np.flatnonzero(column[IDS] == 0) for first, column in sizes)
    return np.concatenate([np.zeros(0, NUMBER), *empty])
