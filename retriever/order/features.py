"""What candidates have in common with a question: features between 0 and about 1, the base up to 2.2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from operator import itemgetter
from statistics import fmean

from retriever.order.candidates import Candidate, Scale
from retriever.order.concepts import Concept
from retriever.question import AnalysedQuestion
from retriever.term_statistics import TermStatistics

NEIGHBOURS = 2  # positions from a word to the next, a dropped one between them


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one candidate."""

    base: float  # BM25 by concepts, over their importance
    coverage: float  # share of the question's importance that the passage holds
    feedback: float  # the same BM25 by terms of the best passages
    neighbours: float  # share of the question's neighbours that stand beside each other in its order

    def values(self) -> tuple[float, ...]:
        """Return the features in order."""
        return tuple(getattr(self, name) for name in FEATURES)


FEATURES = tuple(field.name for field in fields(Features))


def base_scores(
    concepts: Sequence[Concept], candidates: Sequence[Candidate], scale: Scale, statistics: TermStatistics
) -> list[float]:
    """Return BM25 by concepts: for each the more of its own words' score and its best counterpart's."""
    rarity = {token: statistics.idf(token) for concept in concepts for token in concept.tokens}
    scores = scale.scores(candidates, {token: idf for token, idf in rarity.items() if idf})
    total = sum(concept.importance for concept in concepts)
    if not total:
        return [0.0] * len(candidates)
    columns = [concept_scores(concept, scores, len(candidates)) for concept in concepts]
    best = [[max(found) for found in zip(own, *others, strict=True)] for own, *others in columns]
    return [sum(column) / total for column in zip(*best, strict=True)]


def concept_scores(concept: Concept, scores: Mapping[str, Sequence[float]], number: int) -> list[list[float]]:
    """Return what a number of candidates score for a concept: by its own words, by each counterpart.

    `scores` holds their BM25 by token.
    """
    own = [0.0] * number
    for word in concept.words:
        spelled = [
            [weight * score for score in scores[token]]
            for token, weight in word.spellings.items()
            if token in scores
        ]
        if spelled:
            own = [score + max(of_word) for score, *of_word in zip(own, *spelled, strict=True)]
    rows = [own]
    for other in concept.counterparts:
        columns = [scores[token] for token in other.tokens if token in scores]
        if other.is_whole:
            found = [fmean(of) if min(of) > 0 else 0.0 for of in zip(*columns, strict=True)]
        else:
            found = [max(of) for of in zip(*columns, strict=True)]
        rows.append([min(other.most, other.weight * best) for best in found])
    return rows


def coverage_of(concepts: Sequence[Concept], candidates: Sequence[Candidate]) -> list[float]:
    """Return the share of the question's importance that each candidate holds."""
    total = sum(concept.importance for concept in concepts) or 1.0
    return [
        sum(concept.coverage(candidate.counts) for concept in concepts) / total for candidate in candidates
    ]


def neighbours_of(
    question: AnalysedQuestion, concepts: Sequence[Concept], candidates: Sequence[Candidate]
) -> list[float]:
    """Return the share of the question's neighbouring words that stand beside each other, in their order."""
    importance = {
        token: word.importance for concept in concepts for word in concept.words for token in word.spellings
    }
    known = [token for token in question.tokens if importance.get(token[0])]
    pairs = {
        (first[0], second[0]): (importance[first[0]] + importance[second[0]]) / 2
        for first, second in pairwise(sorted(known, key=itemgetter(1)))
        if first[0] != second[0] and 0 < second[1] - first[1] <= NEIGHBOURS
    }
    total = sum(pairs.values())
    if not total:
        return [0.0] * len(candidates)
    wanted = {token for pair in pairs for token in pair}
    found = []
    for candidate in candidates:
        held = {pair: weight for pair, weight in pairs.items() if all(t in candidate.counts for t in pair)}
        places = candidate.places(wanted) if held else {}
        found.append(sum(weight for pair, weight in held.items() if _stand_so(places, *pair)) / total)
    return found


def _stand_so(places: Mapping[str, Sequence[int]], first: str, second: str) -> bool:
    behind = set(places[second])
    return any(place + gap in behind for place in places[first] for gap in range(1, NEIGHBOURS + 1))
