"""The rows of a version in memory-mapped files, by the number of a passage.

| file | content |
|---|---|
| rows | the rows of all passages, concatenated |
| row_lengths | words of each row |
| runs | the numbers of the passages (field `number` of the engine), ascending: first and count of each run |
| ids | the passage_ids, concatenated |
| id_lengths | bytes of each passage_id |
| doc_lengths | bytes of the doc_id at the start of each passage_id |

A build writes parts in this format, and joins them at its end.
"""

import os
import shutil
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from base.files.durable import sync
from indexer.forward.rows import PassageRows, Places, Words

ROWS, ROW_LENGTHS, RUNS = "rows", "row_lengths", "runs"
IDS, ID_LENGTHS, DOC_LENGTHS = "ids", "id_lengths", "doc_lengths"
Column: TypeAlias = NDArray[Any]
WORD, ROW_LENGTH, NUMBER, LENGTH = (np.dtype(name) for name in ("<u2", "<u4", "<i8", "<u2"))
COLUMNS: Mapping[str, np.dtype[Any]] = {
    ROWS: WORD,
    ROW_LENGTHS: ROW_LENGTH,
    RUNS: NUMBER,
    IDS: np.dtype("u1"),
    ID_LENGTHS: LENGTH,
    DOC_LENGTHS: LENGTH,
}


class ForwardColumns:
    """The rows of a version, or of a part of one, memory-mapped; several threads may read them."""

    def __init__(self, folder: Path) -> None:
        """Map the files.

        Raises:
            FileNotFoundError: one is missing.
            ValueError: their sizes do not match.
        """
        mapped = {name: _mapped(folder / name, dtype) for name, dtype in COLUMNS.items()}
        self._words: Words = mapped[ROWS]
        self._ids = mapped[IDS].data
        self._ends: Places = np.cumsum(mapped[ROW_LENGTHS], dtype=np.int64)
        id_ends = np.cumsum(mapped[ID_LENGTHS], dtype=np.int64)
        self._id_ends, self._doc_lengths = id_ends.data, mapped[DOC_LENGTHS].data
        if mapped[RUNS].size % 2:
            raise ValueError(f"{folder.name} is damaged")
        self._first, counts = mapped[RUNS].reshape(-1, 2).T
        self._run_ends: Places = np.cumsum(counts)  # places
        count = len(self._ends)
        if not (len(id_ends) == len(self._doc_lengths) == count == counts.sum()) or (
            count and (self._ends[-1] != len(self._words) or id_ends[-1] != len(self._ids))
        ):
            raise ValueError(f"{folder.name} is damaged")
        self._dense = not count or (self._first[0] == 0 and counts[0] == count)  # each number is a place

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def numbers(self) -> Places:
        """The number of each passage."""
        counts = np.diff(self._run_ends, prepend=0)
        return np.repeat(self._first - (self._run_ends - counts), counts) + np.arange(len(self))

    def places(self, numbers: Sequence[int]) -> list[int]:
        """Return the places of the passages of these numbers; ValueError if one is unknown."""
        if self._dense:
            places, known = list(numbers), not numbers or (min(numbers) >= 0 and max(numbers) < len(self))
        else:
            asked = np.array(numbers, np.int64)
            run = np.searchsorted(self._first, asked, side="right") - 1
            ends = np.append(self._first + np.diff(self._run_ends, prepend=0), 0)  # 0 without a run
            known = bool(((run >= 0) & (asked < ends[run])).all())
            places = (asked - ends[run] + np.append(self._run_ends, 0)[run]).tolist()
        if not known:
            raise ValueError("a passage of the index has no row")
        return places

    def names(self, place: int) -> tuple[str, str]:
        """Return passage_id and doc_id of the passage at a place."""
        start, end = self._id_ends[place - 1] if place else 0, self._id_ends[place]
        passage_id, length = str(self._ids[start:end], "utf-8"), self._doc_lengths[place]
        return passage_id, passage_id if length == end - start else str(
            self._ids[start : start + length], "utf-8"
        )

    def rows(self, places: Places) -> PassageRows:
        """Return the rows at these places."""
        ends = self._ends[places]
        starts = np.where(places > 0, self._ends[np.maximum(places - 1, 0)], 0)
        return PassageRows.of_words(self._words, starts, ends)

    def packed(self, place: int) -> bytes:
        """Return the row at a place as it was packed."""
        start = int(self._ends[place - 1]) if place else 0
        return self._words[start : int(self._ends[place])].tobytes()


