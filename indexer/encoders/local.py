"""Encoder in this process: any model of sentence-transformers, mGTE by default."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from base.errors import InvalidCall
from indexer.encoders import Progress, VectorFingerprint, Vectors
from indexer.encoders.models import LocalModel, without_surrogates
from indexer.encoders.rounding import scale_to_unit_length
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

# Names of prefixes in models; the first non-empty one is used.
QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")


class LocalEncoder(LocalModel):
    """Texts to vectors by a model in this process.

    The same texts in the same order give the same bytes. Beside other texts, a vector differs by about 1e-7
    per number in float32 and some thousandths in half precision, because the order of sums may differ.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the model; InvalidCall if the settings exceed its dimensions."""
        super().__init__("SentenceTransformer", settings, "SHRAG_ENCODER__")
        self.fingerprint = VectorFingerprint(
            model=self.model,
            revision=self.revision,
            query_prefix=self._prefix(settings.query_prefix, QUERY_PROMPTS),
            passage_prefix=self._prefix(settings.passage_prefix, PASSAGE_PROMPTS),
            pooling=_pooling(self.library),
            dimensions=_dimensions(self.library, settings),
            max_tokens=self.max_tokens,
            storage=settings.storage,
        )

    def _prefix(self, asked: str | None, names: Sequence[str]) -> str:
        if asked is not None:
            return asked
        return next((prompt for name in names if (prompt := self.library.prompts.get(name))), "")

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each question; EncoderUnusable without enough memory."""
        return self._encode(texts, self.fingerprint.query_prefix, "query", None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage; EncoderUnusable without enough memory."""
        return self._encode(texts, self.fingerprint.passage_prefix, "document", progress)

    def _encode(self, texts: Sequence[str], prefix: str, task: str, progress: Progress | None) -> Vectors:
        def encode(batch: list[str]) -> Vectors:
            rows: Vectors = self.library.encode(
                batch, prompt=prefix, task=task, batch_size=len(batch), show_progress_bar=False
            )
            return rows

        dimensions = self.fingerprint.dimensions
        if not texts:
            return np.empty((0, dimensions), np.float32)
        rows = self.compute(encode, list(map(without_surrogates, texts)), progress)
        try:
            return scale_to_unit_length(rows[:, :dimensions])
        except ValueError as error:
            raise EncoderUnusable(f"model {self.model!r}: {error}") from error


def _dimensions(model: Any, settings: EncoderSettings) -> int:
    whole: int | None = model.get_embedding_dimension()
    if whole is None:
        raise EncoderUnusable(f"model {settings.model!r} does not report its dimensions; choose another one")
    if settings.dimensions is not None and settings.dimensions > whole:
        raise InvalidCall(
            f"{settings.model!r} has {whole} dimensions, less than the requested {settings.dimensions}: "
            "lower SHRAG_ENCODER__DIMENSIONS"
        )
    return settings.dimensions or whole


def _pooling(model: Any) -> str:
    """Describe the modules after the transformer: `cls`, `mean`, `mean > dense`."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    steps: list[str] = []
    for module in model:
        if isinstance(module, Pooling):
            mode = module.pooling_mode
            step = mode if isinstance(mode, str) else "+".join(mode)
            steps.append(step if module.include_prompt else f"{step} without prefix")
        elif type(module).__name__ not in ("Transformer", "Normalize"):  # vectors are normalised here anyway
            steps.append(type(module).__name__.lower())
    return " > ".join(steps)
