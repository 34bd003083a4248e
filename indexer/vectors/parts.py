"""The vectors of a version on disk, by the numbers of passages (`indexer/forward/columns.py`).

A part (`indexer/files/parts.py`) contains `numbers`, 64-bit integers in any order, and `vectors`, a row for
each: little-endian float32, or int8. Vectors of removed passages remain until their part is joined with
others.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from indexer.encoders import Stored, VectorFingerprint
from indexer.files.parts import (
    Column,
    first_small_part,
    kept_runs,
    map_numbers,
    part_name,
    parts_in,
    write_part,
)
from indexer.vectors.spool import DTYPES

NUMBERS, VECTORS = "numbers", "vectors"
NUMBER = np.dtype("<i8")
PART_BYTES = 32_000_000  # of vectors; more are written to disk


class VectorParts:
    """The vectors in a folder, memory-mapped; several threads may read them.

    A place is the position of a vector among all parts.
    """

    def __init__(self, folder: Path, fingerprint: VectorFingerprint, removed: Column) -> None:
        """Map the parts, whose sizes the manifest has, without the vectors of removed passages."""
        self.fingerprint = fingerprint
        self._dtype, self._dimensions = DTYPES[fingerprint.storage], fingerprint.dimensions
        paths = parts_in(folder)
        self._matrices = [_matrix(path, fingerprint) for path in paths]
        numbers = [map_numbers(path / NUMBERS, NUMBER) for path in paths]
        self._starts = np.cumsum([0, *map(len, self._matrices)])
        self.numbers: Column = np.concatenate([np.zeros(0, NUMBER), *numbers])
        self.is_removed: Column = np.isin(self.numbers, removed)
        self._order = np.argsort(self.numbers, kind="stable")
        self._ordered = self.numbers[self._order]

    def __len__(self) -> int:
        """Return the number of passages with a vector."""
        return len(self.numbers) - int(self.is_removed.sum())

    def places(self, numbers: Column) -> Column:
        """Return the place of each passage's vector, −1 without one."""
        if not len(self._ordered):
            return np.full(len(numbers), -1)
        found = np.minimum(np.searchsorted(self._ordered, numbers), len(self._ordered) - 1)
        places = self._order[found]
        return np.where((self._ordered[found] == numbers) & ~self.is_removed[places], places, -1)

    def vectors(self, places: Column) -> Stored:
        """Return the vectors at some places, in the storage type."""
        found = np.empty((len(places), self._dimensions), self._dtype)
        for start, matrix in zip(self._starts, self._matrices, strict=False):
            mine = (places >= start) & (places < start + len(matrix))
            found[mine] = matrix[places[mine] - start]
        return found

    def blocks(self, size: int) -> Iterator[Stored]:
        """Yield all vectors in order, at most `size` bytes at once."""
        step = max(1, size // (self._dimensions * self._dtype.itemsize))
        for matrix in self._matrices:
            for start in range(0, len(matrix), step):
                yield matrix[start : start + step]


class VectorWriter:
    """Adds vectors to the parts in a folder."""

    def __init__(self, folder: Path, fingerprint: VectorFingerprint) -> None:
        """Continue after the parts of the base version."""
        self._folder, self._fingerprint = folder, fingerprint
        self._next = sum(_size(path) for path in parts_in(folder))
        self._numbers: list[int] = []
        self._vectors: list[Stored] = []  # not on disk yet

    def put(self, numbers: Sequence[int], vectors: Stored) -> None:
        """Add the vectors of passages, in any order."""
        self._numbers += numbers
        self._vectors.append(vectors)
        if sum(some.nbytes for some in self._vectors) > PART_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._numbers:
            files = {
                NUMBERS: [np.array(self._numbers, NUMBER)],
                VECTORS: map(np.ascontiguousarray, self._vectors),
            }
            write_part(self._folder / part_name(self._next), files)
            self._next += len(self._numbers)
            self._numbers, self._vectors = [], []

    def finish(self, removed: Column) -> int:
        """Write everything, join small parts without removed passages; return the number of vectors."""
        self._flush()
        paths = parts_in(self._folder)
        if joined := paths[first_small_part(list(map(_size, paths))) :]:
            numbers = [np.fromfile(path / NUMBERS, NUMBER) for path in joined]
            kept = [~np.isin(column, removed) for column in numbers]
            vectors = (
                _matrix(path, self._fingerprint)[first:stop]
                for path, mask in zip(joined, kept, strict=True)
                for first, stop in kept_runs(mask)
            )
            left = [column[mask] for column, mask in zip(numbers, kept, strict=True)]
            write_part(joined[0], {NUMBERS: left, VECTORS: vectors})
            for path in joined[1:]:
                shutil.rmtree(path)
        return len(VectorParts(self._folder, self._fingerprint, removed))


def _size(path: Path) -> int:
    return (path / NUMBERS).stat().st_size // NUMBER.itemsize


def _matrix(path: Path, fingerprint: VectorFingerprint) -> Stored:
    values: Stored = map_numbers(path / VECTORS, DTYPES[fingerprint.storage])
    return values.reshape(-1, fingerprint.dimensions)
