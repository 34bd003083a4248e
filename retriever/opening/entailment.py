"""The entailment model of the settings, opened when the first answer is checked."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexer.settings import CheckSettings
from retriever.opening.lazy_model import LazyModel

if TYPE_CHECKING:
    from indexer.encoders.entailment import Entailed, EntailmentModel


class Entailment:
    """Judges whether texts entail sentences; many answers share one model."""

    def __init__(self, settings: CheckSettings) -> None:
        """Take the settings; nothing is opened yet."""
        self.settings = settings
        self._model: LazyModel[EntailmentModel] = LazyModel("entailment", self._open)

    async def judge(self, pairs: Sequence[tuple[str, str]]) -> "tuple[str, list[Entailed]] | None":
        """Return the model's name with its revision, and a judgement for each pair of text and sentence.

        None without a model.

        Raises:
            LibraryMissing, EncoderUnusable: the model cannot be opened or fails.
        """
        return await self._model.run(lambda model: (f"{model.model}@{model.revision}", model.judge(pairs)))

    def close(self) -> None:
        """Wait for running calls, and close the model."""
        self._model.close()

    def _open(self) -> "EntailmentModel | None":
        if self.settings.judge != "local":
            return None
        from indexer.encoders.entailment import EntailmentModel

        return EntailmentModel(self.settings)
