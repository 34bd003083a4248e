"""A re-ranker in this process: a cross-encoder reads question and text together and gives one score."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexer.encoders.loading import libraries, load, token_limit
from indexer.encoders.origin import name_and_revision
from indexer.encoders.running import Runner
from indexer.errors import EncoderUnusable
from indexer.settings import RerankerSettings

VARIABLE = "SHRAG_RERANKER__"


class CrossEncoderReranker:
    """Scores of texts for a question by a model held in memory until `close`; for several threads."""

    def __init__(self, settings: RerankerSettings) -> None:
        """Load the model.

        Raises:
            LibraryMissing: the libraries are missing.
            EncoderUnusable: there is no such model here, it cannot be loaded, or it gives several scores.
            InvalidCall: more tokens are asked for than the model has places for.
        """
        with libraries():
            from sentence_transformers import CrossEncoder
        model: CrossEncoder = load(CrossEncoder, settings, VARIABLE)
        if model.num_labels != 1:
            raise EncoderUnusable(
                f"model {settings.model!r} gives {model.num_labels} scores a text, a re-ranker gives one: "
                f"set {VARIABLE}MODEL to a re-ranker, such as BAAI/bge-reranker-v2-m3"
            )
        max_tokens = token_limit(model, settings.max_tokens, f"{VARIABLE}MAX_TOKENS")
        self.model, self.revision = name_and_revision(settings.model, settings.revision, settings.cache)
        self._raw = settings.scores == "raw"
        self._runner = Runner(model, "scores", settings.batch_tokens, max_tokens)

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score a text, higher for a better one: float32 of shape (len(texts),), in their order.

        Between 0 and 1 (the sigmoid of what the model gives), or as the model gives it, by the settings.

        Raises:
            EncoderUnusable: the model gives no number for a text, or there is no memory for it.
        """
        blocks = self._runner.run((question, text) for text in texts)
        found = np.concatenate([np.empty(0, np.float32), *(block.reshape(-1) for block in blocks)])
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise EncoderUnusable(
                f"model {self.model!r}: the score of text {bad[0]}, counted from 0, is no number; with half "
                f"precision, try {VARIABLE}PRECISION=float32"
            )
        return found if self._raw else _sigmoid(found)

    def close(self) -> None:
        """Let go of the model."""
        del self._runner


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    # In double precision, so that two high scores stay apart as long as float32 can tell them.
    result: NDArray[np.float32] = (0.5 * (1 + np.tanh(0.5 * values.astype(np.float64)))).astype(np.float32)
    return result
