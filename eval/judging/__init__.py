"""The command `benchmark`: a benchmark made from a corpus, by models and by persons, in steps.

    shrag benchmark questions folder seeds.tsv
    shrag benchmark pool folder --name papers
    shrag benchmark judge folder coarse
    shrag benchmark confirm folder --assessor kim
    shrag benchmark report folder --out made

The stages follow SPARBench (SPAR, section 4.2 and figure 3). The state is one table of records in a file of
the folder (`benchmark.py`): each step appends to it, and resumes after its last record.
"""

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
def command() -> None:
    """Make topics and qrels for your own corpus.

    Papers are pooled, judged by rules or models, and graded by persons in sheets. The steps, in this order:
    questions, select, pool, judge, confirm, report. Each step resumes where it was interrupted, and may be
    repeated with more questions, methods or papers. FOLDER keeps their results.
    """
