"""Vectors of passages from sources: encoded for a question (SHRAG, eq. 4), and cached for later ones."""

import asyncio
from collections.abc import Mapping, Sequence
from threading import Lock

from base.errors import ResourceError
from base.untrusted import one_line
from indexer.encoders import Encoder, Progress, VectorFingerprint, open_encoder
from indexer.encoders.arrays import Stored, Vectors
from indexer.encoders.rounding import rounded
from indexer.files.schema import StoredPassage
from indexer.settings import EncoderSettings
from indexer.vectors.adding import row_of, text_to_encode
from retriever.opening.question_vectors import QuestionVectors
from retriever.sources.cache import VectorCache


class PassageVectors:
    """One encoder for the passages of sources and for questions."""

    def __init__(self, encoder: Encoder, settings: EncoderSettings) -> None:
        """Take an open encoder, which `questions` closes."""
        self._encoder = _OneAtATime(encoder)
        self.fingerprint: VectorFingerprint = encoder.fingerprint
        self.questions: QuestionVectors = _OpenedVectors(self._encoder, settings)
        self._cache = VectorCache(self.fingerprint)

    @classmethod
    async def open(cls, settings: EncoderSettings) -> "PassageVectors | None":
        """Open the encoder of the settings, or return None if there is none; raises as `open_encoder`."""
        encoder = await asyncio.to_thread(open_encoder, settings)
        return cls(encoder, settings) if encoder else None

    def of(self, passages: Sequence[StoredPassage]) -> tuple[Mapping[bytes, Stored], str]:
        """Return vectors by the hash of the passage's text, and the reason if some are missing, else ""."""
        texts = {row_of(passage).text_hash: text for passage in passages if (text := text_to_encode(passage))}
        known = self._cache.known(list(texts))
        missing = [text_hash for text_hash in texts if text_hash not in known]
        if not missing:
            return known, ""
        try:
            encoded = self._encoder.encode_passages([texts[text_hash] for text_hash in missing])
        except ResourceError as error:
            return known, f"passages were not encoded: {one_line(str(error))}"
        new = dict(zip(missing, rounded(encoded, self.fingerprint.storage), strict=True))
        self._cache.keep(new)
        return known | new, ""


class _OneAtATime(Encoder):
    """An encoder for calls from different threads."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._lock = encoder, Lock()
        self.fingerprint = encoder.fingerprint

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per question."""
        with self._lock:
            return self._encoder.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return one unit vector per passage."""
        with self._lock:
            return self._encoder.encode_passages(texts, progress)

    def close(self) -> None:
        """Close the model or the connection."""
        self._encoder.close()


class _OpenedVectors(QuestionVectors):
    """Question vectors from an open encoder."""

    def __init__(self, encoder: Encoder, settings: EncoderSettings) -> None:
        super().__init__(encoder.fingerprint, settings)
        self._opened = encoder

    def _open(self) -> Encoder:
        return self._opened
