"""The command `experiment`: one subcommand for each experiment, `repeat` and `diff`."""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.columns import table
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from eval.reproduction.benchmarks.import_command import import_command
from eval.reproduction.experiment import Experiment, ExperimentCall, Outcome, experiments
from retriever.options import COMPLETIONS

if TYPE_CHECKING:
    from eval.reproduction.folder import ReadManifest

FOLDER = PathParameter(exists=True, file_okay=False)


@click.group("experiment")
def experiment() -> None:
    """Make a table or figure of a paper on your own index and judgements."""


experiment.add_command(import_command)


def _command(name: str, found: Experiment) -> click.Command:
    @click.command(name, cls=SectionedCommand)
    @call_options(found.call, COMPLETIONS)
    @option_section(
        Section.OUTPUT,
        click.option(
            "--out", required=True, type=PathParameter(file_okay=False), help="Folder of the results."
        ),
    )
    def command(call: ExperimentCall, *, out: Path) -> None:
        outcome, results = run_experiment(name, call, out)
        _print_outcome(outcome)
        echo(f"{out}: {', '.join(results)}", err=True)

    command.help = f"{found.title} ({found.source}).\n\n{found.description}"
    return command


def run_experiment(name: str, call: ExperimentCall, out: Path) -> tuple[Outcome, dict[str, str]]:
    """Run an experiment and write its folder; return the outcome, and the SHA-256 of each file.

    Raises:
        BadTopics, BadQrels, UnitsDiffer: the inputs cannot be used, with file and line.
        InvalidCall: no topic has a relevant judgement, or as `check_folder`.
    """
    from eval.reproduction.figures import check_plots
    from eval.reproduction.folder import check_folder, write_results
    from eval.reproduction.materials import made_with, opened_materials

    found, started = experiments()[name], time.time()
    check_plots()
    check_folder(out, name, (call.topics, call.qrels))
    with opened_materials(call) as materials:
        outcome = asyncio.run(found.run(call, materials))
        record = made_with(name, call, materials)
        return outcome, write_results(out, found, outcome, record, started)


@experiment.command()
@click.argument("folder", type=FOLDER)
def repeat(folder: Path) -> None:
    """Repeat the experiment of FOLDER; exit 1 if a result differs."""
    from eval.reproduction.folder import read_manifest

    then = read_manifest(folder)
    if then.experiment not in experiments():
        raise click.UsageError(f"there is no experiment {then.experiment!r} in this version")
    call = experiments()[then.experiment].call.of(**then.call)
    with tempfile.TemporaryDirectory() as place:
        run_experiment(then.experiment, call, Path(place))
        now = read_manifest(Path(place))
    _report_differences(then, now)


@experiment.command()
@click.argument("first", type=FOLDER)
@click.argument("second", type=FOLDER)
def diff(first: Path, second: Path) -> None:
    """List the differences of two folders: index, options, inputs, packages, and results; exit 1 if any."""
    from eval.reproduction.folder import read_manifest

    _report_differences(read_manifest(first), read_manifest(second))


def _report_differences(first: "ReadManifest", second: "ReadManifest") -> None:
    """Print the differences of two manifests; exit 1 if there are any."""
    from eval.reproduction.folder import differences

    found = list(differences(first.model_dump(), second.model_dump()))
    echo_lines(found or ["no differences"])
    if found:
        raise click.exceptions.Exit(1)


def _print_outcome(outcome: Outcome) -> None:
    """Print the tables, and the notes on standard error."""
    from eval.reproduction.report import formatted

    for each in outcome.tables:
        echo(each.title)
        echo_lines(table([each.columns, *([formatted(cell) for cell in row] for row in each.rows)], words=1))
    for note in outcome.notes:
        echo(f"note: {note}", err=True)


for each_name, each_experiment in experiments().items():
    experiment.add_command(_command(each_name, each_experiment))
