"""Models of indexes over sources.

Passages are encoded for a question (SHRAG, eq. 4), and their vectors are cached for later ones.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from base.errors import ResourceError
from base.untrusted import one_line
from indexer.encoders import Encoder, Stored, VectorFingerprint
from indexer.encoders.rounding import to_storage
from indexer.files.schema import StoredPassage
from indexer.settings import IndexerSettings
from indexer.vectors.spool import text_to_encode, vector_key
from retriever.opening.models import Models, QuestionVectors, TextEncoder
from retriever.sources.cache import VectorCache


class PassageVectors:
    """Vectors of the passages of sources, comparable with question vectors."""

    def __init__(
        self, fingerprint: VectorFingerprint, encoder: TextEncoder, questions: QuestionVectors
    ) -> None:
        """Take the encoder, which the caller closes, its fingerprint, and the vectors of questions."""
        self.fingerprint, self.questions = fingerprint, questions
        self._encoder = encoder
        self._cache = VectorCache(fingerprint)

    async def of(self, passages: Sequence[StoredPassage]) -> tuple[Mapping[bytes, Stored], str]:
        """Return vectors by the hash of the passage's text, and the reason if some are missing, else ""."""
        known, missing = await asyncio.to_thread(self._known, passages)
        if not missing:
            return known, ""

        def encode(encoder: Encoder) -> tuple[dict[bytes, Stored], str]:
            try:
                encoded = encoder.encode_passages(list(missing.values()))
            except ResourceError as error:  # questions can still be encoded
                return {}, _not_encoded(error)
            new = dict(zip(missing, to_storage(encoded, self.fingerprint.storage), strict=True))
            self._cache.keep(new)
            return new, ""

        try:
            new, failure = await self._encoder.run(encode) or ({}, "")
        except ResourceError as error:
            new, failure = {}, _not_encoded(error)
        return known | new, failure

    def _known(self, passages: Sequence[StoredPassage]) -> tuple[dict[bytes, Stored], dict[bytes, str]]:
        """Return the cached vectors, and the texts without one, by the hash of the text."""
        texts = {vector_key(text): text for passage in passages if (text := text_to_encode(passage))}
        known = self._cache.known(list(texts))
        return known, {vector_key: text for vector_key, text in texts.items() if vector_key not in known}


def _not_encoded(error: ResourceError) -> str:
    return f"passages were not encoded: {one_line(str(error))}"


class SharedModels(Models):
    """Resources shared by indexes over sources: the models of the settings, and synonyms."""

    def __init__(self, settings: IndexerSettings, synonyms: Path | None = None) -> None:
        """Take the settings; nothing is opened yet."""
        super().__init__(settings)
        self.synonyms = synonyms
        self._passages: PassageVectors | None = None

    async def passages(self) -> tuple[PassageVectors | None, str]:
        """Return the vectors of passages, and the reason if a configured encoder cannot be used."""
        if self._passages is None and self.encoder.configured:
            try:
                fingerprint = await self.encoder.run(lambda encoder: encoder.fingerprint)
            except ResourceError as error:
                return None, f"passages get no vectors: {one_line(str(error))}"
            if fingerprint:
                self._passages = PassageVectors(fingerprint, self.encoder, self.vectors(fingerprint))
        return self._passages, ""
