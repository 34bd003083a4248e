"""The command `experiment`: one subcommand for each experiment, `repeat` and `diff`."""

import tempfile
from pathlib import Path

import click

from base.amounts import counted
from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from eval.experiments.benchmarks import LAYOUTS
from eval.experiments.experiment import Experiment, ExperimentCall, Outcome, experiments
from retriever.options import COMPLETIONS


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
    from eval.experiments.benchmarks.importing import import_benchmark

    made = import_benchmark(layout, path, out, split)
    numbers = (
        counted(made.questions, "question"),
        counted(made.judgements, "judgement"),
        counted(made.papers, "paper"),
    )
    echo(f"{out}: {', '.join(numbers)}")
    echo_lines([f"note: {note}" for note in made.notes], err=True)


FOLDER = PathParameter(exists=True, file_okay=False)


@click.group("experiment")
def experiment() -> None:
    """Make a table or figure of a paper on your own index and judgements.

    The papers are SHRAG, SPAR and a report on paper-QA.
    """


experiment.add_command(import_command)


parallel_option = click.option(
    "--parallel",
    type=click.IntRange(1, 1024),
    help="Concurrent topics. Default: 1, with a language model SHRAG_LLM__CONCURRENCY.",
)


def _command(name: str, found: Experiment) -> click.Command:
    @click.command(name, cls=SectionedCommand)
    @call_options(found.call, COMPLETIONS)
    @option_section(
        Section.OUTPUT,
        click.option(
            "--out", required=True, type=PathParameter(file_okay=False), help="Folder of the results."
        ),
        click.option(
            "--restart", is_flag=True, help="Repeat all topics, also finished ones that the folder keeps."
        ),
        parallel_option,
    )
    def command(call: ExperimentCall, *, out: Path, restart: bool, parallel: int | None) -> None:
        from eval.experiments.running import run_experiment

        finished = run_experiment(name, call, out, restart=restart, parallel=parallel)
        _print_outcome(finished.outcome)
        echo(f"{out}: {', '.join(finished.files)}", err=True)

    requires = f" Requires {found.requires}." if found.requires else ""
    command.short_help = f"{found.title} ({found.source})"
    command.help = f"{found.title} ({found.source}).{requires}\n\n{found.description}"
    return command


@experiment.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", "index", help="Index to use instead of the one with the same name.")
@parallel_option
def repeat(folder: Path, index: str | None, parallel: int | None) -> None:
    """Repeat an experiment; exit 1 if a metric differs.

    The inputs are the copies in FOLDER. Differences of index, settings, models and packages are listed too:
    they are possible causes.
    """
    from eval.experiments.folder import call_values, differing, read_results
    from eval.experiments.running import run_experiment

    then = read_results(folder)
    name = then.manifest.experiment
    if name not in experiments():
        raise click.UsageError(f"there is no experiment {name!r} in this version")
    values = call_values(folder, then.manifest) | ({"index": index} if index else {})
    with tempfile.TemporaryDirectory() as place:
        run_experiment(name, experiments()[name].call.of(**values), Path(place), parallel=parallel)
        made, metrics = differing(then, read_results(Path(place)))
    echo_lines([*made, *metrics] or ["no differences"])
    if metrics:
        raise click.exceptions.Exit(1)


@experiment.command()
@click.argument("first", type=FOLDER)
@click.argument("second", type=FOLDER)
def diff(first: Path, second: Path) -> None:
    """List the differences of two folders of results.

    They are those of index, options, inputs, packages and metrics; the exit code is 1 if there are any.
    """
    from eval.experiments.folder import differing, read_results

    made, metrics = differing(read_results(first), read_results(second))
    echo_lines([*made, *metrics] or ["no differences"])
    if made or metrics:
        raise click.exceptions.Exit(1)


def _print_outcome(outcome: Outcome) -> None:
    """Print the tables, and the notes on standard error."""
    from eval.experiments.report import table_lines

    for each in outcome.tables:
        echo_lines(table_lines(each))
    for note in outcome.notes:
        echo(f"note: {note}", err=True)


for each_name, each_experiment in experiments().items():
    experiment.add_command(_command(each_name, each_experiment))
