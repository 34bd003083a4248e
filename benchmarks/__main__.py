"""The benchmark of indexing and searching: figures with bars and without.

    python -m benchmarks [--home DIR] [--documents N] [--only PART] [--json]

Ratios are of one run, measured in turn, and held to their bars; absolute figures belong to the machine that
is printed with them.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.analysis import measure_analysis
from benchmarks.cold_start import measure_cold_start
from benchmarks.figures import Figure, machine, report, rounds_option, strict_option
from benchmarks.generated_index import measure_generated_index
from benchmarks.indexing import ensure_korean_index, measure_indexing
from benchmarks.korean import Passage, korean_passages, texts_of
from benchmarks.memory import measure_memory
from benchmarks.progressive import QUESTIONS, measure_cluster_queries, measure_queries
from eval.experiments.options import DATA
from eval.progress import question_bar
from indexer.options import json_option
from indexer.requests import Progress

VECTORS = 200_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What all parts share."""

    home: Path
    documents: int
    rounds: int
    passages: list[Passage]
    progress: Progress


def generated(plan: Plan) -> list[Figure]:
    """Measure the index of the generated corpus, built where it is missing."""
    name, figures = measure_generated_index(plan.home, plan.documents, plan.progress)
    queries = measure_queries(plan.home, name, QUESTIONS, plan.rounds, plan.progress)
    return [*figures, *queries, *measure_memory(plan.home, name, QUESTIONS)]


def analysis(plan: Plan) -> list[Figure]:
    """Measure the analyzers."""
    return measure_analysis(texts_of(plan.passages), 2 * plan.rounds + 1)


def indexing(plan: Plan) -> list[Figure]:
    """Measure whole builds."""
    return measure_indexing(plan.home, plan.passages, plan.rounds, plan.progress)


def cold_start(plan: Plan) -> list[Figure]:
    """Measure the command."""
    return measure_cold_start(plan.home, ensure_korean_index(plan.home, plan.passages))


def cluster(plan: Plan) -> list[Figure]:
    """Measure a cluster beside the embedded engine, where the settings name one."""
    if not os.environ.get("SHRAG_ELASTICSEARCH__URL"):
        click.echo("no server named in SHRAG_ELASTICSEARCH__URL: left out", err=True)
        return []
    from benchmarks.cluster_loading import measure_build_memory, measure_loading
    from benchmarks.cluster_vectors import measure_similarities

    return [
        *measure_cluster_queries(plan.home, plan.documents, plan.rounds, plan.progress),
        *measure_loading(plan.home, plan.rounds, plan.progress),
        *measure_build_memory(plan.home, plan.passages),
        *measure_similarities(plan.home, min(VECTORS, plan.documents), plan.progress),
    ]


PARTS: dict[str, Callable[[Plan], list[Figure]]] = {
    "generated": generated,
    "analysis": analysis,
    "indexing": indexing,
    "cold-start": cold_start,
    "elasticsearch": cluster,
}


@click.command()
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    help="The folder for the indexes, kept for the next run; a passing one by default.",
)
@click.option("--documents", type=click.IntRange(1), default=1_000_000, show_default=True)
@rounds_option(3)
@click.option(
    "--only",
    "parts",
    type=click.Choice(list(PARTS)),
    multiple=True,
    help="Only this part; may be given again.",
)
@click.option("--data", type=click.Path(path_type=Path), default=DATA, show_default=True)
@strict_option
@json_option
def main(
    home: Path | None,
    documents: int,
    rounds: int,
    parts: tuple[str, ...],
    data: Path,
    *,
    strict: bool,
    as_json: bool,
) -> None:
    """Measure indexing and searching, each figure beside its bar."""
    facts = machine()
    figures: list[Figure] = []
    with ExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shrag-bench-")))
        progress = stack.enter_context(question_bar())
        plan = Plan(home.resolve(), documents, rounds, korean_passages(data), progress)
        for part in parts or PARTS:
            click.echo(f"{part} …", err=True)
            figures += PARTS[part](plan)
    report(figures, facts, as_json=as_json, strict=strict)


if __name__ == "__main__":
    main()
