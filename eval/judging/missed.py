"""Estimate of the relevant papers that the stages dropped, from a graded sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.judging.records import Assessment, Pair
from eval.significance import wilson


@dataclass(frozen=True, slots=True)
class Missed:
    """Dropped papers, the graded ones, the relevant ones among these, and the estimate for all dropped.

    `low` and `high` are the bounds of the 95 % interval.
    """

    dropped: int
    graded: int
    relevant: int
    low: float
    high: float

    @property
    def estimate(self) -> float:
        """The estimated number of relevant papers among the dropped ones."""
        return self.dropped * self.relevant / self.graded


def missed(
    pooled: Sequence[Pair], passed: Sequence[Pair], grades: Mapping[Pair, Assessment]
) -> Missed | None:
    """Estimate the relevant papers that were dropped; None if none of the dropped papers is graded.

    The interval is Wilson's, for a random sample.
    """
    kept = set(passed)
    dropped = [pair for pair in pooled if pair not in kept]
    graded = [pair for pair in dropped if pair in grades]
    if not graded:
        return None
    relevant = sum(bool(grades[pair].grade) for pair in graded)
    low, high = wilson(relevant, len(graded))
    return Missed(len(dropped), len(graded), relevant, low * len(dropped), high * len(dropped))