class ForwardPart:
    """Rows of passages that are not on disk yet, in the order of their numbers."""

    def __init__(self) -> None:
        """Start without rows."""
        self.size = 0  # bytes of rows
        self._rows: list[bytes] = []
        self._ids: list[bytes] = []
        self._numbers, self._doc_lengths = array("q"), array("H")

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, passage_id: str, doc_id: str, row: bytes, number: int) -> None:
        """Add a passage; its number is higher than the previous one."""
        self._rows.append(row)
        self._ids.append(passage_id.encode())
        self._numbers.append(number)
        self._doc_lengths.append(len(doc_id.encode()))
        self.size += len(row)

    def write(self, folder: Path, **more: bytes) -> None:
        """Write the rows and the `more` files into a new folder, which appears only when it is complete."""
        writing = folder.with_name(f".{folder.name}")
        shutil.rmtree(writing, ignore_errors=True)
        writing.mkdir(parents=True)
        row_lengths = np.array([len(row) // WORD.itemsize for row in self._rows], ROW_LENGTH)
        id_lengths = np.array([len(passage_id) for passage_id in self._ids], LENGTH)
        columns: dict[str, Iterable[bytes]] = {
            ROWS: self._rows,
            ROW_LENGTHS: [row_lengths.tobytes()],
            RUNS: [_runs(np.array(self._numbers, NUMBER)).tobytes()],
            IDS: self._ids,
            ID_LENGTHS: [id_lengths.tobytes()],
            DOC_LENGTHS: [np.array(self._doc_lengths, LENGTH).tobytes()],
            **{name: [content] for name, content in more.items()},
        }
        for name, pieces in columns.items():
            with (writing / name).open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
        writing.rename(folder)
        sync(folder.parent)


def join_columns(sources: Sequence[Path], left_out: Collection[int], target: Path) -> None:
    """Write the rows of several folders into one, without the passages of some numbers.

    The numbers of each folder are higher than the numbers of the previous one.
    """
    target.mkdir()
    removed = np.array(sorted(left_out), NUMBER)
    joined: dict[str, list[Column]] = {name: [] for name in (ROW_LENGTHS, ID_LENGTHS, DOC_LENGTHS)}
    numbers: list[Places] = []
    with (target / ROWS).open("wb") as rows, (target / IDS).open("wb") as ids:
        for folder in sources:
            part = {name: _mapped(folder / name, dtype) for name, dtype in COLUMNS.items()}
            own = ForwardColumns(folder).numbers
            kept = ~np.isin(own, removed)
            _copy(part[ROWS], part[ROW_LENGTHS], kept, rows)
            _copy(part[IDS], part[ID_LENGTHS], kept, ids)
            numbers.append(own[kept])
            for name, columns in joined.items():
                columns.append(part[name][kept])
    for name, columns in joined.items():
        _joined(columns, COLUMNS[name]).tofile(target / name)
    _runs(_joined(numbers, NUMBER)).tofile(target / RUNS)


def _runs(numbers: Places) -> Column:
    """Return first and count of each run of ascending numbers."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    counts = np.diff(starts, append=len(numbers))
    return np.stack([numbers[starts], counts], axis=1).astype(NUMBER)


def _copy(data: Column, lengths: Column, kept: NDArray[np.bool_], file: BinaryIO) -> None:
    """Write the slices of `data` that are kept, adjacent ones in one call."""
    ends = np.cumsum(lengths, dtype=np.int64)
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False))
    for first, stop in edges.reshape(-1, 2):
        start = int(ends[first - 1]) if first else 0
        data[start : int(ends[stop - 1])].tofile(file)


def _joined(parts: Sequence[Column], dtype: np.dtype[Any]) -> Column:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def _mapped(path: Path, dtype: np.dtype[Any]) -> Column:
    """Map a file of numbers; return an empty array for an empty file, which cannot be mapped."""
    if path.stat().st_size == 0:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))
