"""Commands `ask` and `trace`."""

from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from base.terminal.completion import completing
from base.terminal.option_sections import SectionedCommand, option_section
from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.path_parameter import PathParameter
from generator.ways import make_request
from indexer.options import INTERRUPTED, json_option
from retriever.commands import show_trace
from retriever.methods import method_names
from retriever.options import (
    LIMITS,
    OUTPUT,
    SEARCHING,
    chosen_place,
    constraint_options,
    filter_options,
    place_options,
    plan_options,
)


def _way_names() -> list[str]:
    from generator.ways import way_names

    return way_names()


@click.command(cls=SectionedCommand)
@click.argument("question")
@place_options
@option_section(
    "How to answer",
    click.option(
        "--evidence",
        type=click.IntRange(1, 100),
        help="Papers used as evidence for the answer; default SHRAG_EVIDENCE, else 5.",
    ),
    click.option(
        "--hops",
        type=click.Choice(["auto", "always", "never"]),
        help="Answer in several steps: auto = if the form of the question needs it; default SHRAG_ASK_HOPS, "
        "else never.",
    ),
    click.option(
        "--way",
        metavar="WAY",
        shell_complete=completing(_way_names),
        help="Texts and steps of the answer: shrag (papers), or paper-qa-1 to -8 (passages); default "
        "SHRAG_ASK_WAY, else shrag.",
    ),
    click.option(
        "--topic",
        metavar="PAPER",
        help="Answer from this paper's passages: its id or exact title (ways paper-qa-…).",
    ),
)
@option_section(
    SEARCHING,
    click.option(
        "--method",
        type=click.Choice(method_names()),
        help="Search method for the evidence, as in `search`; default SHRAG_ASK_METHOD, else shrag.",
    ),
    *plan_options,
)
@option_section(LIMITS, *filter_options, *constraint_options)
@option_section(
    OUTPUT,
    json_option,
    click.option(
        "--trace",
        "trace_file",
        type=PathParameter(),
        metavar="FILE",
        help="Save all steps as JSON, for `shrag trace show FILE`.",
    ),
)
def ask(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    question: str,
    name: str | None,
    sources: tuple[str, ...],
    year: str | None,
    lang: str | None,
    journal: str | None,
    exclude: tuple[str, ...],
    strict_time: bool,
    no_constraints: bool,
    keywords: tuple[str, ...],
    skip: tuple[str, ...],
    synonyms: Path | None,
    method: str | None,
    evidence: int | None,
    way: str | None,
    topic: str | None,
    hops: Literal["auto", "always", "never"] | None,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """Answer QUESTION from the best papers found; every sentence is cited and checked.

    A language model (SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL) writes keywords and answer. Without a model,
    keywords come from statistics and the answer is quoted from the papers.
    """
    from base.files.output_files import check_output
    from generator.console import live_progress, show_answer
    from generator.pipeline import Settings, answer_from_sources, answer_question, run
    from indexer.settings import named_paths
    from retriever.constraints.parsing import chosen_constraints
    from retriever.index import open_index
    from retriever.queries.filters import make_filters

    settings = Settings.from_environment()
    name = chosen_place(name, sources, settings.indexer)
    synonyms = synonyms or settings.retriever.synonyms
    if trace_file:
        named = named_paths(settings.indexer, settings.retriever, settings.generator)
        check_output(trace_file, (synonyms, settings.indexer.home / name, *named))
    filters = make_filters(year, lang, journal)
    constraints = chosen_constraints(
        question, settings.retriever, exclude=exclude, strict_time=strict_time, found=not no_constraints
    )
    request = make_request(
        settings,
        question,
        filters,
        way=way,
        method=method,
        evidence=evidence,
        constraints=constraints,
        keywords=keywords or None,
        skip=skip,
        topic=topic,
        hops=hops,
    )
    try:
        with ExitStack() as opened:
            if sources:
                listener = opened.enter_context(live_progress())
                asking = answer_from_sources(sources, request, settings, synonyms, listener=listener)
            else:
                index = opened.enter_context(open_index(settings.indexer, name, synonyms, follow=True))
                listener = opened.enter_context(live_progress())
                asking = answer_question(index, request, settings, listener=listener)
            asked = run(asking)
    except KeyboardInterrupt:
        echo("interrupted", err=True)
        raise SystemExit(INTERRUPTED) from None
    try:
        if as_json:
            echo_json(asked.as_record())
        else:
            show_trace(asked.result)
            show_answer(asked)
    finally:  # after the output, so that a full disk loses no answer; also if the reader closed the output
        if trace_file:
            asked.trace.save(trace_file)


@click.group()
def trace() -> None:
    """Show a saved trace, or compare two."""


@trace.command()
@click.argument("file", type=PathParameter(exists=True, dir_okay=False))
def show(file: Path) -> None:
    """Show the trace in FILE, saved with --trace."""
    from generator.console import show_saved
    from generator.finding.console import show_found
    from generator.tracing.trace import Trace

    try:
        saved = Trace.load(file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    (show_found if saved.is_of_finding else show_saved)(saved)


@trace.command()
@click.argument("first", type=PathParameter(exists=True, dir_okay=False))
@click.argument("second", type=PathParameter(exists=True, dir_okay=False))
def compare(first: Path, second: Path) -> None:
    """List the differences of two traces, ignoring times; exit 1 if there are any."""
    from generator.tracing.trace import Trace, differences

    try:
        found = differences(Trace.load(first), Trace.load(second))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    echo_lines(found or ["no differences, ignoring times"])
    if found:
        raise SystemExit(1)
