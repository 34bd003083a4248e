"""Command `find-papers`."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.calls import Section
from base.notes import Note
from base.terminal.call_options import call_options
from base.terminal.output import echo, echo_json
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from generator.finding.calls import FindCall
from indexer.options import INTERRUPTED, json_option
from retriever.export_files import check_export, write_export
from retriever.options import COMPLETIONS, chosen_place, export_options

if TYPE_CHECKING:
    from generator.finding.calls import FindRequest
    from generator.finding.finding import OpenedSources
    from generator.finding.result import FoundPapers
    from generator.finding.state import FindingState
    from generator.request import Settings

FILE = PathParameter(dir_okay=False)


@click.command("find-papers", cls=SectionedCommand)
@call_options(FindCall, COMPLETIONS)
@option_section(
    Section.OUTPUT,
    json_option,
    *export_options,
    click.option(
        "--save", "save_file", type=FILE, help="Save the search in FILE after each step, for --resume."
    ),
    click.option(
        "--resume",
        "resume_file",
        type=FILE,
        help="Resume a saved search, with more rounds or larger budgets.",
    ),
    click.option(
        "--trace",
        "trace_file",
        type=FILE,
        help="Save all steps as JSON, for `shrag trace show FILE`.",
    ),
)
def find_papers(
    call: FindCall,
    *,
    export: str | None,
    cite: str | None,
    out: Path | None,
    save_file: Path | None,
    resume_file: Path | None,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """Find papers for QUESTION: a list with scores, reasons, and how each paper was found.

    The papers found are judged, and references of relevant papers are followed. A language model, if one is
    configured, judges, searches in several wordings, and makes further queries from relevant papers. Ctrl-C
    ends the search with the papers found so far.

    With --resume, omitted options keep their saved values, except budgets. Budgets include earlier spending.
    """
    from base.files.output_files import check_output
    from generator.finding.console import show_account, show_papers
    from generator.finding.finding import open_places
    from generator.finding.state import FindingState
    from generator.places import check_files
    from generator.request import Settings
    from generator.tracing import Trace
    from indexer.settings import named_paths

    check_export(export, cite, out, as_json=as_json)
    state = FindingState.load(resume_file) if resume_file else None
    if state and not call.question:
        call = call.changed(question=state.question)
    request = call.resumed(state.request) if state and state.request else call.request()
    settings = Settings.from_environment()
    name = chosen_place(call.index, call.sources, settings.indexer)
    read = (
        settings.indexer.home / name,
        *named_paths(settings.indexer, settings.retriever, settings.generator),
    )
    check_files({"--out": out, "--save": save_file, "--trace": trace_file}, read)
    for file in filter(None, (out, trace_file)):
        check_output(file, (resume_file,))

    opening = open_places(name, call.sources, settings)
    found, ended = _search(opening, request, settings, state, save_file)
    try:
        if as_json:
            echo_json(found.as_record())
        elif export or cite:
            show_account(found)
            write_export(export, cite, found.references(), out)
        else:
            show_papers(found)
            show_account(found)
    finally:  # after the output, so that a full disk loses no papers; also if the reader closed the output
        if save_file:
            found.state.save(save_file)
            if not found.complete and not as_json:
                echo(f"saved in {save_file}; resume it with --resume {save_file}", err=True)
        if trace_file:
            Trace(found.trace_record()).save(trace_file)
    if ended:
        raise ended


def _search(
    opening: "AbstractAsyncContextManager[OpenedSources]",
    request: "FindRequest",
    settings: "Settings",
    state: "FindingState | None",
    save_file: Path | None,
) -> "tuple[FoundPapers, BaseException | None]":
    """Search; after an early end return the papers found so far and the exception to raise later."""
    from asyncio import CancelledError

    from generator.console import live_progress
    from generator.finding.console import finding_line
    from generator.finding.finding import find_in_sources
    from generator.finding.result import SoFar, cancelled_by_sigterm
    from generator.places import run
    from generator.tracing import StepEvent, error_text

    so_far = SoFar()

    async def find() -> "FoundPapers":
        with cancelled_by_sigterm(), live_progress(finding_line(request.threshold)) as show:

            def listen(event: StepEvent) -> None:
                so_far.listen(event)
                if show:
                    show(event)

            async with opening as opened:
                return await find_in_sources(opened, request, settings, state=state, listener=listen)

    ended: BaseException
    try:
        with so_far.saved_in(save_file):
            return run(find()), None
    except (KeyboardInterrupt, CancelledError):
        echo("interrupted", err=True)
        ended, note = SystemExit(INTERRUPTED), Note("interrupted")
        nothing = so_far.state is None
    except Exception as error:  # noqa: BLE001 - raised after the output of the papers found
        ended, note = error, Note("partial", error=error_text(error))
        nothing = so_far.state is None or not so_far.state.papers
    if nothing:
        raise ended
    return so_far.found(request, note), ended
