"""The stages of a benchmark from the pool to the papers confirmed by persons (SPAR, figures 3 and 5).

| stage | question and paper pairs |
|---|---|
| pooled | papers of any ranking |
| coarse, fine | papers of the stage before with a score of at least the threshold |
| confirmed | papers that a person graded 1 or higher |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

from eval.judging.records import Assessment, CallRecord, Judged, Pair, StageName
from eval.judging.store import Benchmark
from eval.statistics import Agreement, agreement, wilson

STAGES: tuple[StageName, ...] = get_args(StageName)
JUDGE_STEP = "judge {}"  # name of a stage's calls


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: the pairs that passed it, and the number of pairs that it has judged so far."""

    name: str
    pairs: tuple[Pair, ...]
    judged: int
    of: int  # pairs of the stage before

    @property
    def reduction(self) -> float | None:
        """The share of pairs of the stage before that did not pass, in percent; None without pairs."""
        return 100 * (1 - len(self.pairs) / self.of) if self.of else None


def automatic_stages(benchmark: Benchmark) -> list[Stage]:
    """Return the pool, and the stages judged by rules and models."""
    stages = [Stage("pooled", benchmark.pooled, len(benchmark.pooled), len(benchmark.pooled))]
    for name in STAGES:
        if call := stage_call(benchmark, name):
            grades, before = grades_of(benchmark, call), stages[-1].pairs
            judged = [pair for pair in before if pair in grades]
            passed = tuple(pair for pair in judged if grades[pair].score >= call.options["threshold"])
            stages.append(Stage(name, passed, len(judged), len(before)))
    return stages


def confirmed_stage(before: Stage, grades: Mapping[Pair, Assessment]) -> Stage:
    """Return the stage of the papers that persons graded 1 or higher."""
    judged = [pair for pair in before.pairs if pair in grades]
    relevant = tuple(pair for pair in judged if grades[pair].grade)
    return Stage("confirmed", relevant, len(judged), len(before.pairs))


def stage_call(benchmark: Benchmark, stage: StageName) -> CallRecord | None:
    """Return the last call of a stage: its judge and its threshold count."""
    return benchmark.last_call(JUDGE_STEP.format(stage))


def grades_of(benchmark: Benchmark, call: CallRecord) -> dict[Pair, Judged]:
    """Return the judgements on the scale of a stage's call; those by other judges or models are left out."""
    calls = [each for each in [*benchmark.calls, call] if each.step == call.step]
    comparable = {each.number for each in calls if each.scale == call.scale}
    return {benchmark.key(each): each for each in benchmark.judged if each.call in comparable}


def final_grades(benchmark: Benchmark, precedence: Sequence[str] = ()) -> dict[Pair, Assessment]:
    """Return the grade of each pair: of the first assessor of the precedence who graded the paper.

    Assessors that are not named follow in the order of their first assessment.
    """
    grades: dict[Pair, Assessment] = {}
    for name in dict.fromkeys([*precedence, *benchmark.assessments]):
        grades = {**benchmark.assessments.get(name, {}), **grades}
    return grades


def agreements(
    assessments: Mapping[str, Mapping[Pair, Assessment]],
) -> dict[tuple[str, str], tuple[Agreement, Agreement]]:
    """Return the agreement of all pairs of assessors on the papers that both graded, if any.

    The first one is of the grades; the second one of relevant (1 to 3) or not (0).
    """
    found = {}
    for first, second in combinations(assessments, 2):
        one, other = assessments[first], assessments[second]
        grades = [(one[pair].grade, other[pair].grade) for pair in one if pair in other]
        if grades:
            relevant = agreement([(grade > 0, again > 0) for grade, again in grades])
            found[first, second] = agreement(grades), relevant
    return found


@dataclass(frozen=True, slots=True)
class Missed:
    """Dropped papers, the graded ones, the relevant ones among these, and the estimate for all dropped.

    `low` and `high` are the bounds of the 95 % interval.
    """

    dropped: int
    graded: int
    relevant: int
    estimate: float
    low: float
    high: float


def missed(
    pooled: Sequence[Pair], passed: Sequence[Pair], grades: Mapping[Pair, Assessment]
) -> Missed | None:
    """Estimate the relevant papers that the stages dropped, from the graded ones among the dropped papers.

    The interval is Wilson's, for a random sample. None if none of the dropped papers is graded.
    """
    dropped = set(pooled) - set(passed)
    graded = [bool(grades[pair].grade) for pair in dropped if pair in grades]
    if not graded:
        return None
    shares = sum(graded) / len(graded), *wilson(sum(graded), len(graded))
    return Missed(len(dropped), len(graded), sum(graded), *(share * len(dropped) for share in shares))
