"""How closely a passage speaks of a question in one place of its text. A sign of an answer."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from retriever.order.candidates import Candidate
from retriever.order.concepts import Concept

WINDOW = 25  # positions: about a sentence and a half
BESIDE = WINDOW // 2  # positions either way from a token


def best_window(concepts: Sequence[Concept], candidate: Candidate) -> float:
    """Return the highest share of the question's importance that any window of the text covers.

    Only the concepts of a token that enters or leaves the window are looked at again.
    """
    total = sum(concept.importance for concept in concepts)
    places: dict[str, list[int]] = {}  # of the concepts that a token stands for
    for place, concept in enumerate(concepts):
        for token in concept.tokens:
            places.setdefault(token, []).append(place)
    events = candidate.occurrences(places)
    best, first = 0.0, 0
    inside: Counter[str] = Counter()
    covered: dict[int, float] = {}  # of the concepts that the window holds anything of
    changed: set[int] = set()
    for position, token in events:
        inside[token] += 1
        while events[first][0] < position - WINDOW:
            left = events[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
                changed.update(places[left])
            first += 1
        if inside[token] == 1:
            for place in changed.union(places[token]):
                covered[place] = concepts[place].coverage(inside)
                if not covered[place]:
                    del covered[place]
            changed.clear()
            best = max(best, sum(covered[place] for place in sorted(covered)))
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
