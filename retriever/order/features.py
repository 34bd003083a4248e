"""Features of candidates: BM25 by concepts, neighbouring words, coverage, and the best window of a text."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from indexer.forward.rows import Places
from retriever.engines.term_statistics import TermStatistics
from retriever.order.bm25 import MOST_OF_IDF, Scale, Scores
from retriever.order.patterns import Occurrences, TokenPlaces
from retriever.queries.boolean import Pattern
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept, Counterpart

NEIGHBOURS = 2  # most positions from a word to the next: one other may be between them
WINDOW = 25  # positions: about a sentence and a half
BESIDE = WINDOW // 2  # positions on either side of a token


def base_scores(
    concepts: Sequence[Concept], found: Occurrences, scale: Scale, statistics: TermStatistics
) -> Scores:
    """Return BM25 by concepts, as a share of the question's importance.

    A concept scores by its own words or by its best counterpart, whichever is higher.
    """
    total = sum(concept.importance for concept in concepts)
    scores = scale.scores(found, {pattern: statistics.pattern_idf(pattern) for pattern in found.columns})
    summed = np.zeros(len(scores))
    for concept in concepts:
        summed += concept_scores(concept, found, scores).max(axis=0)
    return summed / total if total else summed


def concept_scores(concept: Concept, found: Occurrences, scores: Scores) -> Scores:
    """Return the scores for a concept: a row for its own words, one for each counterpart."""
    rows = np.zeros((1 + len(concept.counterparts), len(scores)))
    for word in concept.words:
        spelled = [
            weight * scores[:, found.columns[pattern]]
            for pattern, weight in word.spellings.items()
            if pattern in found.columns
        ]
        if spelled:
            rows[0] += spelled[0] if len(spelled) == 1 else np.max(spelled, axis=0)
    for row, other in enumerate(concept.counterparts, 1):
        if other.pattern in found.columns:
            score = other.weight * scores[:, found.columns[other.pattern]]
            rows[row] = np.minimum(score, MOST_OF_IDF * other.importance)
    return rows


def neighbour_shares(question: AnalysedQuestion, concepts: Sequence[Concept], places: TokenPlaces) -> Scores:
    """Return the share of the question's neighbouring words that are neighbours in each passage."""
    pairs = _neighbours(question, concepts)
    total, width = sum(pairs.values()), len(places.column)
    looked_up = [pair for pair in pairs if places.column.keys() >= set(pair)]
    if not looked_up:
        return np.zeros(len(places.rows))
    number = np.full(width * width, len(looked_up))
    for place, (one, other) in enumerate(looked_up):
        number[places.column[one] * width + places.column[other]] = place
    holds_pair = np.zeros((len(places.rows), len(looked_up) + 1), np.bool_)
    found = places.in_bodies
    column = found.column.astype(np.int64)
    for later in range(1, NEIGHBOURS + 1):  # the gaps between passages are wider
        near = np.flatnonzero(found.at[later:] - found.at[:-later] <= NEIGHBOURS)
        holds_pair[found.row[near], number[column[near] * width + column[near + later]]] = True
    weights = np.array([pairs[pair] for pair in looked_up])
    return np.asarray((holds_pair[:, :-1] * weights).sum(axis=1) / total)


def _neighbours(question: AnalysedQuestion, concepts: Sequence[Concept]) -> dict[tuple[str, str], float]:
    """Return the pairs of words that are neighbours in a question, with their mean importance."""
    importance = {
        pattern[0][1]: word.importance
        for concept in concepts
        for word in concept.words
        if word.is_known
        for pattern in word.spellings
        if len(pattern) == 1
    }
    known = sorted((token for token in question.tokens if token[0] in importance), key=itemgetter(1))
    return {
        (one[0], other[0]): (importance[one[0]] + importance[other[0]]) / 2
        for one, other in pairwise(known)
        if one[0] != other[0] and 0 < other[1] - one[1] <= NEIGHBOURS
    }


def coverage(concepts: Sequence[Concept], found: Occurrences, *, titles: bool = False) -> Scores:
    """Return the share of the question's importance that each passage holds, or with `titles` its title."""
    total = sum(concept.importance for concept in concepts)
    held = (found.titles if titles else found.texts) > 0
    summed: Scores = np.zeros(len(held))
    for concept in concepts:
        own: Scores = np.zeros(len(held))
        for word in concept.words:
            own += word.importance * _holds_any(word.spellings, found.columns, held)
        for other in concept.counterparts:
            own = np.maximum(own, other.importance * _holds_any([other.pattern], found.columns, held))
        summed += np.minimum(own, concept.importance)
    return np.asarray(summed / (total or 1.0))


def _holds_any(patterns: Iterable[Pattern], column: Mapping[Pattern, int], held: NDArray[np.bool_]) -> Scores:
    wanted = [column[pattern] for pattern in patterns if pattern in column]
    return np.asarray(held[:, wanted].any(axis=1), np.float64)


def patterns_of(concepts: Sequence[Concept]) -> list[Pattern]:
    """Return the patterns of concepts."""
    return [pattern for concept in concepts for pattern in concept.patterns]


def best_window(concepts: Sequence[Concept], places: TokenPlaces) -> list[float]:
    """Return for each passage the highest share of the question's importance that a window of it covers."""
    return [_best(concepts, places, row, None) for row in range(len(places.rows))]


def window_around(concepts: Sequence[Concept], places: TokenPlaces, wanted: Collection[str]) -> list[float]:
    """Return for each passage the highest share of the question's importance around a wanted token.

    The wanted tokens must have been looked up in `places`.
    """
    columns = [places.column[token] for token in wanted if token in places.column]
    at = np.flatnonzero(np.isin(places.body, columns)) if columns else np.zeros(0, np.int64)
    return [_best(concepts, places, row, at) for row in range(len(places.rows))]


def _best(concepts: Sequence[Concept], places: TokenPlaces, row: int, around: Places | None) -> float:
    """Return the best share of all windows of a passage, or of the windows around some places."""
    total = sum(concept.importance for concept in concepts)
    start = int(places.rows.body_start[row])
    end = start + len(places.rows.body_of(row))
    held = [
        (importance, found)
        for patterns, importance in _units(concepts)
        if len(found := _places_of(patterns, places, start, end))
    ]
    if not held or not total:
        return 0.0
    if around is None:
        windows = np.unique(np.concatenate([found for _, found in held]))
        lows, highs = windows, windows + WINDOW
    else:
        windows = around[(around >= start) & (around < end)]
        lows, highs = windows - BESIDE, windows + BESIDE
    covered = np.zeros(len(windows))
    for importance, found in held:
        covered += importance * (np.searchsorted(found, highs, "right") > np.searchsorted(found, lows))
    return float(covered.max(initial=0.0)) / total


def _units(concepts: Sequence[Concept]) -> Iterator[tuple[Sequence[Pattern], float]]:
    """Yield patterns that count once, with their importance: a concept with counterparts, or a word."""
    for concept in concepts:
        if concept.counterparts:
            yield concept.patterns, concept.importance
        else:
            yield from ((tuple(word.spellings), word.importance) for word in concept.words)


def _places_of(patterns: Sequence[Pattern], places: TokenPlaces, start: int, end: int) -> Places:
    """Return the starts of the patterns' matches in one passage, in order."""
    known = [pattern for pattern in patterns if all(token in places.column for _, token in pattern)]
    found = [places.of_pattern(pattern) for pattern in known]
    joined: Places = np.unique(np.concatenate([np.zeros(0, np.int64), *found]))
    return joined[(joined >= start) & (joined < end)]


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
