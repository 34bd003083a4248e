"""The rows of a version in memory-mapped files, by the number of a passage.

The folder contains parts (`indexer/files/parts.py`), which cover all numbers from 0 on without a gap. No
number is used again.

| file of a part | content |
|---|---|
| rows | the rows of its passages, concatenated |
| row_lengths | words of each row |
| ids | the passage_ids, concatenated |
| id_lengths | bytes of each passage_id |
| doc_lengths | bytes of the doc_id at the start of each passage_id |

A removed passage has an empty row after its part was joined with others. Until then its number is in the file
`removed` beside the parts (64-bit integers, ascending).
"""

import shutil
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from base.files.durable import write_durably
from indexer.files.parts import (
    Column,
    first_small_part,
    kept_runs,
    map_numbers,
    part_name,
    parts_in,
    write_part,
)
from indexer.forward.rows import PassageRows, Places, Words

ROWS, ROW_LENGTHS, IDS, ID_LENGTHS, DOC_LENGTHS = "rows", "row_lengths", "ids", "id_lengths", "doc_lengths"
REMOVED = "removed"
LENGTHS = {ROWS: ROW_LENGTHS, IDS: ID_LENGTHS}  # the columns with the sizes of their pieces
WORD, ROW_LENGTH, NUMBER, LENGTH = (np.dtype(name) for name in ("<u2", "<u4", "<i8", "<u2"))
COLUMNS: Mapping[str, np.dtype[Any]] = {
    ROWS: WORD,
    ROW_LENGTHS: ROW_LENGTH,
    IDS: np.dtype("u1"),
    ID_LENGTHS: LENGTH,
    DOC_LENGTHS: LENGTH,
}


class Part:
    """A part, memory-mapped; several threads may read it."""

    def __init__(self, folder: Path) -> None:
        """Map the files.

        Raises:
            FileNotFoundError: one is missing.
            ValueError: their sizes do not match.
        """
        self.columns = {name: map_numbers(folder / name, dtype) for name, dtype in COLUMNS.items()}
        self.words: Words = self.columns[ROWS]
        self.ends: Places = np.cumsum(self.columns[ROW_LENGTHS], dtype=np.int64)
        self._ids, self._doc_lengths = self.columns[IDS].data, self.columns[DOC_LENGTHS].data
        id_ends = np.cumsum(self.columns[ID_LENGTHS], dtype=np.int64)
        self._id_ends = id_ends.data
        count = len(self.ends)
        if not len(id_ends) == len(self._doc_lengths) == count or (
            count and (self.ends[-1] != len(self.words) or id_ends[-1] != len(self._ids))
        ):
            raise ValueError(f"{folder.name} is damaged")

    def __len__(self) -> int:
        return len(self.ends)

    def names(self, place: int) -> tuple[str, str]:
        """Return passage_id and doc_id of the passage at a place."""
        start, end = self._id_ends[place - 1] if place else 0, self._id_ends[place]
        passage_id, length = str(self._ids[start:end], "utf-8"), self._doc_lengths[place]
        return passage_id, passage_id if length == end - start else str(
            self._ids[start : start + length], "utf-8"
        )

    def row(self, place: int) -> Words:
        """Return the row at a place."""
        return self.words[int(self.ends[place - 1]) if place else 0 : int(self.ends[place])]


class ForwardColumns:
    """The rows of a version, memory-mapped; several threads may read them."""

    def __init__(self, folder: Path) -> None:
        """Map the parts in a folder; raises as `Part`, and ValueError if a part is missing."""
        paths = parts_in(folder)
        self._parts = list(map(Part, paths))
        self._firsts, count = [], 0
        for path, part in zip(paths, self._parts, strict=True):
            if path.name != part_name(count):
                raise ValueError(f"the rows before {path.name} are missing")
            self._firsts.append(count)
            count += len(part)
        self._count = count

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
        found = [part.row(place) for part, place in map(self._at, numbers.tolist())]
        ends = np.cumsum([len(row) for row in found], dtype=np.int64)
        words = np.concatenate(found) if found else np.zeros(0, WORD)
        return PassageRows.of_words(words, np.append(0, ends[:-1]) if found else ends, ends)


class NewPart:
    """Rows of passages that are not on disk yet, in the order of their numbers."""

    def __init__(self) -> None:
        """Start without rows."""
        self.size = 0  # bytes of rows
        self._rows: list[bytes] = []
        self._ids: list[bytes] = []
        self._doc_lengths = array("H")

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, passage_id: str, doc_id: str, row: bytes) -> None:
        """Add a passage."""
        self._rows.append(row)
        self._ids.append(passage_id.encode())
        self._doc_lengths.append(len(doc_id.encode()))
        self.size += len(row)

    def write(self, folder: Path) -> None:
        """Write the rows into a new folder, which appears only when it is complete."""
        write_part(
            folder,
            {
                ROWS: self._rows,
                ROW_LENGTHS: [np.array([len(row) // WORD.itemsize for row in self._rows], ROW_LENGTH)],
                IDS: self._ids,
                ID_LENGTHS: [np.array([len(passage_id) for passage_id in self._ids], LENGTH)],
                DOC_LENGTHS: [np.array(self._doc_lengths, LENGTH)],
            },
        )


def join_rows(folder: Path, removed: Column, *, every: bool = False) -> None:
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


def read_removed(folder: Path) -> Column:
    """Return the numbers of removed passages, ascending: those in the file, and those with empty rows."""
    path = folder / REMOVED
    noted = np.fromfile(path, NUMBER) if path.exists() else np.zeros(0, NUMBER)
    return np.union1d(noted, _empty_rows(folder))


def write_removed(folder: Path, numbers: Column) -> None:
    """Write the numbers of removed passages whose rows are not empty yet."""
    left = np.setdiff1d(numbers, _empty_rows(folder)).astype(NUMBER)
    write_durably(folder / REMOVED, left.tobytes())


def _empty_rows(folder: Path) -> Column:
    lengths = [(int(path.name), map_numbers(path / ID_LENGTHS, LENGTH)) for path in parts_in(folder)]
    return np.concatenate(
        [np.zeros(0, NUMBER), *(first + np.flatnonzero(column == 0) for first, column in lengths)]
    )
