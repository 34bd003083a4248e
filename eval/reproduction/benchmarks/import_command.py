"""Command `experiment import`."""

from pathlib import Path

import click

from base.amounts import counted
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter
from eval.reproduction.benchmarks import LAYOUTS


@click.command("import", short_help="Turn a published benchmark into topics, qrels and papers.")
@click.argument("layout", type=click.Choice(list(LAYOUTS)), metavar="LAYOUT")
@click.argument("path", type=PathParameter(exists=True), metavar="PATH")
@click.option("--out", required=True, type=PathParameter(file_okay=False), help="Folder for the files.")
@click.option(
    "--split", default="test", show_default=True, help="Part of the benchmark: a file's name without ending."
)
def import_command(layout: str, path: Path, out: Path, split: str) -> None:
    """Turn a published benchmark into topics, qrels and papers.

    LAYOUT is autoscholar (AutoScholarQuery, RealScholarQuery), sparbench, litsearch, beir (TREC-COVID,
    SciDocs), or miracl (Korean, English, or both with ids by language). PATH is its folder, or its file if it
    has only one. The files written are topics.jsonl, qrels.txt, and papers.jsonl for `shrag index`; a
    benchmark without a corpus has only its relevant papers there.
    """
    from eval.reproduction.benchmarks.importing import import_benchmark

    made = import_benchmark(layout, path, out, split)
    numbers = (
        counted(made.questions, "question"),
        counted(made.judgements, "judgement"),
        counted(made.papers, "paper"),
    )
    echo(f"{out}: {', '.join(numbers)}")
    echo_lines([f"note: {note}" for note in made.notes], err=True)
