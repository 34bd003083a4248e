"""Tables and the figure of a benchmark: stages, contribution of each method, agreement, grades, questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.experiments.experiment import Cell, Table
from eval.experiments.figures import Bar, BarPanel, Figure
from eval.judging.records import HIGHEST_GRADE, Assessment, Judged, Pair
from eval.judging.stages import (
    STAGES,
    Stage,
    agreements,
    automatic_stages,
    confirmed_stage,
    final_grades,
    grades_of,
    stage_call,
)
from eval.judging.store import Benchmark
from eval.statistics import mean_of_known

GRADES = range(HIGHEST_GRADE + 1)


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
        return cls(benchmark, stages, confirmed_stage(stages[-1], grades), grades, scores)

    @property
    def relevant(self) -> set[Pair]:
        """The pairs graded 1 or higher, also pairs that a stage dropped."""
        return {pair for pair, each in self.grades.items() if each.grade}

    @property
    def funnel(self) -> list[Stage]:
        """All stages; the confirmed one only if a person graded a paper."""
        return [*self.stages, self.confirmed] if self.grades else list(self.stages)


def stages_table(results: Results) -> Table:
    """Return the number of papers at each stage, as SPAR's figure 5 has them."""
    pooled, questions = len(results.stages[0].pairs), len(results.benchmark.selected)
    judges: dict[str, tuple[Cell, Cell]] = {"pooled": (None, None), "confirmed": ("persons", None)}
    for name in STAGES:
        if call := stage_call(results.benchmark, name):
            by = f"{call.options['judge']} {call.made_with.get('model', '')}".strip()
            judges[name] = by, call.options["threshold"]
    rows = [
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
    ]
    columns = ("stage", "papers", "% of pool", "reduction %", "per question", "judged", "by", "threshold")
    return Table("Papers at each stage", columns, tuple(rows))


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
    rows: list[tuple[Cell, ...]] = [
        (*ranking, *(of[name] for name in names)) for ranking, of in counts.items()
    ]
    return Table("Papers of each method", ("method", "searched in", *names), tuple(rows))


def agreement_table(benchmark: Benchmark) -> Table:
    """Return the agreement of each two assessors."""
    rows = (
        (
            ", ".join(names),
            both[0].compared,
            *(value for of in both for value in (100 * (of.share or 0.0), of.kappa)),
        )
        for names, both in agreements(benchmark.assessments).items()
    )
    columns = ("assessors", "papers", "equal %", "kappa", "relevant: equal %", "relevant: kappa")
    return Table("Agreement of assessors on grades, and on relevant or not", columns, tuple(rows))


def assessors_table(benchmark: Benchmark) -> Table:
    """Return the number of papers with each grade, by assessor."""
    counts = {name: Counter(each.grade for each in of.values()) for name, of in benchmark.assessments.items()}
    rows: list[tuple[Cell, ...]] = [
        (name, of.total(), *(of[grade] for grade in GRADES)) for name, of in counts.items()
    ]
    columns = ("assessor", "graded", *(f"grade {grade}" for grade in GRADES))
    return Table("Grades of each assessor", columns, tuple(rows))


def scores_table(results: Results) -> Table:
    """Return the mean score by each judge of the papers with each grade."""
    rows: list[tuple[Cell, ...]] = []
    for grade in GRADES:
        pairs = [pair for pair, each in results.grades.items() if each.grade == grade]
        of_judges = ([of[pair].score for pair in pairs if pair in of] for of in results.scores.values())
        rows.append((grade, len(pairs), *map(mean_of_known, of_judges)))
    columns = ("grade", "papers", *results.scores)
    return Table("Mean score of the papers with each grade", columns, tuple(rows))


def questions_table(results: Results) -> Table:
    """Return the number of papers of each question."""
    parts: dict[str, Iterable[Pair]] = {
        "pooled": results.stages[0].pairs,
        "passed": results.stages[-1].pairs,
        "graded": results.grades,
        "relevant": results.relevant,
    }
    counts = [Counter(query_id for query_id, _ in pairs) for pairs in parts.values()]
    rows: list[tuple[Cell, ...]] = [
        (query_id, *(of[query_id] for of in counts)) for query_id in results.benchmark.selected
    ]
    return Table("Papers of each question", ("query_id", *parts), tuple(rows))


def funnel_figure(results: Results) -> Figure:
    """Return the number of papers at each stage as bars on a logarithmic scale (SPAR, figure 5)."""
    pooled = len(results.stages[0].pairs)
    bars = []
    for place, stage in enumerate(results.funnel):
        count = len(stage.pairs)
        share = f"{count:,}\n{100 * count / pooled:.1f} %" if pooled else f"{count:,}"
        reduced = f"\n−{stage.of - count:,} ({stage.reduction:.1f} %)" if place and stage.of else ""
        bars.append(Bar(stage.name, count, share + reduced))
    panel = BarPanel("", "pairs of question and paper", tuple(bars))
    return Figure("funnel", "Papers at each stage", (panel,))
