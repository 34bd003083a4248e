"""The steps of `shrag benchmark`."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import get_args

import click

from base.amounts import counted
from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import FiniteRange, PathParameter, SectionedCommand, option_section
from eval.experiments.comparing import Table
from eval.experiments.report import table_lines
from eval.judging import sheets
from eval.judging.benchmark import Benchmark, JudgeName, StageName, create
from eval.judging.judges import DEFAULTS, judge_papers
from eval.judging.pooling import PoolCall, pool_papers
from eval.judging.questions import MOST_DERIVED, add_questions
from eval.judging.stages import (
    STAGES,
    agreement_table,
    all_stages,
    assessors_table,
    final_grades,
    stages_table,
    write_benchmark,
)
from indexer.options import interruptible
from retriever.options import COMPLETIONS

ASSESSOR = re.compile(r"[\w.-]{1,64}")
PARTIAL = 1  # exit code if something failed
SHOWN = 5  # failures
FILE = PathParameter(exists=True, dir_okay=False)


def _checked_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not ASSESSOR.fullmatch(name):
        raise click.BadParameter("must have letters, digits, '.', '-' and '_' only, at most 64")
    return name


folder_argument = click.argument("folder", type=PathParameter(file_okay=False))
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
    click.option("--labels", type=FILE, metavar="SHEET", help="Import the labels of a sheet."),
)


def _step(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """Make a step of a function, with the argument FOLDER."""

    def command(function: Callable[..., None]) -> click.Command:
        return click.command(name, cls=SectionedCommand)(folder_argument(function))

    return command


@_step("questions")
@click.argument("seeds", type=FILE)
@click.option(
    "--extend",
    type=click.IntRange(0, MOST_DERIVED),
    default=0,
    show_default=True,
    help="Questions that the configured language model derives from each seed.",
)
def questions_command(folder: Path, seeds: Path, *, extend: int) -> None:
    """Add seed questions, and questions derived from them.

    SEEDS has id, tab, question, or JSON lines {"query_id", "question"}. FOLDER is made if needed. With
    --extend the configured language model derives further questions, for `select`.
    """
    create(folder)
    with interruptible():
        failed = add_questions(folder, seeds, extend)
    _print_questions(folder)
    _exit_if_failed("no question was derived from", failed)


@_step("select")
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
    _check_one_of(out, labels)
    made = Benchmark(folder)
    if labels:
        echo(f"{counted(sheets.import_selections(made, labels, assessor), 'new decision')}", err=True)
        _print_questions(folder)
    elif out:
        echo(f"{out}: {counted(sheets.write_questions(made, out, seeds=seeds), 'question')}")


@_step("pool")
@call_options(PoolCall, COMPLETIONS)
def pool_command(call: PoolCall, *, folder: Path) -> None:
    """Search by several methods, and pool their papers.

    The first papers of each method are pooled for each selected question. The index and each source are
    searched separately, and records of the same paper are merged. Repeat the command for further questions or
    methods, or a larger depth; what is pooled stays.
    """
    if call.model and not call.find:
        raise click.UsageError("--model has no effect without --find")
    with interruptible():
        failed = pool_papers(folder, call)
    made = Benchmark(folder)
    echo(f"{counted(len(made.pooled), 'paper')} pooled for {counted(len(made.selected), 'question')}")
    _exit_if_failed("not pooled:", failed)


@_step("judge")
@click.argument("stage", type=click.Choice(STAGES), metavar="STAGE")
@click.option(
    "--by",
    type=click.Choice(get_args(JudgeName)),
    help="Judge: rules, or the configured language model with the brief or the complex prompt. Default: "
    "coarse rules, fine complex.",
)
@click.option(
    "--threshold",
    type=FiniteRange(0, 1),
    help="Least score of a paper that passes. Default: by stage and judge.",
)
def judge_command(folder: Path, stage: StageName, *, by: JudgeName | None, threshold: float | None) -> None:
    """Judge pooled papers by rules or a language model.

    STAGE is coarse, for all pooled papers, or fine, for papers that passed the coarse stage. Papers with a
    score of at least the threshold pass. Judgements are kept: the same command resumes, another threshold
    judges nothing again, and another judge of a stage replaces the earlier one.
    """
    with interruptible():
        failed = judge_papers(folder, stage, by or DEFAULTS[stage], threshold)
    _print_stages(folder)
    _exit_if_failed("not judged:", failed)


@_step("confirm")
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
    if dropped and disputed:
        raise click.UsageError("--dropped and --disputed exclude each other")
    _check_one_of(out, labels)
    if labels:
        graded = sheets.import_grades(Benchmark(folder), labels, assessor)
        echo(f"{counted(graded, 'new grade')}", err=True)
    part: sheets.Part = "dropped" if dropped else "disputed" if disputed else "passed"
    made = Benchmark(folder)
    pairs = sheets.pairs_to_confirm(made, assessor, part, sample)
    if out:
        sheets.write_papers(made, out, assessor, pairs)
    graded = sum(pair in made.assessments.get(assessor, {}) for pair in pairs)
    echo(f"{graded:,} of {counted(len(pairs), 'paper')} graded by {assessor}")


@_step("status")
def status_command(folder: Path) -> None:
    """Count the papers of each stage, and show the agreement."""
    _print_stages(folder)


@_step("report")
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
    outcome, files = write_benchmark(Benchmark(folder), out, list(filter(None, precedence.split(","))))
    _print_tables(outcome.tables)
    echo_lines([f"note: {note}" for note in outcome.notes], err=True)
    echo(f"{out}: {', '.join(files)}", err=True)


def _check_one_of(out: Path | None, labels: Path | None) -> None:
    if (out is None) == (labels is None):
        raise click.UsageError("give --out SHEET, which writes a sheet, or --labels SHEET, which imports it")


def _print_questions(folder: Path) -> None:
    made = Benchmark(folder)
    derived = [each.query_id for each in made.questions.values() if each.origin == "extended"]
    undecided = [query_id for query_id in derived if made.questions[query_id].kept is None]
    seeds = counted(len(made.questions) - len(derived), "seed")
    selected = counted(len(made.selected), "question")
    echo(f"{selected} selected, of {seeds} and {len(derived):,} derived")
    if undecided:
        echo(f"{len(undecided):,} derived ones wait for `shrag benchmark select`", err=True)


def _print_stages(folder: Path) -> None:
    made = Benchmark(folder)
    stages, assessments = all_stages(made, final_grades(made)), made.assessments
    _print_tables((stages_table(made, stages), assessors_table(assessments), agreement_table(assessments)))


def _print_tables(tables: Iterable[Table]) -> None:
    for each in tables:
        if each.rows:
            echo_lines(table_lines(each))


def _exit_if_failed(heading: str, failed: Sequence[str]) -> None:
    """List failures, and exit with 1 if there are any; the same command repeats these parts."""
    if not failed:
        return
    more = [f"  … and {len(failed) - SHOWN:,} more"] if len(failed) > SHOWN else []
    lines = [heading, *(f"  {each}" for each in failed[:SHOWN]), *more, "the same command repeats these"]
    echo_lines(lines, err=True)
    raise click.exceptions.Exit(PARTIAL)
