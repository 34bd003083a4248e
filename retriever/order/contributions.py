"""What one passage scores for each concept of a question, and by what."""

from collections.abc import Sequence
from dataclasses import dataclass

from retriever.order.candidates import Candidate, Scale
from retriever.order.concepts import Concept, Counterpart
from retriever.order.features import concept_scores
from retriever.term_statistics import TermStatistics


@dataclass(frozen=True, slots=True)
class ConceptScore:
    """A concept, its score in one passage (BM25), and the counterpart that scored more than its own words."""

    concept: Concept
    score: float
    by: Counterpart | None = None


def scores_by_concept(
    concepts: Sequence[Concept], candidate: Candidate, scale: Scale, statistics: TermStatistics
) -> list[ConceptScore]:
    """Return what a passage scores for each concept; their sum over their importance is its base."""
    rarity = {token: statistics.idf(token) for concept in concepts for token in concept.tokens}
    scores = scale.scores([candidate], {token: idf for token, idf in rarity.items() if idf})
    return [_best(concept, concept_scores(concept, scores, 1)) for concept in concepts]


def _best(concept: Concept, rows: Sequence[Sequence[float]]) -> ConceptScore:
    found = [row[0] for row in rows]
    place = found.index(max(found))
    return ConceptScore(concept, found[place], concept.counterparts[place - 1] if place else None)
