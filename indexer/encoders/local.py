"""An encoder in this process: any model of sentence-transformers, mGTE by default."""

from collections.abc import Sequence

import numpy as np

from indexer.encoders import Progress, VectorFingerprint, Vectors
from indexer.encoders.loading import libraries, load
from indexer.errors import InvalidCall
from indexer.settings import EncoderSettings

BATCH = 32
QUERY_PROMPTS, PASSAGE_PROMPTS = ("query",), ("document", "passage", "corpus")


class LocalEncoder:
    """Texts to vectors by a model held in memory until `close`."""

    def __init__(self, settings: EncoderSettings) -> None:
        """Load the model.

        Raises:
            ModelsNotInstalled: the libraries are missing.
            EncoderUnusable: there is no such model here, or it cannot be loaded.
            InvalidCall: more dimensions or tokens are asked for than the model has.
        """
        with libraries():
            from sentence_transformers import SentenceTransformer
        model = load(SentenceTransformer, settings, "SHRAG_ENCODER__")
        if settings.max_tokens is not None:
            model.max_seq_length = settings.max_tokens
        whole = model.get_embedding_dimension() or 0
        if settings.dimensions is not None and settings.dimensions > whole:
            raise InvalidCall(
                f"model {settings.model!r} has {whole} dimensions, the settings ask for "
                f"{settings.dimensions}: lower SHRAG_ENCODER__DIMENSIONS"
            )
        self._model = model
        self._query_prefix = _prefix(settings.query_prefix, model.prompts, QUERY_PROMPTS)
        self._passage_prefix = _prefix(settings.passage_prefix, model.prompts, PASSAGE_PROMPTS)
        self.fingerprint = VectorFingerprint(
            model=settings.model,
            revision=settings.revision,
            query_prefix=self._query_prefix,
            passage_prefix=self._passage_prefix,
            pooling="",
            dimensions=settings.dimensions or whole,
            max_tokens=model.max_seq_length or 0,
            storage=settings.storage,
        )

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question."""
        return self._encode(texts, self._query_prefix, "query", None)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return one unit vector a passage, in the order given."""
        return self._encode(texts, self._passage_prefix, "document", progress)

    def close(self) -> None:
        """Let go of the model."""
        del self._model

    def _encode(self, texts: Sequence[str], prefix: str, task: str, progress: Progress | None) -> Vectors:
        if not texts:
            return np.zeros((0, self.fingerprint.dimensions), np.float32)
        encode = self._model.encode_query if task == "query" else self._model.encode_document
        vectors = encode(
            [text.encode(errors="replace").decode() for text in texts],
            prompt=prefix,
            batch_size=BATCH,
            show_progress_bar=False,
            normalize_embeddings=True,
            truncate_dim=self.fingerprint.dimensions,
        )
        if progress is not None:
            progress(len(texts))
        return np.asarray(vectors, np.float32)


def _prefix(asked: str | None, prompts: dict[str, str], names: Sequence[str]) -> str:
    if asked is not None:
        return asked
    return next((prompts[name] for name in names if prompts.get(name)), "")
