"""Vectors as files: a matrix that is mapped into memory, and which passage each of its rows is of.

| in the folder | what |
|---|---|
| rows.bin | the matrix, a row a passage: little-endian float32, or int8 |
| passages.sqlite | of each row the passage, its paper, and a hash of the text that was encoded |
| fingerprint.json | what the vectors depend on |

Rows are appended and committed; what a killed process wrote behind its last commit is written over.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np

from base.errors import Remedy
from indexer.encoders import VectorFingerprint
from indexer.encoders.arrays import Stored
from indexer.errors import IndexDamaged
from indexer.files.damage import describing_damage
from indexer.files.sqlite_files import SQLiteFile

ROWS, PASSAGES, FINGERPRINT = "rows.bin", "passages.sqlite", "fingerprint.json"
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "int8": np.dtype("i1")}
SCHEMA = """
CREATE TABLE passages (
    row INTEGER PRIMARY KEY, passage_id TEXT NOT NULL UNIQUE, doc_id TEXT NOT NULL, text_hash BLOB NOT NULL
)
"""
ASKED_AT_ONCE = 500  # ids in one statement; SQLite allows a thousand variables at least


class Row(NamedTuple):
    """What is known of a row without its vector."""

    passage_id: str
    doc_id: str
    text_hash: bytes


class VectorStore:
    """A set of vectors in a folder; opened for reading, or by `writing` for adding to it."""

    def __init__(self, folder: Path, *, writable: bool = False) -> None:
        """Open what lies in `folder`.

        Raises:
            FileNotFoundError: there is none, or a file of it is missing.
            IndexDamaged: files cannot be read.
        """
        self.folder = folder
        self.fingerprint = _read_fingerprint(folder)
        self._dtype = DTYPES[self.fingerprint.storage]
        self._passages = SQLiteFile(folder / PASSAGES, "list of vectors", "passages", writable=writable)
        self._rows: BinaryIO | None = None
        try:
            [(self._end,)] = self._passages.select("SELECT coalesce(max(row) + 1, 0) FROM passages")
            if (folder / ROWS).stat().st_size < self._end * self._row_bytes:
                raise self._damaged("the matrix is shorter than the list of passages")
            if writable:
                self._rows = (folder / ROWS).open("r+b")
        except (IndexDamaged, OSError):
            self.close()
            raise

    @classmethod
    def writing(cls, folder: Path, fingerprint: VectorFingerprint) -> Self:
        """Open a folder for adding to it; what lies there of another fingerprint, or damaged, is removed."""
        try:
            if _read_fingerprint(folder) == fingerprint:
                return cls(folder, writable=True)
        except (FileNotFoundError, IndexDamaged):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / ROWS).touch()
        with sqlite3.connect(folder / PASSAGES) as connection:
            connection.execute(SCHEMA)
        connection.close()
        # Last: without it there is nothing here.
        (folder / FINGERPRINT).write_text(json.dumps(fingerprint.as_record()), encoding="utf-8")
        return cls(folder, writable=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; what was not committed is lost, and whoever asks is told by IndexClosed."""
        self._passages.close()
        if self._rows:
            self._rows.close()

    def __len__(self) -> int:
        """How many passages have a vector."""
        return int(self._passages.select("SELECT count(*) FROM passages")[0][0])

    @property
    def _row_bytes(self) -> int:
        return self.fingerprint.dimensions * self._dtype.itemsize

    def append(self, rows: Sequence[Row], vectors: Stored) -> None:
        """Add rows with their vectors, and commit: afterwards no kill loses them.

        A passage that has a vector gets the new one; its old row stays, and is nobody's.

        Raises:
            OSError: disk full; what was there before is still there.
        """
        if not self._rows:
            raise ValueError("the vectors were opened for reading")
        if vectors.shape != (len(rows), self.fingerprint.dimensions) or vectors.dtype != self._dtype:
            raise ValueError(f"{len(rows)} rows and a matrix of {vectors.dtype}, {vectors.shape}")
        try:
            self._rows.seek(self._end * self._row_bytes)
            self._rows.write(vectors.tobytes())
            self._rows.flush()
            os.fsync(self._rows.fileno())
            self._passages.add(
                "INSERT OR REPLACE INTO passages VALUES (?, ?, ?, ?)",
                ((self._end + offset, *row) for offset, row in enumerate(rows)),
            )
        except sqlite3.OperationalError as error:  # a full disk, as SQLite tells it
            raise OSError(str(error)) from error
        self._end += len(rows)

    def rows_of(self, passage_ids: Iterable[str]) -> dict[str, int]:
        """Return the row of each passage that has a vector."""
        return {row[1]: row[0] for row in self._where("passage_id", list(dict.fromkeys(passage_ids)))}

    def known(self, rows: Sequence[Row]) -> list[int | None]:
        """Return for each passage the row that holds its vector, None where it has none of this text."""
        held = self._where("passage_id", [row.passage_id for row in rows])
        found = {passage_id: (row, text_hash) for row, passage_id, _, text_hash in held}
        nothing = (None, b"")
        matches = [(found.get(row.passage_id, nothing), row.text_hash) for row in rows]
        return [row if text_hash == wanted else None for (row, text_hash), wanted in matches]

    def named(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Return (passage_id, doc_id) of each row."""
        found = {row: (passage_id, doc_id) for row, passage_id, doc_id, _ in self._where("row", rows)}
        return [found[row] for row in rows]

    def matrix(self) -> Stored:
        """Map all rows into memory: shape (rows, dimensions), of the type they are stored as."""
        shape = (self._end, self.fingerprint.dimensions)
        if not self._end:
            return np.empty(shape, self._dtype)
        return np.memmap(self.folder / ROWS, dtype=self._dtype, mode="r", shape=shape)

    def _where(self, column: str, values: Sequence[str] | Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """Yield what is known of the rows whose column has one of the values."""
        for start in range(0, len(values), ASKED_AT_ONCE):
            some = values[start : start + ASKED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self._passages.select(f"SELECT * FROM passages WHERE {column} IN ({marks})", *some)  # noqa: S608

    def _damaged(self, reason: str) -> IndexDamaged:
        cure = (Remedy.REBUILD, Remedy.ROLL_BACK)
        return IndexDamaged(f"the vectors in {self.folder} cannot be read ({reason})", remedy=cure)


def _read_fingerprint(folder: Path) -> VectorFingerprint:
    text = (folder / FINGERPRINT).read_text(encoding="utf-8")
    with describing_damage(folder / FINGERPRINT):
        fingerprint = VectorFingerprint(**json.loads(text))
        if fingerprint.storage not in DTYPES or fingerprint.dimensions < 1:
            raise ValueError("it names no vectors that can be stored")
        return fingerprint
