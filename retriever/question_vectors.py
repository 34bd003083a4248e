"""The question's vector: the encoder of the settings, opened when the first question needs it."""

import time
import unicodedata
from collections import OrderedDict
from dataclasses import replace

from indexer.encoders import Encoder, VectorFingerprint, open_encoder
from indexer.encoders.arrays import Stored
from indexer.errors import IndexerError
from indexer.settings import EncoderSettings
from retriever.worker_threads import WorkerThreads

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
        # One thread for the one encoder; its callers wait for it.
        self._threads = WorkerThreads("question-encoder", 1)
        self._failure: IndexerError | None = None
        self._tried_again_from = 0.0
        self.disabled_reason = self._why_disabled()

    def _why_disabled(self) -> str:
        """Say why questions get no vector; nothing where the index has none, or none is asked for."""
        if self._fingerprint and (self._settings is None or self._settings.provider == "none"):
            return (
                f"the index holds vectors of {self._fingerprint.model}, which are not used: no encoder is "
                "configured (SHRAG_ENCODER__PROVIDER)"
            )
        return ""

    @property
    def model(self) -> str:
        """The encoder by which the index's vectors were made; "" where it has none."""
        return self._fingerprint.model if self._fingerprint else ""

    @property
    def usable(self) -> bool:
        """Tell whether a question may get a vector."""
        return self._fingerprint is not None and not self.disabled_reason

    async def encode(self, question: str) -> Stored | None:
        """Return the question's vector, rounded as the index's are; None where it has none.

        Raises:
            ModelsNotInstalled, EncoderUnusable: the encoder cannot be opened or fails.
        """
        if not self.usable:
            return None
        composed = unicodedata.normalize("NFC", question)
        return await self._threads.run(self._encoded, composed)

    def close(self) -> None:
        """Wait for running calls, and release the encoder."""
        self._threads.close()
        if self._encoder:
            self._encoder.close()

    def _encoded(self, question: str) -> Stored | None:
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
        from indexer.encoders.rounding import rounded

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
        if self._encoder is None and not self.disabled_reason and self._settings and self._fingerprint:
            self._encoder = open_encoder(self._settings)
            if self._encoder and (changed := _differing(self._fingerprint, self._encoder.fingerprint)):
                self.disabled_reason = (
                    f"the index's vectors are not used: the encoder is another one ({changed}); set "
                    "SHRAG_ENCODER__… back, or encode all passages anew"
                )
                self._encoder.close()
                self._encoder = None  # not to be closed again with the index
        return None if self.disabled_reason else self._encoder


def _differing(stored: VectorFingerprint, now: VectorFingerprint) -> str:
    """Say what keeps a question's vector from being comparable; how the numbers are kept does not."""
    built = stored.as_record()
    current = replace(now, storage=stored.storage).as_record()
    return ", ".join(
        f"{name}: {built[name]!r}, now {current[name]!r}" for name in built if built[name] != current[name]
    )
