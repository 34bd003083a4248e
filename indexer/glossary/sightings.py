"""Sightings of terms in a corpus, with their papers."""

from array import array
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexer.glossary.pairs import Source


@dataclass(frozen=True, slots=True)
class Sighting:
    """An English term with candidates for its Korean term, likeliest first."""

    english: str
    candidates: tuple[str, ...]
    source: Source
    sure: bool
    rough: bool = False


Seen = TypeVar("Seen", bound=Hashable)


class Sightings(Generic[Seen]):
    """Sightings with the papers of each, at most `most` sightings."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._papers: dict[Seen, array[int]] = {}

    def add(self, sighting: Seen, paper: int) -> None:
        """Add a paper to a sighting; the sightings of a paper are added consecutively."""
        papers = self._papers.get(sighting)
        if papers is None:
            if len(self._papers) >= self._most:
                self._drop_rare()
            self._papers[sighting] = array("I", [paper])
        elif papers[-1] != paper:
            papers.append(paper)

    def _drop_rare(self) -> None:
        """Keep the half with the most papers; among equal ones the later."""
        ranked = sorted(
            enumerate(self._papers.items()), key=lambda item: (len(item[1][1]), item[0]), reverse=True
        )
        kept = sorted(ranked[: self._most // 2])
        self._papers = dict(item for _, item in kept)

    def items(self) -> "Iterator[tuple[Seen, array[int]]]":
        """Iterate in the order of the first paper."""
        return iter(self._papers.items())
