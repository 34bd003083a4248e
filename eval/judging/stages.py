"""The stages of a benchmark from the pool to the papers confirmed by persons (SPAR, figures 3 and 5).

| stage | question and paper pairs |
|---|---|
| pooled | papers of any ranking |
| coarse, fine | papers of the stage before with a score of at least the threshold |
| confirmed | papers that a person graded 1 or higher |
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, get_args

from eval.experiments.comparing import Cell, Table
from eval.experiments.report import Figure, Panel
from eval.judging.benchmark import HIGHEST_GRADE, Assessment, Benchmark, CallRecord, Judged, Pair, StageName
from eval.statistics import Agreement, agreement, mean_of_known, wilson

STAGES: tuple[StageName, ...] = get_args(StageName)
JUDGE_STEP = "judge {}"  # name of a stage's calls
GRADES = range(HIGHEST_GRADE + 1)


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
        if grades := [(one[pair].grade, other[pair].grade) for pair in one if pair in other]:
            relevant = agreement([(grade > 0, again > 0) for grade, again in grades])
            found[first, second] = agreement(grades), relevant
    return found


class Missed(NamedTuple):
    """Dropped papers, graded and relevant ones among them, and the estimate with its 95 % interval."""

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


@dataclass(frozen=True, slots=True)
class Results:
    """The values of the tables."""

    benchmark: Benchmark
    stages: Sequence[Stage]  # from the pool to the last judge
    confirmed: Stage  # papers of the last stage that persons graded 1 or higher
    grades: Mapping[Pair, Assessment]  # the grade of each pair that counts
    scores: Mapping[str, Mapping[Pair, Judged]]  # the judgements of each automatic stage

    @classmethod
    def of(cls, benchmark: Benchmark, precedence: Sequence[str] = ()) -> "Results":
        """Compute the values; `precedence` names the assessors whose grades count first."""
        stages, grades = automatic_stages(benchmark), final_grades(benchmark, precedence)
        calls = {stage: stage_call(benchmark, stage) for stage in STAGES}
        scores: dict[str, Mapping[Pair, Judged]] = {
            stage: grades_of(benchmark, call) for stage, call in calls.items() if call
        }
        judged = [pair for pair in stages[-1].pairs if pair in grades]
        relevant = tuple(pair for pair in judged if grades[pair].grade)
        confirmed = Stage("confirmed", relevant, len(judged), len(stages[-1].pairs))
        return cls(benchmark, stages, confirmed, grades, scores)

    @property
    def relevant(self) -> set[Pair]:
        """The pairs graded 1 or higher, also pairs that a stage dropped."""
        return {pair for pair, each in self.grades.items() if each.grade}

    @property
    def funnel(self) -> list[Stage]:
        """All stages; the confirmed one only if a person graded a paper."""
        return [*self.stages, self.confirmed] if self.grades else list(self.stages)

    def tables(self) -> Iterator[Table]:
        """Yield all tables that have rows."""
        tables = (
            stages_table(self),
            methods_table(self),
            *([scores_table(self)] if self.scores else ()),
            assessors_table(self.benchmark),
            agreement_table(self.benchmark),
            questions_table(self),
        )
        yield from (table for table in tables if table.rows)


def _table(title: str, columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> Table:
    return Table(title, tuple(columns), tuple(rows))


def stages_table(results: Results) -> Table:
    """Return the number of papers at each stage, as SPAR's figure 5 has them."""
    pooled, questions = len(results.stages[0].pairs), len(results.benchmark.selected)
    judges: dict[str, tuple[Cell, Cell]] = {"pooled": (None, None), "confirmed": ("persons", None)}
    for name in STAGES:
        if call := stage_call(results.benchmark, name):
            by = f"{call.options['judge']} {call.made_with.get('model', '')}".strip()
            judges[name] = by, call.options["threshold"]
    rows = (
        (
            stage.name,
            len(stage.pairs),
            100 * len(stage.pairs) / pooled if pooled else None,
            stage.reduction if place else None,
            len(stage.pairs) / questions if questions else None,
            stage.judged if place else None,
            *judges[stage.name],
        )
        for place, stage in enumerate(results.funnel)
    )
    columns = ("stage", "papers", "% of pool", "reduction %", "per question", "judged", "by", "threshold")
    return _table("Papers at each stage", columns, rows)


