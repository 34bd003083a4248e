"""The command `benchmark`: one subcommand for each step."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.amounts import counted
from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from eval.judging.calls import ConfirmCall, JudgeCall, PoolCall, QuestionsCall, ReportCall, SelectCall
from indexer.options import interruptible
from retriever.options import COMPLETIONS

if TYPE_CHECKING:
    from eval.judging.state import Benchmark
    from eval.reproduction.experiment import Table

PARTIAL = 1  # exit code if something failed
SHOWN = 5  # failures

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

    Papers are pooled, judged by rules or models, and graded by persons. The steps, in this order: questions,
    select, pool, judge, confirm, report. Each step resumes where it was interrupted, and may be repeated with
    more questions, methods or papers. FOLDER keeps their results.
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
    from eval.judging.folder import create
    from eval.judging.question_step import add_questions
    from eval.judging.state import Benchmark

    create(folder, call.seed)
    with interruptible():
        failed = add_questions(folder, seeds, call)
    _print_questions(Benchmark(folder))
    _exit_if_failed("no question was derived from", failed)


@benchmark.command("select", cls=SectionedCommand)
@folder_argument
@call_options(SelectCall)
def select_command(call: SelectCall, *, folder: Path) -> None:
    """Keep or drop each derived question, with one key.

    Keys: y keep, n drop, b back, q quit. Seeds are kept unless dropped with --seeds.
    """
    from eval.judging.folder import SELECTIONS, writing
    from eval.judging.keyboard import typed_keys
    from eval.judging.selecting import questions_to_select, select
    from eval.judging.state import Benchmark

    with interruptible(), writing(folder, SELECTIONS) as (append,), typed_keys() as keys:
        benchmark = Benchmark(folder)
        asked = questions_to_select(benchmark, seeds=call.seeds)
        select(benchmark, asked, call.assessor, keys, append)
    _print_questions(Benchmark(folder))


@benchmark.command("pool", cls=SectionedCommand)
@folder_argument
@call_options(PoolCall, COMPLETIONS)
def pool_command(call: PoolCall, *, folder: Path) -> None:
    """Search by several methods, and pool their papers.

    The first papers of each method are pooled for each selected question. The index and each source are
    searched separately, and records of the same paper are merged. Repeat the command for further questions or
    methods, or a larger depth; what is pooled stays.
    """
    from eval.judging.funnel import automatic_stages
    from eval.judging.pool_step import pool_papers
    from eval.judging.state import Benchmark

    if call.model and not call.find:
        raise click.UsageError("--model has no effect without --find")
    with interruptible():
        failed = pool_papers(folder, call)
    benchmark = Benchmark(folder)
    pooled = len(automatic_stages(benchmark)[0].pairs)
    echo(f"{counted(pooled, 'paper')} pooled for {counted(len(benchmark.selected), 'question')}")
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
    from eval.judging.judge_step import judge_papers

    with interruptible():
        failed = judge_papers(folder, call)
    _print_stages(folder)
    _exit_if_failed("not judged:", failed)


@benchmark.command("confirm", cls=SectionedCommand)
@folder_argument
@call_options(ConfirmCall)
def confirm_command(call: ConfirmCall, *, folder: Path) -> None:
    """Grade the papers that passed, with one key per paper.

    Keys: 0 not relevant, 1 related, 2 relevant, 3 highly relevant, s skip, b back, q quit. Each key is saved
    immediately; the same command resumes, and ends with the papers that were skipped.

    Assessors judge the same papers in the same order. They see no ranks and no grades of models or others.
    """
    from eval.judging.confirming import confirm_papers

    with interruptible():
        session = confirm_papers(folder, call)
    graded = len(session.pairs) - len(session.left) - len(session.skipped)
    skipped = f", {len(session.skipped):,} skipped" if session.skipped else ""
    echo(f"{graded:,} of {len(session.pairs):,} papers graded by {call.assessor}{skipped}")


@benchmark.command("status")
@folder_argument
def status_command(folder: Path) -> None:
    """Count the papers of each stage, and show the agreement."""
    _print_stages(folder)


@benchmark.command("report", cls=SectionedCommand)
@folder_argument
@call_options(ReportCall)
@option_section(
    Section.OUTPUT,
    click.option("--out", required=True, type=PathParameter(file_okay=False), help="Folder of the results."),
)
def report_command(call: ReportCall, *, folder: Path, out: Path) -> None:
    """Write topics, qrels, provenance and a report.

    Grades of persons are the qrels. If assessors differ, the grade of the first one named counts.
    """
    from eval.judging.results import write_benchmark
    from eval.judging.state import Benchmark
    from eval.reproduction.figures import check_plots

    check_plots()
    outcome, results = write_benchmark(Benchmark(folder), out, call.assessor)
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
    from eval.judging.state import Benchmark
    from eval.judging.tables import Results, agreement_table, assessors_table, stages_table

    results = Results.of(Benchmark(folder))
    _print_tables(
        (stages_table(results), assessors_table(results.benchmark), agreement_table(results.benchmark))
    )


def _print_tables(tables: "Sequence[Table]") -> None:
    from eval.reproduction.report import table_lines

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
