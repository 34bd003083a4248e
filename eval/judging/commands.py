"""The command `benchmark`: one subcommand for each step."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.amounts import counted
from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from eval.judging.calls import JudgeCall, PoolCall, QuestionsCall
from indexer.options import interruptible
from retriever.options import COMPLETIONS

if TYPE_CHECKING:
    from eval.experiments.experiment import Table
    from eval.judging.sheets import Part
    from eval.judging.store import Benchmark

ASSESSOR = re.compile(r"\w[\w.-]{0,63}")
ONE_OF_BOTH = "--out SHEET writes a sheet, --labels SHEET imports its labels: give one of them"
PARTIAL = 1  # exit code if something failed
SHOWN = 5  # failures


def _checked_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not ASSESSOR.fullmatch(name):
        raise click.BadParameter(
            "must start with a letter or digit; letters, digits, '.', '-' and '_', at most 64"
        )
    return name


assessor_option = click.option(
    "--assessor",
    required=True,
    metavar="NAME",
    callback=_checked_name,
    help="Name of the assessor: letters, digits, . - _",
)
sheet_options = option_section(
    Section.OUTPUT,
    click.option(
        "--out",
        type=PathParameter(dir_okay=False),
        metavar="SHEET",
        help="Write a sheet to fill in: CSV, for a spreadsheet program.",
    ),
    click.option(
        "--labels",
        type=PathParameter(exists=True, dir_okay=False),
        metavar="SHEET",
        help="Import the labels of a sheet.",
    ),
)
folder_argument = click.argument("folder", type=PathParameter(file_okay=False))
FILE = PathParameter(exists=True, dir_okay=False)


class Steps(click.Group):
    """A group that lists its commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names."""
        return list(self.commands)


@click.group("benchmark", cls=Steps)
def benchmark() -> None:
    """Make topics and qrels for your own corpus.

    Papers are pooled, judged by rules or models, and graded by persons in sheets. The steps, in this order:
    questions, select, pool, judge, confirm, report. Each step resumes where it was interrupted, and may be
    repeated with more questions, methods or papers. FOLDER keeps their results.
    """


@benchmark.command("questions", cls=SectionedCommand)
@folder_argument
@click.argument("seeds", type=FILE)
@call_options(QuestionsCall)
def questions_command(call: QuestionsCall, *, folder: Path, seeds: Path) -> None:
    """Add seed questions, and questions derived from them.

    SEEDS has id, tab, question, or JSON lines {"query_id", "question"}. FOLDER is made if needed. With
    --extend the configured language model derives further questions, for `select`.
    """
    from eval.judging.questions import add_questions
    from eval.judging.store import Benchmark, create

    create(folder, call.seed)
    with interruptible():
        failed = add_questions(folder, seeds, call)
    _print_questions(Benchmark(folder))
    _exit_if_failed("no question was derived from", failed)


@benchmark.command("select", cls=SectionedCommand)
@folder_argument
@assessor_option
@click.option("--seeds", is_flag=True, help="Select seed questions too; they are kept otherwise.")
@sheet_options
def select_command(
    folder: Path, assessor: str, *, seeds: bool, out: Path | None, labels: Path | None
) -> None:
    """Keep or drop derived questions, by a sheet.

    --out writes the questions to a sheet; the column `keep` takes y or n. --labels imports it. Seeds are kept
    unless dropped with --seeds.
    """
    from eval.judging.sheets import import_selections, write_questions
    from eval.judging.store import Benchmark

    if labels and not out:
        added = import_selections(Benchmark(folder), labels, assessor)
        echo(f"{counted(added, 'new decision')}", err=True)
        _print_questions(Benchmark(folder))
    elif out and not labels:
        echo(f"{out}: {counted(write_questions(Benchmark(folder), out, seeds=seeds), 'question')}")
    else:
        raise click.UsageError(ONE_OF_BOTH)


@benchmark.command("pool", cls=SectionedCommand)
@folder_argument
@call_options(PoolCall, COMPLETIONS)
def pool_command(call: PoolCall, *, folder: Path) -> None:
    """Search by several methods, and pool their papers.

    The first papers of each method are pooled for each selected question. The index and each source are
    searched separately, and records of the same paper are merged. Repeat the command for further questions or
    methods, or a larger depth; what is pooled stays.
    """
    from eval.judging.pooling import pool_papers
    from eval.judging.store import Benchmark

    if call.model and not call.find:
        raise click.UsageError("--model has no effect without --find")
    with interruptible():
        failed = pool_papers(folder, call)
    benchmark = Benchmark(folder)
    echo(
        f"{counted(len(benchmark.pooled), 'paper')} pooled for {counted(len(benchmark.selected), 'question')}"
    )
    _exit_if_failed("not pooled:", failed)


@benchmark.command("judge", cls=SectionedCommand)
@folder_argument
@call_options(JudgeCall)
def judge_command(call: JudgeCall, *, folder: Path) -> None:
    """Judge pooled papers by rules or a language model.

    STAGE is coarse, for all pooled papers, or fine, for papers that passed the coarse stage. Papers with a
    score of at least the threshold pass. Judgements are kept: the same command resumes, another threshold
    judges nothing again, and another judge of a stage replaces the earlier one.
    """
    from eval.judging.judges import judge_papers

    with interruptible():
        failed = judge_papers(folder, call)
    _print_stages(folder)
    _exit_if_failed("not judged:", failed)


@benchmark.command("confirm", cls=SectionedCommand)
@folder_argument
@assessor_option
@click.option(
    "--sample",
    type=click.IntRange(1),
    help="Grade a random sample of this many papers, the same for all assessors.",
)
@click.option(
    "--dropped",
    is_flag=True,
    help="Grade papers that a stage dropped, for an estimate of relevant papers missed.",
)
@click.option(
    "--disputed",
    is_flag=True,
    help="Grade papers to which other assessors gave different grades.",
)
@sheet_options
def confirm_command(
    folder: Path,
    assessor: str,
    *,
    sample: int | None,
    dropped: bool,
    disputed: bool,
    out: Path | None,
    labels: Path | None,
) -> None:
    """Grade the papers that passed, by a sheet.

    --out writes the papers to a sheet; the column `grade` takes 0 not relevant, 1 related, 2 relevant, 3
    highly relevant. --labels imports it; a paper without a grade is left out, and a changed grade replaces
    the earlier one.

    Assessors grade the same papers in the same order. They see no ranks and no grades of models or others.
    """
    from eval.judging.sheets import import_grades, pairs_to_confirm, write_papers
    from eval.judging.store import Benchmark

    if dropped and disputed:
        raise click.UsageError("--dropped and --disputed exclude each other")
    if labels and not out:
        added = import_grades(Benchmark(folder), labels, assessor)
        echo(f"{counted(added, 'new grade')}", err=True)
    elif not out or labels:
        raise click.UsageError(ONE_OF_BOTH)
    benchmark = Benchmark(folder)
    part: Part = "dropped" if dropped else "disputed" if disputed else "passed"
    pairs = pairs_to_confirm(benchmark, assessor, part, sample)
    if out:
        write_papers(benchmark, out, assessor, pairs)
    graded = sum(pair in benchmark.assessments.get(assessor, {}) for pair in pairs)
    echo(f"{graded:,} of {counted(len(pairs), 'paper')} graded by {assessor}")


@benchmark.command("status")
@folder_argument
def status_command(folder: Path) -> None:
    """Count the papers of each stage, and show the agreement."""
    _print_stages(folder)


@benchmark.command("report", cls=SectionedCommand)
@folder_argument
@click.option(
    "--assessor",
    "precedence",
    default="",
    metavar="NAME,…",
    help="Assessors whose grades count first, in this order. Default: the order of their first assessments.",
)
@option_section(
    Section.OUTPUT,
    click.option("--out", required=True, type=PathParameter(file_okay=False), help="Folder of the results."),
)
def report_command(folder: Path, precedence: str, *, out: Path) -> None:
    """Write topics, qrels, provenance and a report.

    Grades of persons are the qrels. If assessors differ, the grade of the first one named counts.
    """
    from eval.experiments.figures import check_plots
    from eval.judging.results import write_benchmark
    from eval.judging.store import Benchmark

    check_plots()
    outcome, results = write_benchmark(Benchmark(folder), out, list(filter(None, precedence.split(","))))
    _print_tables([table for table in outcome.tables if "question" not in table.title])
    for note in outcome.notes:
        echo(f"note: {note}", err=True)
    echo(f"{out}: {', '.join(results)}", err=True)


def _print_questions(benchmark: "Benchmark") -> None:
    origins = [each.origin for each in benchmark.questions.values()]
    undecided = [
        query_id
        for query_id, each in benchmark.questions.items()
        if each.origin == "extended" and query_id not in benchmark.selections
    ]
    seeds, derived = counted(origins.count("seed"), "seed"), origins.count("extended")
    echo(f"{counted(len(benchmark.selected), 'question')} selected, of {seeds} and {derived:,} derived")
    if undecided:
        echo(f"{len(undecided):,} derived ones wait for `shrag benchmark select`", err=True)


def _print_stages(folder: Path) -> None:
    from eval.judging.store import Benchmark
    from eval.judging.tables import Results, agreement_table, assessors_table, stages_table

    results = Results.of(Benchmark(folder))
    _print_tables(
        (stages_table(results), assessors_table(results.benchmark), agreement_table(results.benchmark))
    )


def _print_tables(tables: "Sequence[Table]") -> None:
    from eval.experiments.report import table_lines

    for each in tables:
        if each.rows:
            echo_lines(table_lines(each))


def _exit_if_failed(heading: str, failed: Sequence[str]) -> None:
    """List failures, and exit with 1 if there are any; the same command repeats these parts."""
    if not failed:
        return
    echo(heading, err=True)
    for each in failed[:SHOWN]:
        echo(f"  {each}", err=True)
    if len(failed) > SHOWN:
        echo(f"  … and {len(failed) - SHOWN:,} more", err=True)
    echo("the same command repeats these", err=True)
    raise click.exceptions.Exit(PARTIAL)
