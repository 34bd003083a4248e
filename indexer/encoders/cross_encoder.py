"""Re-ranker in this process: a cross-encoder scores question and text together."""

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
    """Scores of texts for a question; the model is in memory until `close`. Thread-safe."""

    def __init__(self, settings: RerankerSettings) -> None:
        """Load the model.

        Raises:
            LibraryMissing: the libraries are missing.
            EncoderUnusable: the model is missing, cannot be loaded, or returns several scores.
            InvalidCall: MAX_TOKENS exceeds the model's positions.
        """
        with libraries():
            from sentence_transformers import CrossEncoder
        model: CrossEncoder = load(CrossEncoder, settings, VARIABLE)
        if model.num_labels != 1:
            raise EncoderUnusable(
                f"model {settings.model!r} returns {model.num_labels} scores per text instead of one: "
                f"set {VARIABLE}MODEL to a re-ranker, such as BAAI/bge-reranker-v2-m3"
            )
        max_tokens = token_limit(model, settings.max_tokens, f"{VARIABLE}MAX_TOKENS")
        self.model, self.revision = name_and_revision(settings.model, settings.revision, settings.cache)
        self._raw = settings.scores == "raw"
        self._runner = Runner(model, "scores", settings.batch_tokens, max_tokens)

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a score for each text, in order, higher is better: float32 of shape (len(texts),).

        Depending on the settings, between 0 and 1 (sigmoid) or the model's raw output.

        Raises:
            EncoderUnusable: the score of a text is not a number, or there is not enough memory.
        """
        blocks = self._runner.run((question, text) for text in texts)
        found = np.concatenate([np.empty(0, np.float32), *(block.reshape(-1) for block in blocks)])
        bad = np.flatnonzero(~np.isfinite(found))
        if len(bad):
            raise EncoderUnusable(
                f"model {self.model!r}: the score of text {bad[0]}, counted from 0, is not a number; with "
                f"half precision, try {VARIABLE}PRECISION=float32"
            )
        return found if self._raw else _sigmoid(found)

    def close(self) -> None:
        """Release the model."""
        del self._runner


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    # In double precision, so that high scores remain distinct as far as float32 allows.
    result: NDArray[np.float32] = (0.5 * (1 + np.tanh(0.5 * values.astype(np.float64)))).astype(np.float32)
    return result
