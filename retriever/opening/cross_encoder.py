"""The cross-encoder of the settings, opened when the first question needs it."""

from indexer.encoders import Reranker, open_reranker
from indexer.settings import RerankerSettings
from retriever.opening.lazy_model import LazyModel


class CrossEncoder:
    """Scores texts by how well they answer a question; many searches share one model."""

    def __init__(self, settings: RerankerSettings | None) -> None:
        """Take the settings; nothing is opened yet."""
        self._settings = settings
        self._model: LazyModel[Reranker] = LazyModel("cross-encoder", self._open)

    @property
    def configured(self) -> bool:
        """Whether the settings name a cross-encoder."""
        return self._settings is not None and self._settings.provider != "none"

    @property
    def gives_raw_scores(self) -> bool:
        """Whether scores are the model's raw scores, not between 0 and 1."""
        return self._settings is not None and self._settings.scores == "raw"

    async def scores(self, question: str, texts: list[str]) -> tuple[str, list[float]] | None:
        """Return the model's name and one score per text, higher is better; None without a model.

        Raises:
            LibraryMissing, EncoderUnusable: the model cannot be opened or fails.
        """
        return await self._model.run(
            lambda model: (model.model, [float(score) for score in model.scores(question, texts)])
        )

    def close(self) -> None:
        """Wait for running calls, and close the model."""
        self._model.close()

    def _open(self) -> Reranker | None:
        return open_reranker(self._settings) if self._settings else None
