"""Benchmark of indexing and searching: figures with and without bars.

    python -m benchmarks [--home DIR] [--documents N] [--only PART] [--json]

Ratios are measured alternately in one run, and compared with bars. Absolute figures depend on the machine
printed with them.
"""

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import click

from base.terminal.output import echo
from benchmarks.corpora.index import Plan, measure_generated_index
from benchmarks.corpora.korean import DATA, korean_passages
from benchmarks.figures import Figure, machine, report, rounds_option, strict_option
from benchmarks.indexing import measure_analysis, measure_cold_start, measure_indexing
from benchmarks.memory import measure_memory
from benchmarks.progressive import measure_cluster_queries, measure_queries
from eval.progress import question_bar
from indexer.options import json_option


def measure_cluster(plan: Plan) -> list[Figure]:
    """Measure a cluster and the embedded engine, if a cluster is configured."""
    if not os.environ.get("SHRAG_ELASTICSEARCH__URL"):
        echo("SHRAG_ELASTICSEARCH__URL is not set: cluster skipped", err=True)
        return []
    return measure_cluster_queries(plan)


PARTS: dict[str, tuple[Callable[[Plan], list[Figure]], ...]] = {
    "generated": (measure_generated_index, measure_queries, measure_memory),
    "analysis": (measure_analysis,),
    "indexing": (measure_indexing,),
    "cold-start": (measure_cold_start,),
    "elasticsearch": (measure_cluster,),
}


@click.command()
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    help="Folder of the indexes, kept for the next run. Default: a temporary folder.",
)
@click.option("--documents", type=click.IntRange(1), default=1_000_000, show_default=True)
@rounds_option(3)
@click.option("--only", type=click.Choice(list(PARTS)), help="Run only this part.")
@click.option("--data", type=click.Path(path_type=Path), default=DATA, show_default=True)
@strict_option
@json_option
def main(
    home: Path | None, documents: int, rounds: int, only: str, data: Path, *, strict: bool, as_json: bool
) -> None:
    """Measure indexing and searching, and compare the figures with their bars."""
    facts = machine()
    figures: list[Figure] = []
    with ExitStack() as stack:
        if home is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="shrag-bench-")))
        progress = stack.enter_context(question_bar())
        plan = Plan(home.resolve(), documents, rounds, korean_passages(data), progress)
        for part in [only] if only else PARTS:
            echo(f"{part} …", err=True)
            for measure in PARTS[part]:
                figures += measure(plan)
    report(figures, facts, as_json=as_json, strict=strict)


if __name__ == "__main__":
    main()
