"""The models of the settings: opened when the first question needs them, and shared by many callers.

A model is called by the thread that needs it, and closed with the index or the sources that use it.
"""

import time
import unicodedata
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from base.errors import ResourceError
from base.notes import Note
from indexer.encoders import Encoder, Stored, VectorFingerprint, open_encoder, open_reranker
from indexer.errors import IndexClosed
from indexer.settings import CheckSettings, EncoderSettings, IndexerSettings, RerankerSettings
from retriever.opening.worker_threads import CLOSED, check_cancelled

if TYPE_CHECKING:
    from indexer.encoders.cross_encoder import Entailed, EntailmentModel

COOLDOWN_S = 20.0  # after a failure
CACHED_QUESTIONS = 1_000  # vectors kept for further searches of a question
Result = TypeVar("Result")


Model = TypeVar("Model", bound=Any)  # it has a method `close`


class LazyModel(Generic[Model]):
    """One model for many callers, opened on first use and used by one thread at a time.

    For `COOLDOWN_S` after a failure, calls fail immediately, so that searches continue without the model.
    """

    def __init__(self, open_model: Callable[[], Model | None]) -> None:
        """Set the function that opens the model; it returns None if none is configured."""
        self._lock, self._open = RLock(), open_model
        self._model: Model | None = None
        self._failure: ResourceError | None = None
        self._retry_at = 0.0
        self._is_closed = False

    def run(self, use: Callable[[Model], Result]) -> Result | None:
        """Call `use` with the model, after earlier calls; return None if no model is configured.

        Raises:
            LibraryMissing, EncoderUnusable: it cannot be opened or fails.
            IndexClosed: it was closed.
        """
        with self._lock:
            check_cancelled()
            if self._is_closed:
                raise IndexClosed(CLOSED, remedy="open it again")
            if self._failure and time.monotonic() < self._retry_at:
                raise copy(self._failure) from None  # the same error would keep the frames of all callers
            try:
                self._model = self._model or self._open()
                return None if self._model is None else use(self._model)
            except ResourceError as error:
                self._failure, self._retry_at = copy(error), time.monotonic() + COOLDOWN_S
                raise

    def close(self) -> None:
        """Close the model after running calls; later calls raise IndexClosed."""
        with self._lock:
            self._is_closed = True
            if self._model:
                self._model.close()


class CrossEncoder(LazyModel[Any]):
    """The cross-encoder, which scores texts by their relevance to a question."""

    def __init__(self, settings: RerankerSettings) -> None:
        super().__init__(partial(open_reranker, settings))
        self.configured = settings.provider != "none"
        self.gives_raw_scores = settings.scores == "raw"  # not between 0 and 1

    def scores(self, question: str, texts: Sequence[str]) -> tuple[str, list[float]] | None:
        """Return the model's name and one score per text, higher is better; None without a model.

        Raises:
            LibraryMissing, EncoderUnusable: the model cannot be opened or fails.
        """
        return self.run(
            lambda model: (model.model, [float(score) for score in model.scores(question, texts)])
        )


class Entailment(LazyModel["EntailmentModel"]):
    """The entailment model, which judges whether texts entail sentences."""

    def __init__(self, settings: CheckSettings) -> None:
        super().__init__(partial(_open_entailment, settings))
        self.settings = settings

    def judge(self, pairs: Sequence[tuple[str, str]]) -> "tuple[str, list[Entailed]] | None":
        """Return the model's name with its revision, and a judgement for each pair of text and sentence.

        None without a model.

        Raises:
            LibraryMissing, EncoderUnusable: the model cannot be opened or fails.
        """
        return self.run(lambda model: (f"{model.model}@{model.revision}", model.judge(pairs)))


def _open_entailment(settings: CheckSettings) -> "EntailmentModel | None":
    if settings.judge != "local":
        return None
    from indexer.encoders.cross_encoder import EntailmentModel

    return EntailmentModel(settings)


class TextEncoder(LazyModel[Encoder]):
    """The encoder, which turns texts into vectors."""

    def __init__(self, settings: EncoderSettings) -> None:
        super().__init__(partial(open_encoder, settings))
        self.configured = settings.provider != "none"


class QuestionVectors:
    """Vectors of questions, comparable with the vectors of one index; or the reason why there are none."""

    def __init__(self, fingerprint: VectorFingerprint | None, encoder: TextEncoder) -> None:
        """Take the fingerprint of the index's vectors and an encoder, which the caller closes."""
        self._fingerprint = fingerprint
        self._encoder = encoder
        self._known: dict[str, Stored] = {}
        self.disabled_reason = ""  # why questions get no vector; "" also if the index has no vectors
        if fingerprint and not encoder.configured:
            self.disabled_reason = Note("vectors_unused", model=fingerprint.model)

    @property
    def model(self) -> str:
        """The encoder of the index's vectors; "" if it has none."""
        return self._fingerprint.model if self._fingerprint else ""

    @property
    def usable(self) -> bool:
        """Whether questions can get a vector."""
        return self._fingerprint is not None and not self.disabled_reason

    def encode(self, question: str) -> Stored | None:
        """Return the question's vector, rounded like the index's vectors; None if there is none.

        Raises:
            LibraryMissing, EncoderUnusable: the encoder cannot be opened or fails.
        """
        fingerprint, composed = self._fingerprint, unicodedata.normalize("NFC", question)
        if fingerprint is None or self.disabled_reason:
            return None
        return self._encoder.run(lambda encoder: self._encode(encoder, fingerprint, composed))

    def _encode(self, encoder: Encoder, fingerprint: VectorFingerprint, question: str) -> Stored | None:
        if question in self._known:
            return self._known[question]
        if changed := _differing(fingerprint, encoder.fingerprint):
            self.disabled_reason = Note("vectors_of_another_encoder", changed=changed)
            return None
        from indexer.encoders.rounding import to_storage

        vector: Stored = to_storage(encoder.encode_queries([question]), fingerprint.storage)[0]
        if len(self._known) >= CACHED_QUESTIONS:
            self._known.clear()
        self._known[question] = vector
        return vector


def _differing(stored: VectorFingerprint, now: VectorFingerprint) -> str:
    """Describe the differences between encoders; the number format of stored vectors does not count."""
    built = stored.as_record()
    current = replace(now, storage=stored.storage).as_record()
    return ", ".join(
        f"{name}: {built[name]!r}, now {current[name]!r}" for name in built if built[name] != current[name]
    )


class Models:
    """The models of the settings, shared by all versions of an open index, or by indexes over sources."""

    def __init__(self, settings: IndexerSettings) -> None:
        self.cross_encoder = CrossEncoder(settings.reranker)
        self.entailment = Entailment(settings.check)
        self.encoder = TextEncoder(settings.encoder)
        self._vectors: dict[VectorFingerprint | None, QuestionVectors] = {}

    def vectors(self, fingerprint: VectorFingerprint | None) -> QuestionVectors:
        """Return the vectors of questions, the same for all versions with this fingerprint."""
        if fingerprint not in self._vectors:
            self._vectors[fingerprint] = QuestionVectors(fingerprint, self.encoder)
        return self._vectors[fingerprint]

    def close(self) -> None:
        """Wait for running calls, and close the models."""
        for model in (self.cross_encoder, self.entailment, self.encoder):
            model.close()
