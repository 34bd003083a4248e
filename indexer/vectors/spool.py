"""The spool of a build's vectors, which survives kills: a SQLite file next to the build.

It has the vectors by a hash of their text. A build that is killed reuses them. It is removed when its version
is published.
"""

import hashlib
import json
import shutil
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from indexer.encoders import Stored, VectorFingerprint
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage

KEY_BYTES = 16
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "int8": np.dtype("i1")}


def text_to_encode(passage: StoredPassage) -> str:
    """Return the text to encode: title and text, composed (NFC); empty if there is neither."""
    return unicodedata.normalize("NFC", f"{passage.title}\n{passage.text}".strip())


def vector_key(text: str) -> bytes:
    """Return the key of a text's vector, a hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


class VectorSpool:
    """Vectors by the hash of their text, in a file of a folder; a context manager that closes it."""

    def __init__(self, folder: Path, fingerprint: VectorFingerprint) -> None:
        """Open the folder, or create it; vectors of another fingerprint are removed."""
        self._dtype = DTYPES[fingerprint.storage]
        path = folder / f"{vector_key(json.dumps(fingerprint.as_record())).hex()}.sqlite"
        if not path.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self._file = sqlite3.connect(path)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB)")

    def __enter__(self) -> Self:
        """Return the spool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def add(self, vectors: Mapping[bytes, Stored]) -> None:
        """Add vectors by hash; they are on disk afterwards."""
        rows = ((hashed, vector.tobytes()) for hashed, vector in vectors.items())
        with self._file:
            self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    def read(self, hashes: Sequence[bytes]) -> dict[bytes, Column]:
        """Return the vectors of the hashes that have one; at most 32,766 hashes."""
        statement = f"SELECT * FROM vectors WHERE hash IN ({', '.join('?' * len(hashes))})"  # noqa: S608 - no values
        return {
            hashed: np.frombuffer(vector, self._dtype)
            for hashed, vector in self._file.execute(statement, hashes)
        }
