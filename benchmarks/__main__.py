"""Benchmark of indexing and searching: figures with and without bars.

    python -m benchmarks [--home DIR] [--documents N] [--only PART] [--json]

Ratios are measured alternately in one run, and compared with bars. Absolute figures depend on the machine
printed with them.
"""

from collections.abc import Callable
from pathlib import Path

import click

from base.terminal.output import echo
from benchmarks.corpora.index import Plan, measure_generated_index
from benchmarks.corpora.korean import DATA, korean_passages
from benchmarks.figures import Figure, benchmark, count_option, home_option
from benchmarks.indexing import measure_analysis, measure_cold_start, measure_indexing
from benchmarks.memory import measure_memory
from benchmarks.progressive import measure_cluster, measure_queries
from eval.progress import question_bar

PARTS: dict[str, tuple[Callable[[Plan], list[Figure]], ...]] = {
    "generated": (measure_generated_index, measure_queries, measure_memory),
    "analysis": (measure_analysis,),
    "indexing": (measure_indexing,),
    "cold-start": (measure_cold_start,),
    "elasticsearch": (measure_cluster,),
}


@benchmark
@home_option
@count_option("--documents", 1_000_000)
@count_option("--rounds", 3)
@click.option("--only", type=click.Choice(list(PARTS)), help="Run only this part.")
@click.option("--data", type=click.Path(path_type=Path), default=DATA, show_default=True)
def main(home: Path, documents: int, rounds: int, only: str, data: Path) -> list[Figure]:
    """Measure indexing and searching, and compare the figures with their bars."""
    figures: list[Figure] = []
    with question_bar() as progress:
        plan = Plan(home, documents, rounds, korean_passages(data), progress)
        for part in [only] if only else PARTS:
            echo(f"{part} …", err=True)
            for measure in PARTS[part]:
                figures += measure(plan)
    return figures


if __name__ == "__main__":
    main()
