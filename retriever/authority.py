"""Authority and timeliness of papers, 0 to 1, from what their records tell."""

import math
from collections.abc import Mapping, Sequence

from indexer.papers import Paper

UNKNOWN_AGE = 10  # years, of a paper without a year
HALF_LIFE = 6.0  # years after which a paper is half as timely


def citations_a_year(paper: Paper, this_year: int) -> float | None:
    """Return how often a paper is cited for each year of its age; None where nobody counted."""
    if paper.cited_by_count is None:
        return None
    age = this_year - paper.year + 1 if paper.year else UNKNOWN_AGE
    return paper.cited_by_count / max(1, age)


def authorities(
    papers: Sequence[Paper], this_year: int, links: Mapping[str, int] | None = None
) -> list[float]:
    """Return the authority of each paper among these, by the logarithm of its citations a year.

    Where no record counts citations, `links` do: how many of the papers found refer to each, by its id.
    """
    rates = [citations_a_year(paper, this_year) for paper in papers]
    if all(rate is None for rate in rates):
        rates = [float((links or {}).get(paper.id, 0)) for paper in papers]
    logarithms = [math.log1p(rate or 0.0) for rate in rates]
    most = max(logarithms, default=0.0)
    return [value / most if most > 0 else 0.0 for value in logarithms]


def timeliness(paper: Paper, this_year: int) -> float:
    """Return 1 for a paper of this year, half as much for each `HALF_LIFE` years before."""
    if paper.year is None:
        return 0.0
    return math.pow(0.5, max(0, this_year - paper.year) / HALF_LIFE)
