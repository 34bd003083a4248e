"""The command `experiment`: one subcommand for each experiment, `import` and `diff`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.lazy_commands import LazyGroup
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from eval.experiments import EXPERIMENTS, load_experiment

if TYPE_CHECKING:
    from eval.experiments.materials import ExperimentCall

FOLDER = PathParameter(exists=True, file_okay=False)
HERE = __name__


@click.command("diff")
@click.argument("first", type=FOLDER)
@click.argument("second", type=FOLDER)
def diff_command(first: Path, second: Path) -> None:
    """List the differences of two folders of results.

    They are those of index, options, inputs, packages and metrics; the exit code is 1 if there are any.
    """
    from eval.experiments.running import differing

    lines = differing(first, second)
    echo_lines(lines or ["no differences"])
    if lines:
        raise click.exceptions.Exit(1)


def __getattr__(name: str) -> click.Command:
    """Return the command of an experiment, which `LazyGroup` looks up here by its name."""
    if name not in EXPERIMENTS:
        raise AttributeError(name)
    from retriever.options import COMPLETIONS

    experiment, (title, source) = load_experiment(name), EXPERIMENTS[name]

    @click.command(name, cls=SectionedCommand)
    @call_options(experiment.call, COMPLETIONS)
    @option_section(
        Section.OUTPUT,
        click.option(
            "--out", required=True, type=PathParameter(file_okay=False), help="Folder of the results."
        ),
        click.option(
            "--restart", is_flag=True, help="Repeat all topics, also finished ones that the folder keeps."
        ),
        click.option(
            "--parallel",
            type=click.IntRange(1, 1024),
            help="Concurrent topics. Default: 1, with a language model SHRAG_LLM__CONCURRENCY.",
        ),
    )
    def command(call: "ExperimentCall", *, out: Path, restart: bool, parallel: int | None) -> None:
        from eval.experiments.report import table_lines
        from eval.experiments.running import run_experiment

        outcome, files = run_experiment(name, call, out, restart=restart, parallel=parallel)
        for table in outcome.tables:
            echo_lines(table_lines(table))
        echo_lines([f"note: {note}" for note in outcome.notes], err=True)
        echo(f"{out}: {', '.join(files)}", err=True)

    requires = f" Requires {experiment.requires}." if experiment.requires else ""
    command.help = f"{title} ({source}).{requires}\n\n{experiment.description}"
    return command


@click.group(
    "experiment",
    cls=LazyGroup,
    locations={
        **{name: (f"{HERE}:{name}", f"{title} ({source})") for name, (title, source) in EXPERIMENTS.items()},
        "import": (
            "eval.experiments.layouts:import_command",
            "Turn a published benchmark into topics, qrels and papers.",
        ),
        "diff": (f"{HERE}:diff_command", "List the differences of two folders of results."),
    },
)
def experiment() -> None:
    """Make a table or figure of a paper on your own index and judgements.

    The papers are SHRAG, SPAR and a report on paper-QA.
    """