def methods_table(results: Results) -> Table:
    """Return the papers and relevant papers of each ranking, and the number that it alone found."""
    passed, relevant = set(results.stages[-1].pairs), results.relevant
    counts: dict[tuple[str, str], Counter[str]] = {}
    for query_id, candidates in results.benchmark.candidates.items():
        for candidate in candidates:
            pair, alone = (query_id, candidate.key), len(candidate.found) == 1
            named = {"papers": True, "found alone": alone, "passed": pair in passed}
            named |= {"relevant": pair in relevant, "relevant alone": alone and pair in relevant}
            for at in candidate.found:
                counts.setdefault((at.method, at.place), Counter()).update(named)
    names = ("papers", "found alone", "passed", "relevant", "relevant alone")
    rows = ((*ranking, *(of[name] for name in names)) for ranking, of in counts.items())
    return _table("Papers of each method", ("method", "searched in", *names), rows)


def agreement_table(benchmark: Benchmark) -> Table:
    """Return the agreement of each two assessors."""
    rows = (
        (", ".join(names), both[0].compared, *(of for each in both for of in (_percent(each), each.kappa)))
        for names, both in agreements(benchmark.assessments).items()
    )
    columns = ("assessors", "papers", "equal %", "kappa", "relevant: equal %", "relevant: kappa")
    return _table("Agreement of assessors on grades, and on relevant or not", columns, rows)


def _percent(of: Agreement) -> float:
    return 100 * (of.share or 0.0)


def assessors_table(benchmark: Benchmark) -> Table:
    """Return the number of papers with each grade, by assessor."""
    counts = {name: Counter(each.grade for each in of.values()) for name, of in benchmark.assessments.items()}
    rows = ((name, of.total(), *(of[grade] for grade in GRADES)) for name, of in counts.items())
    columns = ("assessor", "graded", *(f"grade {grade}" for grade in GRADES))
    return _table("Grades of each assessor", columns, rows)


def scores_table(results: Results) -> Table:
    """Return the mean score by each judge of the papers with each grade."""
    rows = []
    for grade in GRADES:
        pairs = [pair for pair, each in results.grades.items() if each.grade == grade]
        of_judges = ([of[pair].score for pair in pairs if pair in of] for of in results.scores.values())
        rows.append((grade, len(pairs), *map(mean_of_known, of_judges)))
    return _table("Mean score of the papers with each grade", ("grade", "papers", *results.scores), rows)


def questions_table(results: Results) -> Table:
    """Return the number of papers of each question."""
    parts: dict[str, Iterable[Pair]] = {
        "pooled": results.stages[0].pairs,
        "passed": results.stages[-1].pairs,
        "graded": results.grades,
        "relevant": results.relevant,
    }
    counts = [Counter(query_id for query_id, _ in pairs) for pairs in parts.values()]
    rows = ((query_id, *(of[query_id] for of in counts)) for query_id in results.benchmark.selected)
    return _table("Papers of each question", ("query_id", *parts), rows)


def funnel_figure(results: Results) -> Figure:
    """Return the number of papers at each stage as bars on a logarithmic scale (SPAR, figure 5)."""
    pooled = len(results.stages[0].pairs)
    bars = []
    for place, stage in enumerate(results.funnel):
        count = len(stage.pairs)
        share = f"{count:,}\n{100 * count / pooled:.1f} %" if pooled else f"{count:,}"
        reduced = f"\n−{stage.of - count:,} ({stage.reduction:.1f} %)" if place and stage.of else ""
        bars.append((stage.name, count, share + reduced))
    panel = Panel("", "", "pairs of question and paper", bars=tuple(bars))
    return Figure("funnel", "Papers at each stage", (panel,))
