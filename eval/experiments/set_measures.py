"""Precision, recall and F1 of sets of papers (SPAR, equations 1 to 3), as columns of a table.

A record has the counts of a question: `retrieved` and `relevant` papers, and `found`, which are both. SPAR
prints one F1 for a benchmark. In its table 1 it is the harmonic mean of the printed precision and recall
(.3612 and .4105 give .3843), so of means over questions. The mean of each question's F1 is another value.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from eval.experiments.comparing import Column
from eval.experiments.experiment import Cell
from eval.experiments.topic import Record
from eval.statistics import mean_of_known

BENCHMARKS = ("AutoScholarQuery", "SPARBench")  # of SPAR's tables
NOTES = (
    "F1: harmonic mean of mean recall and mean precision, as in SPAR. Mean F1: mean over the questions.",
    "Mean precision is over the questions with papers, all others over all questions. –: no valid value.",
)


def set_counts(retrieved: Iterable[str], relevant: Collection[str]) -> dict[str, int]:
    """Count ids; a repeated id counts once."""
    distinct = set(retrieved)
    found = distinct.intersection(relevant)
    return {"retrieved": len(distinct), "relevant": len(relevant), "found": len(found)}


def recall(records: Sequence[Record]) -> float | None:
    """Return the mean recall over the questions with relevant papers; 0 for one without retrieved papers."""
    return mean_of_known(each["found"] / each["relevant"] for each in records if each["relevant"])


def precision(records: Sequence[Record]) -> float | None:
    """Return the mean precision over the questions with retrieved papers."""
    return mean_of_known(each["found"] / each["retrieved"] for each in records if each["retrieved"])


def f1(records: Sequence[Record]) -> float | None:
    """Return the harmonic mean of mean precision and mean recall, as SPAR prints it."""
    return harmonic_mean(precision(records), recall(records))


def mean_f1(records: Sequence[Record]) -> float | None:
    """Return the mean of each question's F1; a question without retrieved papers counts 0."""
    return mean_of_known(f1_of(each) for each in records if each["relevant"])


def f1_of(record: Record) -> float:
    """Return the F1 of a question; 0 without relevant papers."""
    papers: int = record["retrieved"] + record["relevant"]
    return 2 * record["found"] / papers if papers else 0.0


def harmonic_mean(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean, 0 if both are 0; None if one is None."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


MEASURES: Mapping[str, Column] = {"F1": f1, "recall": recall, "precision": precision}
COLUMNS: Mapping[str, Column] = {
    **MEASURES,
    "mean F1": mean_f1,
    "questions with papers": lambda records: sum(each["retrieved"] > 0 for each in records),
}
MAIN: Mapping[str, Column] = {"F1": f1, "Recall": recall, "Precision": precision}


def of_benchmarks(published: Iterable[Sequence[Cell]]) -> dict[str, Sequence[Cell]]:
    """Return F1, recall and precision by `SYSTEM, BENCHMARK`, of rows with both benchmarks."""
    return {
        f"{system}, {benchmark}": values[place : place + len(MEASURES)]
        for system, *values in published
        for place, benchmark in zip(range(0, len(values), len(MEASURES)), BENCHMARKS, strict=True)
    }
