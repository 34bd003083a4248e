"""Tables and the figure of a benchmark: the funnel, the contribution of each method, agreement, grades."""

from collections.abc import Sequence

from eval.judging.agreement import agreements
from eval.judging.folder import Benchmark
from eval.judging.funnel import Stage, automatic_stages, confirmed_stage, final_grades, stage_call
from eval.judging.records import StageName
from eval.reproduction.experiment import Table

STAGE_NAMES: dict[str, StageName] = {"coarse": "coarse", "fine": "fine"}


def funnel(benchmark: Benchmark, precedence: Sequence[str]) -> list[Stage]:
    """Return all stages; the last one has the papers that persons graded 1 or higher, if any was graded."""
    stages = automatic_stages(benchmark)
    grades = final_grades(benchmark, precedence)
    return [*stages, confirmed_stage(stages[-1], grades)] if grades else stages


def funnel_table(benchmark: Benchmark, precedence: Sequence[str]) -> Table:
    """Return the table of the stages."""
    stages = funnel(benchmark, precedence)
    pooled = len(stages[0].pairs)
    questions = len(benchmark.selected)
    return Table(
        "Papers at each stage",
        ("stage", "papers", "% of the pool", "reduction %", "per question", "judged", "by", "threshold"),
        tuple(
            (
                stage.name,
                len(stage.pairs),
                100 * len(stage.pairs) / pooled if pooled else None,
                stage.reduction if place else None,
                len(stage.pairs) / questions if questions else None,
                stage.judged if place else None,
                *_judge_of(benchmark, stage.name),
            )
            for place, stage in enumerate(stages)
        ),
    )


def _judge_of(benchmark: Benchmark, stage: str) -> tuple[str | None, float | None]:
    call = stage_call(benchmark, STAGE_NAMES[stage]) if stage in STAGE_NAMES else None
    if call is None:
        return ("persons" if stage == "confirmed" else None), None
    model = call.made_with.get("model", "")
    return " ".join(filter(None, (call.options["judge"], model))), call.options["threshold"]


def agreement_table(benchmark: Benchmark) -> Table:
    """Return the agreement of each two assessors."""
    return Table(
        "Agreement of assessors",
        (
            "assessors",
            "papers",
            "equal %",
            "Cohen's kappa",
            "relevant or not: equal %",
            "relevant or not: kappa",
        ),
        tuple(
            (
                f"{each.first}, {each.second}",
                each.papers,
                each.percent,
                each.kappa,
                each.percent_relevant,
                each.kappa_relevant,
            )
            for each in agreements(benchmark.assessments)
        ),
    )
