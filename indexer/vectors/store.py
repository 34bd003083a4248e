"""Vector files: a memory-mapped matrix, and the passage of each row.

| file | content |
|---|---|
| rows.bin | the matrix, one row per passage: little-endian float32, or int8 |
| passages.sqlite | passage, paper and hash of the encoded text of each row |
| fingerprint.json | dependencies of the vectors |

Rows are appended and committed; rows after the last commit of a killed process are overwritten.
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
from indexer.encoders import Stored, VectorFingerprint
from indexer.errors import IndexDamaged
from indexer.files.damage import map_damage_errors
from indexer.files.sqlite_files import SQLiteFile

ROWS, PASSAGES, FINGERPRINT = "rows.bin", "passages.sqlite", "fingerprint.json"
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "int8": np.dtype("i1")}
SCHEMA = """
CREATE TABLE passages (
    row INTEGER PRIMARY KEY, passage_id TEXT NOT NULL UNIQUE, doc_id TEXT NOT NULL, text_hash BLOB NOT NULL
)
"""
VALUES_PER_QUERY = 500  # ids per statement; SQLite allows at least a thousand variables


class Row(NamedTuple):
    """The metadata of a row."""

    passage_id: str
    doc_id: str
    text_hash: bytes


class VectorStore:
    """A set of vectors in a folder; opened for reading, or by `writing` for adding to it."""

    def __init__(self, folder: Path, *, writable: bool = False) -> None:
        """Open the vectors in `folder`.

        Raises:
            FileNotFoundError: a file or the folder is missing.
            IndexDamaged: files are unreadable.
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
        """Open a folder for adding rows; vectors of another fingerprint, or damaged ones, are removed."""
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
        # Written last: without this file the folder counts as empty.
        (folder / FINGERPRINT).write_text(json.dumps(fingerprint.as_record()), encoding="utf-8")
        return cls(folder, writable=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; uncommitted rows are lost, and later calls raise IndexClosed."""
        self._passages.close()
        if self._rows:
            self._rows.close()

    def __len__(self) -> int:
        """Return the number of passages with a vector."""
        return int(self._passages.select("SELECT count(*) FROM passages")[0][0])

    @property
    def _row_bytes(self) -> int:
        return self.fingerprint.dimensions * self._dtype.itemsize

    def append(self, rows: Sequence[Row], vectors: Stored) -> None:
        """Add rows with their vectors, and commit them.

        An existing vector of a passage is replaced; its old row remains unused.

        Raises:
            OSError: disk full; earlier rows are intact.
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
        except sqlite3.OperationalError as error:  # SQLite's error for a full disk
            raise OSError(str(error)) from error
        self._end += len(rows)

    def rows_of(self, passage_ids: Iterable[str]) -> dict[str, int]:
        """Return the row of each passage that has a vector."""
        return {row[1]: row[0] for row in self._where("passage_id", list(dict.fromkeys(passage_ids)))}

    def known(self, rows: Sequence[Row]) -> list[int | None]:
        """Return the row of each passage's vector, None if it has none for this text."""
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
        """Map all rows into memory: shape (rows, dimensions), in the storage type."""
        shape = (self._end, self.fingerprint.dimensions)
        if not self._end:
            return np.empty(shape, self._dtype)
        return np.memmap(self.folder / ROWS, dtype=self._dtype, mode="r", shape=shape)

    def _where(self, column: str, values: Sequence[str] | Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """Yield the metadata of rows by the values of a column."""
        for start in range(0, len(values), VALUES_PER_QUERY):
            some = values[start : start + VALUES_PER_QUERY]
            marks = ", ".join("?" * len(some))
            yield from self._passages.select(f"SELECT * FROM passages WHERE {column} IN ({marks})", *some)  # noqa: S608

    def _damaged(self, reason: str) -> IndexDamaged:
        cure = (Remedy.REBUILD, Remedy.ROLL_BACK)
        return IndexDamaged(f"the vectors in {self.folder} cannot be read ({reason})", remedy=cure)


def _read_fingerprint(folder: Path) -> VectorFingerprint:
    text = (folder / FINGERPRINT).read_text(encoding="utf-8")
    with map_damage_errors(folder / FINGERPRINT):
        fingerprint = VectorFingerprint(**json.loads(text))
        if fingerprint.storage not in DTYPES or fingerprint.dimensions < 1:
            raise ValueError("it names an unknown vector format")
        return fingerprint
