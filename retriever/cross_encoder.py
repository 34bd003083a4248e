"""The cross-encoder of the settings, opened when the first question needs it."""

from indexer.encoders import Reranker, open_reranker
from indexer.settings import RerankerSettings
from retriever.worker_threads import WorkerThreads


class CrossEncoder:
    """The cross-encoder of the settings, opened when the first question needs it."""

    def __init__(self, settings: RerankerSettings | None) -> None:
        """Name it; nothing is opened yet."""
        self._settings = settings
        self._reranker: Reranker | None = None
        self._threads = WorkerThreads("cross-encoder", 1)

    @property
    def configured(self) -> bool:
        """Whether there is one."""
        return self._settings is not None and self._settings.provider != "none"

    async def scores(self, question: str, texts: list[str]) -> tuple[str, list[float]]:
        """Return the model's name and one score a text, higher for a better one.

        Raises:
            ModelsNotInstalled, EncoderUnusable: the model cannot be opened or fails.
        """
        return await self._threads.run(self._scores, question, texts)

    def close(self) -> None:
        """Wait for running calls, and release the model."""
        self._threads.close()
        if self._reranker:
            self._reranker.close()

    def _scores(self, question: str, texts: list[str]) -> tuple[str, list[float]]:
        if self._reranker is None and self._settings:
            self._reranker = open_reranker(self._settings)
        if self._reranker is None:
            return "", [0.0] * len(texts)
        return self._reranker.model, self._reranker.scores(question, texts).tolist()
