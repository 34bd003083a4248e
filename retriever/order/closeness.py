"""The share of a question that a passage holds within a window of its text."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from indexer.forward.rows import Places
from retriever.order.patterns import TokenPlaces
from retriever.queries.boolean import Pattern
from retriever.question.concepts import Concept

WINDOW = 25  # positions: about a sentence and a half
BESIDE = WINDOW // 2  # positions on either side of a token


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
