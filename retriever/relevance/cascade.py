"""Relevance of texts to a question, 0 to 1: by the cross-encoder, else by cosine, else by words.

Passages of an index and papers without an index share this cascade. They differ in the texts, in the baseline
of cosines and in the constants, `PASSAGES` and `PAPERS`. The words are measured where they are known: by
`passages.py` in an index, by `paper_ranking.py` among the papers of sources.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from retriever.opening.models import CrossEncoder

Features = dict[str, float]
Measured = tuple[str, list[float]]  # the model's name or "cosine", and the relevance of each text


@dataclass(frozen=True, slots=True)
class CosineConstants:
    """A logistic regression of relevance by the lead of a cosine over a baseline.

    Args:
        weights: of the regression.
        without_vector: the relevance of a text that has no vector.
    """

    weights: Mapping[str, float]
    without_vector: float

    def relevance(self, features: Features) -> float:
        """Return the relevance of a text by its lead, if it has one."""
        return likelihood(self.weights, features) if features else self.without_vector


# Fitted on training questions (`python -m eval.experiments.relevance --home DIR --fit --step 12`), on English
# with a small encoder.
PASSAGES = CosineConstants({"bias": -4.267, "lead": 10.825}, without_vector=0.0)
# Set by hand, see docs/how-to/finding-papers.md. A text without a vector has no lead.
PAPERS = CosineConstants({"bias": -4.0, "lead": 12.0}, without_vector=likelihood({"bias": -4.0}, {}))


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of texts in the order given, its measure, and failures of models.

    Args:
        scores: empty if nothing measured the relevance.
        by: the cross-encoder's name, "cosine" or "words"; "" if nothing measured the relevance.
        failures: of models that were tried before.
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
        cross_encoder: may be unconfigured.
        question: for the cross-encoder.
        texts: for the cross-encoder.
        leads: computes the leads of the texts' cosines; None if there are no vectors.
        constants: for the leads.
    """

    async def by_cross_encoder() -> Measured | None:
        scored = await cross_encoder.scores(question, texts) if cross_encoder.configured else None
        if scored is None or not cross_encoder.gives_raw_scores:
            return scored
        return scored[0], [sigmoid(score) for score in scored[1]]

    async def by_cosine() -> Measured | None:
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
    """Return each cosine's lead over a baseline, as a share of the distance to 1; none without a cosine."""
    return [
        {} if cosine is None else {"lead": (cosine - baseline) / max(1 - baseline, 1e-6)}
        for cosine in cosines
    ]
