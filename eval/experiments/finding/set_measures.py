"""Precision, recall and F1 of sets of papers (SPAR, equations 1 to 3).

SPAR prints one F1 for a benchmark. In its table 1 it is the harmonic mean of the printed precision and recall
(.3612 and .4105 give .3843), so of means over questions. The mean of each question's F1 is another value.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from eval.statistics import mean_of_known


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Numbers of papers of a question: retrieved, relevant, and both (true positives)."""

    retrieved: int
    relevant: int
    found: int

    @classmethod
    def of(cls, retrieved: Iterable[str], relevant: Collection[str]) -> Self:
        """Count ids; a repeated id counts once."""
        distinct = set(retrieved)
        return cls(len(distinct), len(relevant), len(distinct.intersection(relevant)))

    @property
    def precision(self) -> float | None:
        """Share of relevant papers among the retrieved ones; None if nothing was retrieved."""
        return self.found / self.retrieved if self.retrieved else None

    @property
    def recall(self) -> float | None:
        """Share of the relevant papers that were retrieved; None if no paper is relevant."""
        return self.found / self.relevant if self.relevant else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 0 if none is found; None if no paper is relevant."""
        if not self.relevant:
            return None
        return 2 * self.found / (self.retrieved + self.relevant)

    def record(self) -> dict[str, int]:
        """Return the counts as JSON."""
        return {"retrieved": self.retrieved, "relevant": self.relevant, "found": self.found}


@dataclass(frozen=True, slots=True)
class SetScores:
    """Means over questions; None where no question has a value.

    Args:
        f1: harmonic mean of mean precision and mean recall, as SPAR prints it.
        mean_f1: mean of each question's F1; a question without retrieved papers counts 0.
        recall: mean over the questions with relevant papers; without retrieved papers it is 0.
        precision: mean over the questions with retrieved papers.
        answered: number of questions with retrieved papers.
    """

    f1: float | None
    mean_f1: float | None
    recall: float | None
    precision: float | None
    answered: int

    def as_cells(self) -> tuple[float | int | None, ...]:
        """Return the cells of `COLUMNS`."""
        return self.f1, self.recall, self.precision, self.mean_f1, self.answered


COLUMNS = ("F1", "recall", "precision", "mean F1", "questions with papers")


def set_scores(counts: Sequence[SetCounts]) -> SetScores:
    """Average the counts of questions, weighting each question equally."""
    precision = mean_of_known(each.precision for each in counts)
    recall = mean_of_known(each.recall for each in counts)
    return SetScores(
        harmonic_mean(precision, recall),
        mean_of_known(each.f1 for each in counts),
        recall,
        precision,
        sum(each.retrieved > 0 for each in counts),
    )


def harmonic_mean(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean, 0 if both are 0; None if one is None."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the relevant papers among the first k."""
    return len(set(ranked[:k]).intersection(relevant)) / len(relevant)
