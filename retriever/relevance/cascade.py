"""Relevance of texts to a question, 0 to 1: by the cross-encoder, else by cosine, else by words.

Passages of an index and papers of sources share this cascade, with different texts, baselines of cosines and
constants (`PASSAGES`, `PAPERS`). Relevance by words is computed elsewhere: by `passages.py` for an index, by
`paper_ranking.py` for papers of sources.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from retriever.opening.models import CrossEncoder

Features = dict[str, float]
ModelScores = tuple[str, list[float]]  # the model's name or "cosine", and the relevance of each text


@dataclass(frozen=True, slots=True)
class CosineConstants:
    """A logistic regression of relevance on the lead of a cosine (`leads_of`).

    Args:
        weights: of `bias` and `lead`.
        without_vector: relevance of a text that has no vector.
    """

    weights: Mapping[str, float]
    without_vector: float

    def relevance(self, features: Features) -> float:
        """Return the relevance of a text, 0 to 1; without features `without_vector`."""
        return likelihood(self.weights, features) if features else self.without_vector


# Fitted on training questions (`python -m eval.development.relevance --home DIR --fit --step 12`), on English
# with a small encoder.
PASSAGES = CosineConstants({"bias": -4.267, "lead": 10.825}, without_vector=0.0)
# Set by hand, see docs/how-to/finding-papers.md. A text without a vector has no lead.
PAPERS = CosineConstants({"bias": -4.0, "lead": 12.0}, without_vector=likelihood({"bias": -4.0}, {}))


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of texts in the order given, its measure, and failures of models.

    Args:
        scores: 0 to 1, one per text; empty if there was no measure.
        by: the measure: the cross-encoder's name, "cosine" or "words"; "" if there was none.
        failures: messages of the models that failed before.
    """

    scores: tuple[float, ...] = ()
    by: str = ""
    failures: tuple[str, ...] = ()


async def relevance_by_models(
    cross_encoder: CrossEncoder,
    question: str,
    texts: Sequence[str],
    leads: Callable[[], Awaitable[list[Features] | None]],
    constants: CosineConstants,
) -> Relevance:
    """Measure relevance by the cross-encoder, else by cosine; if a model fails, the next one is used.

    Args:
        cross_encoder: skipped if it is not configured.
        question: input of the cross-encoder.
        texts: inputs of the cross-encoder; without texts nothing is measured.
        leads: computes the features of each text from its cosine; None if there are no vectors.
        constants: of the regression on these features.
    """

    async def by_cross_encoder() -> ModelScores | None:
        scored = await cross_encoder.scores(question, texts) if cross_encoder.configured else None
        if scored is None or not cross_encoder.gives_raw_scores:
            return scored
        return scored[0], [sigmoid(score) for score in scored[1]]

    async def by_cosine() -> ModelScores | None:
        found = await leads()
        return None if found is None else ("cosine", [constants.relevance(features) for features in found])

    failures: list[str] = []
    for measure in (by_cross_encoder, by_cosine) if texts else ():
        try:
            measured = await measure()
        except ResourceError as error:
            failures.append(one_line(str(error)))
            continue
        if measured:
            return Relevance(tuple(measured[1]), measured[0], tuple(failures))
    return Relevance(failures=tuple(failures))


def leads_of(cosines: Iterable[float | None], baseline: float) -> list[Features]:
    """Return the feature `lead` of each cosine: (cosine - baseline) / (1 - baseline).

    A missing cosine (None) has no features.
    """
    return [
        {} if cosine is None else {"lead": (cosine - baseline) / max(1 - baseline, 1e-6)}
        for cosine in cosines
    ]
