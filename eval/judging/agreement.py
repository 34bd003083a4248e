"""Agreement of two assessors on the papers that both graded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.judging.records import Assessment, Pair
from eval.kappa import cohens_kappa


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two assessors; kappa is None if both gave one and the same grade to all papers.

    Args:
        first, second: names of the assessors.
        papers: number of pairs of question and paper that both graded.
        percent: equal grades, in percent.
        kappa: Cohen's kappa of the grades.
        percent_relevant, kappa_relevant: the same for two grades, relevant (1 to 3) or not (0).
    """

    first: str
    second: str
    papers: int
    percent: float
    kappa: float | None
    percent_relevant: float
    kappa_relevant: float | None


def agreements(assessments: Mapping[str, Mapping[Pair, Assessment]]) -> list[Agreement]:
    """Return the agreement of all pairs of assessors that graded a paper in common."""
    found = []
    for first, second in combinations(assessments, 2):
        one, other = assessments[first], assessments[second]
        common = [
            (grade, again)
            for pair, each in one.items()
            if (grade := each.grade) is not None
            and pair in other
            and (again := other[pair].grade) is not None
        ]
        if common:
            relevant = [(grade > 0, again > 0) for grade, again in common]
            found.append(
                Agreement(
                    first,
                    second,
                    len(common),
                    percent(common),
                    cohens_kappa(common),
                    percent(relevant),
                    cohens_kappa(relevant),
                )
            )
    return found


def percent(grades: Sequence[tuple[int, int]]) -> float:
    """Return the share of equal grades in percent."""
    return 100 * sum(one == other for one, other in grades) / len(grades)
