"""The vectors of a version on disk, by the numbers of passages (`indexer/forward/columns.py`).

A part (`indexer/files/parts.py`) contains `numbers`, 64-bit integers in any order, and `vectors`, a row for
each: little-endian float32, or int8. Vectors of removed passages remain until their part is joined with
others.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexer.encoders import Stored, VectorFingerprint
from indexer.files.parts import Column, kept_runs, map_numbers, part_name, parts_in, small_parts, write_part
from indexer.vectors.spool import DTYPES

NUMBERS, VECTORS = "numbers", "vectors"
NUMBER = np.dtype("<i8")


class VectorParts:
    """The vectors in a folder, memory-mapped; several threads may read them.

    A row is the place of a vector among those of all parts.
    """

    def __init__(self, folder: Path, fingerprint: VectorFingerprint, removed: Column) -> None:
        """Map the parts, without the vectors of removed passages.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: their sizes do not match.
        """
        self._dtype, self._dimensions = DTYPES[fingerprint.storage], fingerprint.dimensions
        parts = [
            (map_numbers(path / NUMBERS, NUMBER), _matrix(path, fingerprint)) for path in parts_in(folder)
        ]
        if any(len(numbers) != len(matrix) for numbers, matrix in parts):
            raise ValueError(f"{folder.name} is damaged")
        self._matrices = [matrix for _, matrix in parts]
        self._starts = np.cumsum([0, *map(len, self._matrices)])
        self.numbers: Column = np.concatenate([np.zeros(0, NUMBER), *(numbers for numbers, _ in parts)])
        self.is_removed: Column = np.isin(self.numbers, removed)
        self._order = np.argsort(self.numbers, kind="stable")
        self._ordered = self.numbers[self._order]

    def __len__(self) -> int:
        """Return the number of passages with a vector."""
        return len(self.numbers) - int(self.is_removed.sum())

    def rows(self, numbers: Column) -> Column:
        """Return the row of each passage, −1 without a vector."""
        if not len(self._ordered):
            return np.full(len(numbers), -1)
        places = np.minimum(np.searchsorted(self._ordered, numbers), len(self._ordered) - 1)
        rows = self._order[places]
        return np.where((self._ordered[places] == numbers) & ~self.is_removed[rows], rows, -1)

    def vectors(self, rows: Column) -> Stored:
        """Return the vectors of rows, in the storage type."""
        found = np.empty((len(rows), self._dimensions), self._dtype)
        part_of = np.searchsorted(self._starts, rows, side="right") - 1
        for part, matrix in enumerate(self._matrices):
            mine = part_of == part
            found[mine] = matrix[rows[mine] - self._starts[part]]
        return found

    def blocks(self, size: int) -> Iterator[Stored]:
        """Yield all vectors in the order of rows, at most `size` bytes at once."""
        step = max(1, size // (self._dimensions * self._dtype.itemsize))
        for matrix in self._matrices:
            for start in range(0, len(matrix), step):
                yield matrix[start : start + step]


class VectorWriter:
    """Adds vectors to the parts in a folder."""

    def __init__(self, folder: Path, fingerprint: VectorFingerprint) -> None:
        """Continue after the parts of the base version."""
        self._folder, self._fingerprint = folder, fingerprint
        self._next = sum(map_numbers(path / NUMBERS, NUMBER).size for path in parts_in(folder))

    def put(self, numbers: Sequence[int], vectors: Stored) -> None:
        """Write the vectors of passages, in any order."""
        files: dict[str, list[Any]] = {
            NUMBERS: [np.array(numbers, NUMBER)],
            VECTORS: [np.ascontiguousarray(vectors)],
        }
        write_part(self._folder / part_name(self._next), files)
        self._next += len(numbers)

    def finish(self, removed: Column) -> int:
        """Join small parts, without the vectors of removed passages; return the number of vectors."""
        paths = parts_in(self._folder)
        parts = [map_numbers(path / NUMBERS, NUMBER) for path in paths]
        place = small_parts(list(map(len, parts)))
        if joined := paths[place:]:
            kept = [~np.isin(numbers, removed) for numbers in parts[place:]]
            pieces = (
                matrix[first:stop]
                for matrix, mask in zip(
                    (_matrix(path, self._fingerprint) for path in joined), kept, strict=True
                )
                for first, stop in kept_runs(mask)
            )
            numbers = (one[mask] for one, mask in zip(parts[place:], kept, strict=True))
            files: dict[str, Iterable[Any]] = {NUMBERS: numbers, VECTORS: pieces}
            write_part(joined[0], files)
            for path in joined[1:]:
                shutil.rmtree(path)
        return len(VectorParts(self._folder, self._fingerprint, removed))


def _matrix(path: Path, fingerprint: VectorFingerprint) -> Stored:
    values: Stored = map_numbers(path / VECTORS, DTYPES[fingerprint.storage])
    return values.reshape(-1, fingerprint.dimensions)
