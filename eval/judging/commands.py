"""The command `benchmark`: one subcommand for each step, in their order."""

import click

from base.terminal.lazy_commands import LazyGroup

STEPS = {
    "questions": "Add seed questions, and questions derived from them.",
    "select": "Keep or drop derived questions, by a sheet.",
    "pool": "Search by several methods, and pool their papers.",
    "judge": "Judge pooled papers by rules or a language model.",
    "confirm": "Grade the papers that passed, by a sheet.",
    "status": "Count the papers of each stage, and show the agreement.",
    "report": "Write topics, qrels, provenance and a report.",
}


@click.group(
    "benchmark",
    cls=LazyGroup,
    locations={name: (f"eval.judging.steps:{name}_command", summary) for name, summary in STEPS.items()},
)
def benchmark() -> None:
    """Make topics and qrels for your own corpus.

    Papers are pooled, judged by rules or models, and graded by persons in sheets. The steps, in this order:
    questions, select, pool, judge, confirm, report. Each step resumes where it was interrupted, and may be
    repeated with more questions, methods or papers. FOLDER keeps their results.
    """
