"""Encoding of a build's passages, with a spool that survives kills.

Encoded vectors are written to a spool next to the build (a SQLite file), one window of passages at a time,
under a hash of their text. A build that is killed or restarted reuses them. It is removed when its version is
published.
"""

import hashlib
import json
import shutil
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from base.progress import Progress
from base.windows import windows
from indexer.encoders import Encoder, Stored, VectorFingerprint
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable
from indexer.files.parts import Column
from indexer.files.schema import StoredPassage

WINDOW = 1_024  # passages encoded between two commits, sorted by length
KEY_BYTES = 16
FINGERPRINT = "fingerprint.json"  # dependencies of the vectors
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "int8": np.dtype("i1")}
Key = TypeVar("Key")


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
        self._dtype, about = DTYPES[fingerprint.storage], json.dumps(fingerprint.as_record())
        if not (folder / FINGERPRINT).exists() or (folder / FINGERPRINT).read_text("utf-8") != about:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / FINGERPRINT).write_text(about, encoding="utf-8")
        self._file = sqlite3.connect(folder / "vectors.sqlite")
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


def encode_missing(
    passages: Iterable[tuple[Key, StoredPassage]],
    spool: VectorSpool,
    encoder: Encoder | None,
    put: Callable[[Sequence[Key], Stored], None],
    progress: Progress,
    total: int,
) -> None:
    """Encode passages that are not in the spool, and store the vectors of all.

    Args:
        passages: each with its key; those without a text get no vector.
        spool: vectors encoded before.
        encoder: encoder of the passages; without one only those in the spool get a vector.
        put: stores the vectors of keys.
        progress: called with the number of passages.
        total: number of passages.

    Raises:
        EncoderUnusable: the encoder failed; earlier vectors remain in the spool.
    """
    done = 0
    progress("encoding", 0, total)
    texts = ((key, passage, text_to_encode(passage)) for key, passage in passages)
    for window in windows((item for item in texts if item[2]), WINDOW):
        hashes = [vector_key(text) for *_, text in window]
        vectors = spool.read(hashes)
        new = {hashed: item for hashed, item in zip(hashes, window, strict=True) if hashed not in vectors}
        if encoder and new:
            try:
                encoded = encoder.encode_passages(
                    [text for *_, text in new.values()],
                    lambda count, before=done: progress("encoding", before + count, total),  # type: ignore[misc]
                )
            except EncoderUnusable as error:
                *_, last = names = [passage.passage_id for _, passage, _ in new.values()]
                raise EncoderUnusable(
                    f"{error} (while {len(new):,} passages from {names[0]!r} to {last!r} were encoded). "
                    "The vectors encoded before are kept: fix the cause and repeat the command"
                ) from error
            added = dict(zip(new, to_storage(encoded, encoder.fingerprint.storage), strict=True))
            spool.add(added)
            vectors |= added
        known = [
            (key, vectors[hashed])
            for hashed, (key, *_) in zip(hashes, window, strict=True)
            if hashed in vectors
        ]
        if known:
            put([key for key, _ in known], np.stack([vector for _, vector in known]))
        done += len(window)
        progress("encoding", done, total)
