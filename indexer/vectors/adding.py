"""Encoding of a build's passages, with a spool that survives kills.

Encoded vectors are committed to a spool next to the build, one window of passages at a time, under the
passage's id and a hash of its text. A build that is killed or restarted reuses them. The spool is removed
when the version is published.
"""

import hashlib
import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from base.progress import Progress
from base.windows import windows
from indexer.encoders import Encoder, Stored
from indexer.encoders.rounding import to_storage
from indexer.errors import EncoderUnusable
from indexer.files.schema import StoredPassage
from indexer.vectors.store import Row, VectorStore

WINDOW = 1_024  # passages encoded between two commits, sorted by length
ROWS_PER_COPY = 4_096


def text_to_encode(passage: StoredPassage) -> str:
    """Return the text to encode: title and text, composed (NFC); empty if there is neither."""
    return unicodedata.normalize("NFC", f"{passage.title}\n{passage.text}".strip())


def row_of(passage: StoredPassage) -> Row:
    """Return the row of a passage."""
    return _row(passage, text_to_encode(passage))


def _row(passage: StoredPassage, text: str) -> Row:
    encoded = text.encode("utf-8", "surrogatepass")
    return Row(passage.passage_id, passage.doc_id, hashlib.blake2b(encoded, digest_size=16).digest())


def encode_missing(
    passages: Iterable[StoredPassage],
    spool: VectorStore,
    encoder: Encoder,
    known: Sequence[VectorStore],
    progress: Progress,
    total: int,
) -> int:
    """Encode the passages missing in the spool and in `known` into the spool; return their number.

    Raises:
        EncoderUnusable: the encoder failed; earlier vectors remain in the spool.
    """
    encoded = done = 0
    progress("encoding", 0, total)
    texts = ((passage, text_to_encode(passage)) for passage in passages)
    for window in windows(((_row(passage, text), text) for passage, text in texts if text), WINDOW):
        rows = [row for row, _ in window]
        missing = _missing_rows(rows, [spool, *known])
        if missing:
            before = done
            try:
                vectors = encoder.encode_passages(
                    [window[place][1] for place in missing],
                    lambda count, before=before: progress("encoding", before + count, total),  # type: ignore[misc]
                )
            except EncoderUnusable as error:
                first, last = (rows[missing[place]].passage_id for place in (0, -1))
                raise EncoderUnusable(
                    f"{error} (while {len(missing):,} passages from {first!r} to {last!r} were encoded). "
                    "The vectors encoded before are kept: fix the cause and repeat the command"
                ) from error
            spool.append([rows[place] for place in missing], to_storage(vectors, spool.fingerprint.storage))
            encoded += len(missing)
        done += len(window)
        progress("encoding", done, total)
    return encoded


def copy_rows(passages: Iterable[StoredPassage], sources: Sequence[VectorStore], target: Path) -> int:
    """Write a new set of vectors in passage order, each from the first source that has it.

    Return the number of passages with a vector.
    """
    shutil.rmtree(target, ignore_errors=True)  # left by a killed build
    matrices = [source.matrix() for source in sources]
    with VectorStore.writing(target, sources[0].fingerprint) as copied:
        for rows in windows(map(row_of, passages), ROWS_PER_COPY):
            places = list(zip(*(source.known(rows) for source in sources), strict=True))
            held = [number for number, found in enumerate(places) if any(one is not None for one in found)]
            copied.append(
                [rows[number] for number in held], _gathered(matrices, [places[one] for one in held])
            )
        return len(copied)


def _gathered(matrices: Sequence[Stored], places: Sequence[tuple[int | None, ...]]) -> Stored:
    """Return a row for each place, from the first matrix that has it."""
    gathered = np.empty((len(places), matrices[0].shape[1]), matrices[0].dtype)
    left = list(range(len(places)))
    for source, matrix in enumerate(matrices):
        held = {number: row for number in left if (row := places[number][source]) is not None}
        gathered[list(held)] = matrix[list(held.values())]
        left = [number for number in left if number not in held]
    return gathered


def _missing_rows(rows: Sequence[Row], stores: Sequence[VectorStore]) -> list[int]:
    left = list(range(len(rows)))
    for store in stores:
        found = store.known([rows[place] for place in left])
        left = [place for place, row in zip(left, found, strict=True) if row is None]
    return left
