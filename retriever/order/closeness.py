"""How closely a passage speaks of a question in one place of its text. A sign of an answer."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from retriever.order.candidates import Candidate
from retriever.order.concepts import Concept

WINDOW = 25  # positions: about a sentence and a half
BESIDE = WINDOW // 2  # positions either way from a token


def best_window(concepts: Sequence[Concept], candidate: Candidate) -> float:
    """Return the highest share of the question's importance that any window of the text covers."""
    total = sum(concept.importance for concept in concepts)
    events = candidate.occurrences({token for concept in concepts for token in concept.tokens})
    best, first = 0.0, 0
    inside: Counter[str] = Counter()
    for position, token in events:
        inside[token] += 1
        while events[first][0] < position - WINDOW:
            left = events[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        if inside[token] == 1:
            best = max(best, sum(concept.coverage(inside) for concept in concepts))
    return best / total if total else 0.0


def window_around(concepts: Sequence[Concept], candidate: Candidate, wanted: Collection[str]) -> float:
    """Return the highest share of the question's importance that stands about one of the wanted tokens."""
    total = sum(concept.importance for concept in concepts)
    events = candidate.occurrences({token for concept in concepts for token in concept.tokens})
    positions = [position for position, _ in events]
    best = 0.0
    for place in {place for places in candidate.places(wanted).values() for place in places}:
        first, behind = bisect_left(positions, place - BESIDE), bisect_right(positions, place + BESIDE)
        held = Counter(token for _, token in events[first:behind])
        best = max(best, sum(concept.coverage(held) for concept in concepts))
    return best / total if total else 0.0
