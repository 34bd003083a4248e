"""Cross-encoders in this process, which read two texts together: the re-ranker and the entailment model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexer.encoders import Vectors
from indexer.encoders.models import LocalModel, without_surrogates
from indexer.errors import EncoderUnusable
from indexer.settings import CheckSettings, RerankerSettings

if TYPE_CHECKING:
    import torch

Relation = Literal["entailment", "contradiction", "neutral"]
RELATIONS: dict[str, Relation] = {
    "contradict": "contradiction",
    "refute": "contradiction",
    "entail": "entailment",
    "support": "entailment",
}


class CrossEncoderReranker(LocalModel):
    """Scores of texts for a question."""

    def __init__(self, settings: RerankerSettings) -> None:
        """Load the model; EncoderUnusable if it returns several scores."""
        super().__init__("CrossEncoder", settings, "SHRAG_RERANKER__")
        if (labels := self.library.num_labels) != 1:
            raise EncoderUnusable(
                f"model {settings.model!r} returns {labels} scores per text instead of one: "
                "set SHRAG_RERANKER__MODEL to a re-ranker, such as BAAI/bge-reranker-v2-m3"
            )
        self._raw = settings.scores == "raw"

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return a score for each text, in order, higher is better: float32 of shape (len(texts),).

        Depending on the settings, between 0 and 1 (sigmoid) or the model's raw output.

        Raises:
            EncoderUnusable: the score of a text is not a number, or there is not enough memory.
        """
        import torch

        activation = torch.nn.Identity() if self._raw else torch.nn.Sigmoid()
        return _predict(self, [(question, text) for text in texts], activation)


@dataclass(frozen=True, slots=True)
class Entailed:
    """The relation of a text to a sentence by the likeliest label, and the probability of entailment."""

    relation: Relation
    entailment: float


class EntailmentModel(LocalModel):
    """Judgements of a model for natural language inference."""

    def __init__(self, settings: CheckSettings) -> None:
        """Load the model; EncoderUnusable if it has no label for entailment."""
        super().__init__("CrossEncoder", settings, "SHRAG_CHECK__")
        names = self.library.config.id2label
        labels = [str(names[number]).lower() for number in sorted(names)]
        self._relations = list(map(_relation, labels))
        if self._relations.count("entailment") != 1 or len(labels) == 1:
            raise EncoderUnusable(
                f"model {settings.model!r} has the labels {', '.join(labels)}; one must be entailment: "
                "set SHRAG_CHECK__MODEL to a model for natural language inference"
            )

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailed]:
        """Judge pairs of a text and a sentence, in order.

        Raises:
            EncoderUnusable: a score is not a number, or there is not enough memory.
        """
        import torch

        likelihoods = _predict(self, pairs, torch.nn.Softmax(dim=1))
        place = self._relations.index("entailment")
        return [Entailed(self._relations[int(row.argmax())], float(row[place])) for row in likelihoods]


def _predict(model: LocalModel, pairs: Sequence[tuple[str, str]], activation: "torch.nn.Module") -> Vectors:
    def predict(batch: list[tuple[str, str]]) -> Vectors:
        scores: Vectors = model.library.predict(
            batch, activation_fn=activation, batch_size=len(batch), show_progress_bar=False
        )
        return scores

    return model.compute(predict, [(without_surrogates(one), without_surrogates(two)) for one, two in pairs])


def _relation(label: str) -> Relation:
    return next((RELATIONS[start] for start in RELATIONS if label.startswith(start)), "neutral")
