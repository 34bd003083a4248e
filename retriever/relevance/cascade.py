"""Relevance of texts to a question, 0 to 1, by models: the cross-encoder, else the cosine.

Without a model, words decide: `passages.py` for an index, `paper_ranking.py` for papers of sources.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from base.errors import ResourceError
from base.logistic import likelihood, sigmoid
from base.untrusted import one_line
from retriever.opening.models import CrossEncoder

# Logistic regressions on the lead of a cosine. That of passages was fitted on training questions
# (`python -m tools.fitting passages`), on English with a small encoder; that of papers was set by hand.
PASSAGES: Mapping[str, float] = {"bias": -4.267, "lead": 10.825}
PAPERS: Mapping[str, float] = {"bias": -4.0, "lead": 12.0}


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


def relevance_by_models(
    cross_encoder: CrossEncoder,
    question: str,
    texts: Sequence[str],
    leads: Callable[[], list[float | None] | None],
    weights: Mapping[str, float],
) -> Relevance:
    """Measure relevance by the cross-encoder, else by `leads` of cosines (None without vectors).

    If a model fails, the next one is used.
    """
    failures: list[str] = []
    try:
        if texts and cross_encoder.configured and (scored := cross_encoder.scores(question, texts)):
            by, scores = scored
            return Relevance(tuple(map(sigmoid, scores) if cross_encoder.gives_raw_scores else scores), by)
    except ResourceError as error:
        failures.append(one_line(str(error)))
    try:
        if texts and (found := leads()) is not None:
            by_lead = (0.0 if lead is None else likelihood(weights, {"lead": lead}) for lead in found)
            return Relevance(tuple(by_lead), "cosine", tuple(failures))
    except ResourceError as error:
        failures.append(one_line(str(error)))
    return Relevance(failures=tuple(failures))


def leads_of(cosines: Iterable[float | None], baseline: float) -> list[float | None]:
    """Return the lead of each cosine over a baseline: (cosine - baseline) / (1 - baseline)."""
    above = max(1 - baseline, 1e-6)
    return [None if cosine is None else (cosine - baseline) / above for cosine in cosines]
