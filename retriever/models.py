"""The models that a question may need, opened when the first one does: an encoder and a cross-encoder."""

import asyncio
import time
import unicodedata
from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from indexer.encoders import Encoder, Reranker, VectorFingerprint, open_encoder, open_reranker
from indexer.encoders.rounding import Stored, rounded
from indexer.errors import IndexerError
from indexer.settings import EncoderSettings, RerankerSettings

REST_S = 20.0  # after a failure
REMEMBERED = 1_000  # questions, so that one asked again by another method is not encoded again


class QuestionVectors:
    """Gives a question a vector that is comparable with those of one index, or says why it has none."""

    def __init__(self, fingerprint: VectorFingerprint | None, settings: EncoderSettings | None) -> None:
        """Name what the index was encoded by, and what the settings name; nothing is opened yet."""
        self._fingerprint = fingerprint
        self._settings = settings
        self._encoder: Encoder | None = None
        self._known: OrderedDict[str, Stored] = OrderedDict()
        self._lock = Lock()  # the encoder is one, and its callers are many
        self._failure: IndexerError | None = None
        self._tried_again_from = 0.0
        self.off = self._why_off()

    def _why_off(self) -> str:
        """Say why questions get no vector; nothing where the index has none, or none is asked for."""
        if self._fingerprint and (self._settings is None or self._settings.provider == "none"):
            return (
                f"the index holds vectors of {self._fingerprint.model}, which are not used: no encoder is "
                "configured (SHRAG_ENCODER__PROVIDER)"
            )
        return ""

    @property
    def usable(self) -> bool:
        """Tell whether a question may get a vector."""
        return self._fingerprint is not None and not self.off

    async def of(self, question: str) -> Stored | None:
        """Return the question's vector, rounded as the index's are; None where it has none: `off` says why.

        Raises:
            LibraryMissing, EncoderUnusable: the encoder cannot be opened or fails.
        """
        if not self.usable:
            return None
        return await asyncio.to_thread(self._encoded, unicodedata.normalize("NFC", question))

    def close(self) -> None:
        """Let go of the encoder."""
        if self._encoder:
            self._encoder.close()

    def _encoded(self, question: str) -> Stored | None:
        with self._lock:
            if question in self._known:
                return self._known[question]
            if time.monotonic() < self._tried_again_from and self._failure:
                raise self._failure
            try:
                encoder = self._opened()
            except IndexerError as error:
                self._failed(error)
                raise
            if encoder is None or self._fingerprint is None:
                return None
            try:
                encoded = encoder.encode_queries([question])
            except IndexerError as error:
                self._failed(error)
                raise
            vector: Stored = rounded(encoded, self._fingerprint.storage)[0]
            self._known[question] = vector
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return vector

    def _failed(self, error: IndexerError) -> None:
        """Let the next questions be answered at once without an encoder that has just failed."""
        self._failure, self._tried_again_from = error, time.monotonic() + REST_S

    def _opened(self) -> Encoder | None:
        """Open the encoder once; None where it is another one than the index was encoded by."""
        if self._encoder is None and not self.off and self._settings and self._fingerprint:
            self._encoder = open_encoder(self._settings)
            if self._encoder and (changed := _differing(self._fingerprint, self._encoder.fingerprint)):
                self.off = (
                    f"the index's vectors are not used: the encoder is another one ({changed}); set "
                    "SHRAG_ENCODER__… back, or encode again (shrag index --vectors-only, or --rebuild in a "
                    "cluster)"
                )
                self._encoder.close()
                self._encoder = None  # not to be closed again with the index
        return None if self.off else self._encoder


class Rereader:
    """The cross-encoder of the settings, opened when the first question needs it."""

    def __init__(self, settings: RerankerSettings | None) -> None:
        """Name it; nothing is opened yet."""
        self._settings = settings
        self._reranker: Reranker | None = None
        self._lock = Lock()

    @property
    def configured(self) -> bool:
        """Tell whether there is one."""
        return self._settings is not None and self._settings.provider != "none"

    async def scores(self, question: str, texts: list[str]) -> tuple[str, list[float]]:
        """Return the model's name and one score a text, higher for a better one.

        Raises:
            LibraryMissing, EncoderUnusable: the model cannot be opened or fails.
        """
        return await asyncio.to_thread(self._scores, question, texts)

    def close(self) -> None:
        """Let go of the model."""
        if self._reranker:
            self._reranker.close()

    def _scores(self, question: str, texts: list[str]) -> tuple[str, list[float]]:
        with self._lock:
            if self._reranker is None and self._settings:
                self._reranker = open_reranker(self._settings)
            if self._reranker is None:
                return "", [0.0] * len(texts)
            return self._reranker.model, self._reranker.scores(question, texts).tolist()


def _differing(stored: VectorFingerprint, now: VectorFingerprint) -> str:
    """Say what keeps a question's vector from being comparable; how the numbers are kept does not."""
    one = stored.as_record()
    other = replace(now, storage=stored.storage).as_record()
    return ", ".join(
        f"{name}: {one[name]!r}, now {other[name]!r}" for name in one if one[name] != other[name]
    )
