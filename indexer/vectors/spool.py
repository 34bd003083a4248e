"""Encoding of a build's passages, with a spool that survives kills.

Encoded vectors are written to a spool next to the build, one window of passages at a time, under a hash of
their text. A build that is killed or restarted reuses them. It is removed when its version is published.

| file | content |
|---|---|
| vectors | the vectors, one after another: little-endian float32, or int8 |
| hashes | the hash of each vector's text; a vector counts when its hash is there |
| fingerprint.json | dependencies of the vectors |
"""

import hashlib
import json
import os
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from base.progress import Progress
from base.windows import windows
from indexer.encoders import Encoder, Stored, VectorFingerprint
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable
from indexer.files.schema import StoredPassage

WINDOW = 1_024  # passages encoded between two commits, sorted by length
KEY_BYTES = 16
DTYPES: dict[str, np.dtype[Any]] = {"float32": np.dtype("<f4"), "int8": np.dtype("i1")}
Key = TypeVar("Key")


def text_to_encode(passage: StoredPassage) -> str:
    """Return the text to encode: title and text, composed (NFC); empty if there is neither."""
    return unicodedata.normalize("NFC", f"{passage.title}\n{passage.text}".strip())


def vector_key(text: str) -> bytes:
    """Return the key of a text's vector, a hash."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()


class VectorSpool:
    """Vectors by the hash of their text, in a folder."""

    def __init__(self, folder: Path, fingerprint: VectorFingerprint) -> None:
        """Open the folder, or create it; vectors of another fingerprint are removed."""
        self._vectors, self._hashes = folder / "vectors", folder / "hashes"
        about = folder / "fingerprint.json"
        self._shape, self._dtype = (-1, fingerprint.dimensions), DTYPES[fingerprint.storage]
        record = json.dumps(fingerprint.as_record())
        if not about.exists() or about.read_text(encoding="utf-8") != record:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._vectors.touch()
            self._hashes.touch()
            about.write_text(record, encoding="utf-8")
        held = self._hashes.read_bytes()
        size = fingerprint.dimensions * self._dtype.itemsize
        count = min(len(held) // KEY_BYTES, self._vectors.stat().st_size // size)
        os.truncate(self._vectors, count * size)  # a killed process may have written more
        os.truncate(self._hashes, count * KEY_BYTES)
        self._count = count  # of vectors in the file
        self._rows = {held[row * KEY_BYTES : (row + 1) * KEY_BYTES]: row for row in range(count)}

    def has(self, key: bytes) -> bool:
        """Check whether there is a vector."""
        return key in self._rows

    def append(self, hashes: Sequence[bytes], vectors: Stored) -> None:
        """Add vectors; they are on disk afterwards."""
        for path, content in ((self._vectors, vectors.tobytes()), (self._hashes, b"".join(hashes))):
            with path.open("ab") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        self._rows |= {hashed: self._count + place for place, hashed in enumerate(hashes)}
        self._count += len(hashes)

    def read(self, hashes: Sequence[bytes]) -> Stored:
        """Return the vectors of hashes, a row each."""
        matrix = np.memmap(self._vectors, self._dtype, "r").reshape(self._shape)
        return np.asarray(matrix[[self._rows[wanted] for wanted in hashes]])


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
        missing = {hashed: place for place, hashed in enumerate(hashes) if not spool.has(hashed)}
        if encoder and missing:
            new = sorted(missing.values())
            before = done
            try:
                vectors = encoder.encode_passages(
                    [window[place][2] for place in new],
                    lambda count, before=before: progress("encoding", before + count, total),  # type: ignore[misc]
                )
            except EncoderUnusable as error:
                first, last = (window[new[place]][1].passage_id for place in (0, -1))
                raise EncoderUnusable(
                    f"{error} (while {len(new):,} passages from {first!r} to {last!r} were encoded). "
                    "The vectors encoded before are kept: fix the cause and repeat the command"
                ) from error
            spool.append([hashes[place] for place in new], to_storage(vectors, encoder.fingerprint.storage))
        if known := [place for place, hashed in enumerate(hashes) if spool.has(hashed)]:
            put([window[place][0] for place in known], spool.read([hashes[place] for place in known]))
        done += len(window)
        progress("encoding", done, total)
