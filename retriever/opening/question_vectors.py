"""The question's vector: the encoder of the settings, opened when the first question needs it."""

import unicodedata
from collections import OrderedDict
from dataclasses import replace

from indexer.encoders import Encoder, VectorFingerprint, open_encoder
from indexer.encoders.arrays import Stored
from indexer.settings import EncoderSettings
from retriever.opening.lazy_model import LazyModel

REMEMBERED = 1_000  # cached questions, for further searches with another method


class QuestionVectors:
    """Question vectors that are comparable with the vectors of one index, or the reason for none."""

    def __init__(self, fingerprint: VectorFingerprint | None, settings: EncoderSettings | None) -> None:
        """Take the encoder of the index and that of the settings; nothing is opened yet."""
        self._fingerprint = fingerprint
        self._settings = settings
        self._model: LazyModel[Encoder] = LazyModel("question-encoder", self._open)
        self._known: OrderedDict[str, Stored] = OrderedDict()
        self.disabled_reason = self._why_disabled()

    def _why_disabled(self) -> str:
        """Why questions get no vector; "" if they do, or if the index has no vectors."""
        if self._fingerprint and (self._settings is None or self._settings.provider == "none"):
            return (
                f"the index has vectors of {self._fingerprint.model}, which are not used: no encoder is "
                "configured (SHRAG_ENCODER__PROVIDER)"
            )
        return ""

    @property
    def model(self) -> str:
        """The encoder of the index's vectors; "" if it has none."""
        return self._fingerprint.model if self._fingerprint else ""

    @property
    def usable(self) -> bool:
        """Whether questions can get a vector."""
        return self._fingerprint is not None and not self.disabled_reason

    async def encode(self, question: str) -> Stored | None:
        """Return the question's vector, rounded like the index's vectors, or None.

        Raises:
            LibraryMissing, EncoderUnusable: the encoder cannot be opened or fails.
        """
        if not self.usable:
            return None
        composed = unicodedata.normalize("NFC", question)
        return await self._model.run(lambda encoder: self._encode(encoder, composed))

    def close(self) -> None:
        """Wait for running calls, and close the encoder."""
        self._model.close()

    def _encode(self, encoder: Encoder, question: str) -> Stored | None:
        if question in self._known:
            self._known.move_to_end(question)
            return self._known[question]
        if self._fingerprint is None:
            return None
        from indexer.encoders.rounding import rounded

        vector: Stored = rounded(encoder.encode_queries([question]), self._fingerprint.storage)[0]
        self._known[question] = vector
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return vector

    def _open(self) -> Encoder | None:
        """Open the encoder; None if it differs from the index's encoder."""
        if self.disabled_reason or self._settings is None or self._fingerprint is None:
            return None
        encoder = open_encoder(self._settings)
        if encoder and (changed := _differing(self._fingerprint, encoder.fingerprint)):
            self.disabled_reason = (
                f"the index's vectors are not used: the encoder is another one ({changed}); set "
                "SHRAG_ENCODER__… back, or encode all passages again"
            )
            encoder.close()
            return None
        return encoder


def _differing(stored: VectorFingerprint, now: VectorFingerprint) -> str:
    """Describe the differences between encoders; the number format of stored vectors does not count."""
    built = stored.as_record()
    current = replace(now, storage=stored.storage).as_record()
    return ", ".join(
        f"{name}: {built[name]!r}, now {current[name]!r}" for name in built if built[name] != current[name]
    )
