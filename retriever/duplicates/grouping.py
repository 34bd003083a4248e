"""Groups of hits that have a text in common, found without comparing each with each."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain
from typing import NamedTuple

from retriever.duplicates.compared_texts import Likeness, Text
from retriever.duplicates.descriptions import MOST_ALIKE, Claim
from retriever.stages.hits import Hit

# Marks that two hits have in common, for a comparison: least number, since common phrases give one or two,
# and least share of the marks of one of them, which may have a second text.
LEAST_SHARED, SHARE_SHARED = 3, 0.2


class Compared(NamedTuple):
    """Claims and texts of a hit, for comparison with others."""

    claims: Sequence[Claim]
    texts: Sequence[Text]

    @property
    def marks(self) -> frozenset[str]:
        """The marks of all texts."""
        return frozenset[str]().union(*(text.marks for text in self.texts))


@dataclass(frozen=True, slots=True)
class Groups:
    """Hits by their places, in order of age.

    Args:
        same: the places of one paper's hits in order, by the place of the hit that was indexed first.
        alike: of these first hits, the places of those of one text in order, by the oldest of them.
    """

    same: Mapping[int, list[int]]
    alike: Mapping[int, list[int]]


@dataclass(frozen=True, slots=True)
class _FirstHits:
    """The places of the first hit of each paper, by what another hit may have in common with it."""

    claims: defaultdict[Claim, list[int]] = field(default_factory=lambda: defaultdict(list))
    marks: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sizes: dict[int, int] = field(default_factory=dict)  # number of marks of each

    def add(self, place: int, claims: Sequence[Claim], marks: Sequence[str], size: int) -> None:
        for claim in claims:
            self.claims[claim].append(place)
        for mark in marks:
            self.marks[mark].append(place)
        self.sizes[place] = size

    def near(self, claims: Sequence[Claim], marks: Sequence[str], size: int) -> Iterator[int]:
        """Yield the places that have a claim or several marks in common, each once."""
        claimed = (self.claims.get(claim, ())[:MOST_ALIKE] for claim in claims)
        yield from dict.fromkeys(chain(*claimed, self._with_marks(marks, size)))

    def _with_marks(self, marks: Sequence[str], size: int) -> list[int]:
        """Return the places with the most marks in common."""
        if len(marks) < LEAST_SHARED:
            return []
        shared = Counter(chain.from_iterable(self.marks.get(mark, ())[:MOST_ALIKE] for mark in marks))
        enough = (
            (-count, place)
            for place, count in shared.items()
            if count >= max(LEAST_SHARED, SHARE_SHARED * min(size, self.sizes[place]))
        )
        return [place for _, place in nsmallest(MOST_ALIKE, enough)]


def grouped(
    hits: Sequence[Hit], compared: Sequence[Compared], likeness: Callable[[int, int], Likeness]
) -> Groups:
    """Group hits by paper, and papers by text.

    A hit with a text counts as older than one without. Hits of one record are never compared.

    Args:
        hits: best first.
        compared: of each hit.
        likeness: of the hits at two places, the older one first.
    """
    marks = [one.marks for one in compared]
    frequencies = Counter(chain.from_iterable(marks))
    same: dict[int, list[int]] = {}
    oldest: dict[int, int] = {}
    first = _FirstHits()

    def by_age(place: int) -> tuple[bool, int, int]:
        return not compared[place].texts, hits[place].passage.sequence, place

    for place in sorted(range(len(hits)), key=by_age):
        claims, size = compared[place].claims, len(marks[place])
        shared = [mark for mark in marks[place] if frequencies[mark] > 1]
        paper, text = place, place
        for other in first.near(claims, shared, size):
            if hits[other].doc_id == hits[place].doc_id:
                continue
            found = likeness(other, place)
            if found == "same":
                paper = other
                break
            if found == "alike" and text == place:
                text = oldest[other]
        if paper == place:
            first.add(place, claims, shared, size)
            oldest[place] = text
        same.setdefault(paper, []).append(place)
    alike: dict[int, list[int]] = {}
    for place, text in oldest.items():
        alike.setdefault(text, []).append(place)
    return Groups(_in_order(same), _in_order(alike))


def _in_order(groups: Mapping[int, list[int]]) -> dict[int, list[int]]:
    return {first: sorted(places) for first, places in groups.items()}
