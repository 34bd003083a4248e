"""Commands `ask` and `trace`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_json, echo_lines, visible
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from generator.calls import AskCall
from generator.places import ask_place, check_files
from generator.search_command import show_strategy, strategy_options, with_strategy_of
from generator.ways import way_names
from indexer.options import INTERRUPTED, json_option
from retriever.commands import show_trace
from retriever.export_files import check_export, write_document
from retriever.options import COMPLETIONS, chosen_place, cite_option, synonyms_option

if TYPE_CHECKING:  # loaded where an index is opened
    from generator.pipeline import AskResult
    from retriever.index import OpenIndex


@click.command(cls=SectionedCommand)
@call_options(AskCall, COMPLETIONS | {"way": way_names})
@option_section(Section.SEARCHING, *strategy_options, synonyms_option)
@option_section(
    Section.OUTPUT,
    json_option,
    cite_option,
    click.option(
        "--out",
        type=PathParameter(),
        metavar="FILE",
        help="Output file of --cite: FILE.txt, FILE.md or FILE.docx; default: standard output.",
    ),
    click.option(
        "--trace",
        "trace_file",
        type=PathParameter(),
        metavar="FILE",
        help="Save all steps as JSON, for `shrag trace show FILE`.",
    ),
)
def ask(
    call: AskCall,
    *,
    strategy_file: Path | None,
    shows_strategy: bool,
    synonyms: Path | None,
    cite: str | None,
    out: Path | None,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """Answer QUESTION from the best papers found; every sentence is cited and checked.

    A language model (SHRAG_LLM__BASE_URL and SHRAG_LLM__MODEL) writes strategy and answer. Without a model,
    the strategy comes from statistics and the answer is quoted from the papers.

    With --cite the output is the answer with citations and references in that style.
    """
    from generator.answers.cited_answer import cited_document, citing_papers, evidence_records
    from generator.console import live_progress, show_answer
    from generator.pipeline import Settings, answer_question, choose_strategy
    from indexer.settings import named_paths

    check_export(None, cite, out, as_json=as_json)
    call = with_strategy_of(call, strategy_file)
    settings = Settings.from_environment()
    name = chosen_place(call.index, call.sources, settings.indexer)
    synonyms = synonyms or settings.retriever.synonyms
    named = named_paths(settings.indexer, settings.retriever, settings.generator)
    read = (strategy_file, synonyms, settings.indexer.home / name, *named)
    check_files({"--out": out, "--trace": trace_file}, read)
    request = call.request(settings)

    async def asking(index: "OpenIndex") -> "AskResult":
        with live_progress() as listener:
            return await answer_question(index, request, settings, listener=listener)

    try:
        if shows_strategy:
            choosing = partial(choose_strategy, request=request, settings=settings)
            show_strategy(*ask_place(name, call.sources, settings.indexer, synonyms, choosing))
            return
        asked = ask_place(name, call.sources, settings.indexer, synonyms, asking)
    except KeyboardInterrupt:
        echo("interrupted", err=True)
        raise SystemExit(INTERRUPTED) from None
    try:
        if as_json:
            echo_json(asked.as_record())
        elif cite:
            echo_lines((f"note: {note}" for note in asked.result.notes), err=True)
            answer = citing_papers(asked.answer, {hit.passage_id: hit.doc_id for hit in asked.evidence})
            document = cited_document(answer, evidence_records(asked.evidence), cite, call.question)
            write_document(document, out, "answer")
        else:
            show_trace(asked.result)
            show_answer(asked)
    finally:  # after the output, so that a full disk loses no answer; also if the reader closed the output
        if trace_file:
            asked.trace.save(trace_file)


@click.group()
def trace() -> None:
    """Show a saved trace."""


@trace.command()
@click.argument("file", type=PathParameter(exists=True, dir_okay=False))
def show(file: Path) -> None:
    """Show the trace in FILE, saved with --trace."""
    from generator.console import saved_lines
    from generator.finding.console import found_lines
    from generator.tracing import Trace

    try:
        saved = Trace.load(file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        lines = list(map(visible, (found_lines if saved.is_of_finding else saved_lines)(saved)))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise click.UsageError(f"{file} is not a complete trace: {type(error).__name__}: {error}") from None
    echo_lines(lines)
