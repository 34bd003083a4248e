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

from eval.judging.folder import Benchmark
from eval.judging.records import Assessment, CallRecord, Judged, Pair, StageName
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
    def is_complete(self) -> bool:
        """Whether all pairs of the stage before are judged."""
        return self.judged == self.of

    @property
    def reduction(self) -> float | None:
        """The share of pairs of the stage before that did not pass, in percent; None without pairs."""
        return 100 * (1 - len(self.pairs) / self.of) if self.of else None


def automatic_stages(benchmark: Benchmark) -> list[Stage]:
    """Return the pool, and the stages judged by rules and models."""
    pooled = tuple(
        (query_id, candidate.key)
        for query_id, candidates in benchmark.candidates.items()
        for candidate in candidates
    )
    stages = [Stage("pooled", pooled, len(pooled), len(pooled))]
    for name in STAGES:
        if call := stage_call(benchmark, name):
            before = stages[-1].pairs
            grades = grades_of(benchmark, call)
            judged = [pair for pair in before if pair in grades]
            passed = tuple(pair for pair in judged if grades[pair].score >= call.options.threshold)
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
    comparable = {each.number for each in [*benchmark.calls, call] if each.scale == call.scale}
    return {benchmark.key(each): each for each in benchmark.judged if each.call in comparable}


def final_grades(benchmark: Benchmark, precedence: Sequence[str] = ()) -> dict[Pair, Assessment]:
    """Return the grade of each pair: of the first assessor of the precedence who graded the paper.

    Assessors that are not named follow in the order of their first assessment.
    """
    order = [*precedence, *(name for name in assessors(benchmark) if name not in precedence)]
    grades: dict[Pair, Assessment] = {}
    for name in order:
        grades = {**benchmark.assessments.get(name, {}), **grades}
    return grades


def assessors(benchmark: Benchmark) -> list[str]:
    """Return the names of the assessors in the order of their first assessment."""
    firsts = {
        name: min(each.at for each in lines.values())
        for name, lines in benchmark.assessments.items()
        if lines
    }
    return sorted(firsts, key=lambda name: (firsts[name], name))


@dataclass(frozen=True, slots=True)
class AssessorAgreement:
    """The agreement of two assessors on the papers that both graded.

    `relevant` compares two grades only, relevant (1 to 3) or not (0).
    """

    first: str
    second: str
    grades: Agreement
    relevant: Agreement


def agreements(assessments: Mapping[str, Mapping[Pair, Assessment]]) -> list[AssessorAgreement]:
    """Return the agreement of all pairs of assessors that graded a paper in common."""
    found = []
    for first, second in combinations(assessments, 2):
        one, other = assessments[first], assessments[second]
        grades = [(one[pair].grade, other[pair].grade) for pair in one if pair in other]
        relevant = agreement([(grade > 0, again > 0) for grade, again in grades])
        if grades:
            found.append(AssessorAgreement(first, second, agreement(grades), relevant))
    return found


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
    """Estimate the relevant papers that the stages dropped, from the graded ones among the dropped papers.

    The interval is Wilson's, for a random sample. None if none of the dropped papers is graded.
    """
    dropped = set(pooled) - set(passed)
    graded = [grades[pair] for pair in dropped if pair in grades]
    if not graded:
        return None
    relevant = sum(bool(each.grade) for each in graded)
    low, high = wilson(relevant, len(graded))
    return Missed(len(dropped), len(graded), relevant, low * len(dropped), high * len(dropped))
