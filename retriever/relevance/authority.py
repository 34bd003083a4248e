"""Authority and timeliness of papers, 0 to 1, from their records, or an index's citation graph."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from indexer.corpora.papers import Paper

UNKNOWN_AGE = 10  # years, of a paper without a year
HALF_LIFE = 6.0  # years after which a paper is half as timely


@dataclass(frozen=True, slots=True)
class Cited:
    """How often a paper is cited, and the source of the count."""

    count: int
    by: Annotated[
        Literal["record", "index", "found"],
        Field(description="its record, its index, the papers found"),
    ]


def citations(
    papers: Sequence[Paper], in_index: Mapping[str, int] | None = None, links: Mapping[str, int] | None = None
) -> list[Cited | None]:
    """Return the citation counts of papers by id: of the record, else in the index.

    If neither is known for any paper, `links` counts: the papers found that refer to each.
    """
    in_index = in_index or {}
    counted = [
        Cited(paper.cited_by_count, "record")
        if paper.cited_by_count is not None
        else Cited(in_index[paper.id], "index")
        if paper.id in in_index
        else None
        for paper in papers
    ]
    if any(counted) or links is None:
        return counted
    return [Cited(links.get(paper.id, 0), "found") for paper in papers]


def authorities(papers: Sequence[Paper], cited: Sequence[Cited | None], this_year: int) -> list[float]:
    """Return the authority of each paper among these, by the logarithm of its citations per year.

    References among the papers found are not divided by years, since they do not depend on a paper's age.
    """

    def rate(paper: Paper, times: Cited | None) -> float:
        age = this_year - paper.year + 1 if paper.year else UNKNOWN_AGE
        years = 1 if times is None or times.by == "found" else max(1, age)
        return times.count / years if times else 0.0

    logarithms = [math.log1p(rate(paper, times)) for paper, times in zip(papers, cited, strict=True)]
    most = max(logarithms, default=0.0)
    return [value / most if most > 0 else 0.0 for value in logarithms]


def timeliness(paper: Paper, this_year: int) -> float:
    """Return 1 for a paper of this year, half as much for each `HALF_LIFE` years before."""
    if paper.year is None:
        return 0.0
    return math.pow(0.5, max(0, this_year - paper.year) / HALF_LIFE)
