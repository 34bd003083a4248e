"""Encoder in this process: any model of sentence-transformers, mGTE by default."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from base.errors import InvalidCall
from indexer.encoders import Progress, VectorFingerprint
from indexer.encoders.arrays import Vectors
from indexer.encoders.loading import libraries, load, token_limit
from indexer.encoders.origin import name_and_revision
from indexer.encoders.rounding import of_unit_length
from indexer.encoders.running import Runner
from indexer.errors import EncoderUnusable
from indexer.settings import EncoderSettings

VARIABLE = "SHRAG_ENCODER__"
# Names of prefixes in models; the first non-empty one is used.
QUERY_PROMPTS = ("query",)
PASSAGE_PROMPTS = ("document", "passage", "corpus")


class LocalEncoder:
    """Texts to vectors by a model that is in memory until `close`. Thread-safe.

    Guarantee: the vector of a text depends only on the fingerprint, regardless of the other texts and their
    order; the tolerance per number is about 1e-6 in float32 and some thousandths in half precision.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the model.

        Raises:
            LibraryMissing: the libraries are missing.
            EncoderUnusable: the model is missing or cannot be loaded.
            InvalidCall: the settings exceed the model's dimensions or tokens.
        """
        with libraries():
            from sentence_transformers import SentenceTransformer
        model: SentenceTransformer = load(SentenceTransformer, settings, VARIABLE)
        self.settings = settings
        self.model = model
        max_tokens = token_limit(model, settings.max_tokens, f"{VARIABLE}MAX_TOKENS")
        name, revision = name_and_revision(settings.model, settings.revision, settings.cache)
        self.fingerprint = VectorFingerprint(
            model=name,
            revision=revision,
            query_prefix=_prefix(settings.query_prefix, model.prompts, QUERY_PROMPTS),
            passage_prefix=_prefix(settings.passage_prefix, model.prompts, PASSAGE_PROMPTS),
            pooling=_pooling(model),
            dimensions=_dimensions(model, settings),
            max_tokens=max_tokens,
            storage=settings.storage,
        )
        self.runner = Runner(model, "sentence_embedding", settings.batch_tokens, max_tokens)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each question: float32 of shape (len(texts), dimensions).

        Raises:
            EncoderUnusable: the vector of a text is invalid, or there is not enough memory.
        """
        return self._together(self._blocks(texts, self.fingerprint.query_prefix, "query", None))

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage, in order: float32 of shape (len(texts), dimensions).

        Raises:
            EncoderUnusable: the vector of a text is invalid, or there is not enough memory.
        """
        return self._together(self.encode_stream(texts, progress))

    def encode_stream(self, texts: Iterable[str], progress: Progress | None = None) -> Iterator[Vectors]:
        """Yield the vectors of passages in blocks; texts are read at most two blocks ahead.

        For more texts than fit in memory. The queue sorts each block by length and tokenises the next one in
        parallel, which is faster than many small calls.
        """
        return self._blocks(texts, self.fingerprint.passage_prefix, "document", progress)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a whole passage with its prefix, also beyond the model's limit."""
        return self.runner.count_tokens(self.fingerprint.passage_prefix + text)

    def close(self) -> None:
        """Release the model."""
        del self.runner, self.model

    def _blocks(
        self, texts: Iterable[str], prefix: str, task: str, progress: Progress | None
    ) -> Iterator[Vectors]:
        before = 0
        for rows in self.runner.run(texts, prompt=prefix, task=task, progress=progress):
            try:
                yield of_unit_length(rows[:, : self.fingerprint.dimensions], before)
            except ValueError as error:
                raise EncoderUnusable(
                    f"model {self.fingerprint.model!r}: {error}; with half precision, try "
                    f"{VARIABLE}PRECISION=float32"
                ) from error
            before += len(rows)

    def _together(self, blocks: Iterator[Vectors]) -> Vectors:
        return np.concatenate([np.empty((0, self.fingerprint.dimensions), np.float32), *blocks])


def _prefix(asked: str | None, prompts: Mapping[str, str | None], names: Sequence[str]) -> str:
    if asked is not None:
        return asked
    return next((prompt for name in names if (prompt := prompts.get(name))), "")


def _dimensions(model: Any, settings: EncoderSettings) -> int:
    whole: int | None = model.get_embedding_dimension()
    if whole is None:
        raise EncoderUnusable(f"model {settings.model!r} does not report its dimensions; choose another one")
    if settings.dimensions is not None and settings.dimensions > whole:
        raise InvalidCall(
            f"{settings.model!r} has {whole} dimensions, less than the requested {settings.dimensions}: "
            f"lower {VARIABLE}DIMENSIONS"
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
