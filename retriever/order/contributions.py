"""The score of one passage for each concept of a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from retriever.engines.term_statistics import TermStatistics
from retriever.order.bm25 import Scale
from retriever.order.features import concept_scores, patterns_of
from retriever.order.patterns import TokenPlaces
from retriever.question.concepts import Concept, Counterpart


@dataclass(frozen=True, slots=True)
class ConceptScore:
    """A concept, its score in one passage (BM25), and the counterpart, if one scored more than its words."""

    concept: Concept
    score: float
    by: Counterpart | None = None


def scores_by_concept(
    concepts: Sequence[Concept], places: TokenPlaces, scale: Scale, statistics: TermStatistics
) -> list[ConceptScore]:
    """Return the scores of the only passage of `places`.

    Their sum, divided by the importance of the question, is the passage's base.
    """
    found = places.count(patterns_of(concepts))
    scores = scale.scores(found, {pattern: statistics.pattern_idf(pattern) for pattern in found.columns})
    scored = []
    for concept in concepts:
        own = concept_scores(concept, found, scores)[:, 0].tolist()
        best = own.index(max(own))
        scored.append(ConceptScore(concept, own[best], concept.counterparts[best - 1] if best else None))
    return scored
