"""Different records of one paper among hits: the same DOI, or title with year or author in common."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from indexer.normal_forms import SHORTEST_TITLE, normal_doi, normal_title
from retriever.hits import Hit


def without_duplicates(hits: Sequence[Hit]) -> list[Hit]:
    """Keep the best hit of every paper that has several ids.

    Passages of one record never count as duplicates of each other.
    """
    kept: list[Hit] = []
    alike: dict[tuple[str, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        marks = _marks(hit)
        others = (other for mark in marks for other in alike[mark])
        if not any(other.doc_id != hit.doc_id and same_paper(other, hit) for other in others):
            kept.append(hit)
            for mark in marks:
                alike[mark].append(hit)
    return kept


def _marks(hit: Hit) -> list[tuple[str, str]]:
    return described(hit).marks


def same_paper(one: Hit, other: Hit) -> bool:
    """Tell whether two records are of one paper."""
    return described(one).is_same(described(other))


def described(hit: Hit) -> "Description":
    """Return what tells a hit's paper from others."""
    return Description.of(
        hit.paper.get("doi", ""), hit.passage.title, hit.passage.year, hit.paper.get("authors", ())
    )


class Description(NamedTuple):
    """What tells one paper from another, in a form that two records of it have in common."""

    doi: str
    title: str
    year: int | None
    authors: tuple[str, ...]

    @classmethod
    def of(cls, doi: str, title: str, year: int | None, authors: Iterable[str]) -> Self:
        """Take what a record says."""
        return cls(normal_doi(doi), normal_title(title), year, tuple(authors))

    @property
    def marks(self) -> list[tuple[str, str]]:
        """What two records of one paper have in common at least: the DOI or the title."""
        return [mark for mark in (("doi", self.doi), ("title", self.title)) if mark[1]]

    def is_same(self, other: "Description") -> bool:
        """Tell whether two records are of one paper."""
        if self.doi and self.doi == other.doi:
            return True
        if len(self.title) < SHORTEST_TITLE or self.title != other.title:
            return False
        same_year = self.year is not None and self.year == other.year
        return same_year or bool(_names(self.authors) & _names(other.authors))


def _names(authors: Iterable[str]) -> set[str]:
    return {normal_title(author) for author in authors} - {""}
