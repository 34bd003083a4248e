"""The command `find-papers`."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from generator.finding.bounds import BOUNDS
from generator.finding.options import PAPERS, find_request, finding_options
from indexer.options import INTERRUPTED, chosen_index, json_option, name_option
from indexer.terminal import echo, echo_json, json_text
from retriever.commands import filter_options, source_option

if TYPE_CHECKING:
    from generator.finding.finding import OpenedSources
    from generator.finding.request import FindRequest
    from generator.finding.result import FoundPapers
    from generator.finding.state import FindingState
    from generator.request import Settings

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("find-papers")
@click.argument("question", required=False, default="")
@name_option
@source_option
@filter_options
@click.option(
    "-k",
    "--papers",
    type=click.IntRange(*BOUNDS["papers"]),
    default=PAPERS,
    show_default=True,
    help="Papers to find; the search ends when so many are relevant.",
)
@finding_options
@click.option("--save", "save_file", type=FILE, help="Keep what was come to, to go on from it.")
@click.option(
    "--resume", "resume_file", type=FILE, help="Go on from a kept file, further or within a larger budget."
)
@click.option("--trace", "trace_file", type=FILE, help="Save all that happened as JSON.")
@json_option
def find_papers(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    question: str,
    name: str | None,
    sources: tuple[str, ...],
    year: str | None,
    lang: str | None,
    journal: str | None,
    papers: int,
    save_file: Path | None,
    resume_file: Path | None,
    trace_file: Path | None,
    as_json: bool,
    **finding: Any,
) -> None:
    """Find the papers that QUESTION asks for: a list, each with a score, a reason, and how it was found.

    Queries are widened, papers judged, references followed, further queries evolved from what is relevant.
    With a language model it does the judging and writing; without one rules and relevance stand in. With
    --resume the question may be left out. Budgets count what was spent before too. Ctrl-C ends with what was
    found; --save keeps it after each step.
    """
    from generator.finding.console import show_papers
    from generator.finding.finding import open_declared_sources, open_index_as_source
    from generator.finding.state import FindingState
    from generator.pipeline import Settings
    from indexer.output_files import check_output, is_same_file, write_output
    from indexer.settings import named_paths
    from retriever.filters import make_filters

    if sources and name:
        raise click.UsageError("--source excludes --name")
    if save_file and trace_file and is_same_file(save_file, trace_file):
        raise click.UsageError("--save and --trace name the same file")
    state = FindingState.load(resume_file) if resume_file else None
    request = find_request(
        question or (state.question if state else ""), papers, finding, make_filters(year, lang, journal)
    )
    settings = Settings.from_environment()
    name = "" if sources else chosen_index(name, settings.indexer)
    for file in filter(None, (save_file, trace_file)):
        named = named_paths(settings.indexer, settings.retriever, settings.generator)
        check_output(file, (settings.indexer.home / name, *named))

    opening = open_declared_sources(sources, settings) if sources else open_index_as_source(name, settings)
    found, ended = _search(opening, request, settings, state, save_file)
    try:
        if as_json:
            echo_json(found.as_record())
        else:
            show_papers(found)
    finally:  # last, as a full disk costs no papers; nor does it cost the files that nobody reads on
        if save_file:
            found.state.save(save_file)
        if trace_file:
            write_output(trace_file, (json_text(found.trace_record(), indent=1) + "\n").encode())
    if ended:
        raise ended


def _search(
    opening: "AbstractAsyncContextManager[OpenedSources]",
    request: "FindRequest",
    settings: "Settings",
    state: "FindingState | None",
    save_file: Path | None,
) -> "tuple[FoundPapers, BaseException | None]":
    """Search; where that ends early return what was found by then, and what is to be raised behind it."""
    from asyncio import CancelledError

    from generator.console import live_progress
    from generator.finding.finding import find_in_sources
    from generator.finding.so_far import SoFar, cancelled_by_sigterm
    from generator.pipeline import run
    from generator.steps import StepEvent, described

    so_far = SoFar()

    async def find() -> "FoundPapers":
        with cancelled_by_sigterm(), live_progress() as show:

            def listen(event: StepEvent) -> None:
                so_far.listen(event)
                if show:
                    show(event)

            async with opening as opened:
                return await find_in_sources(opened, request, settings, state=state, listener=listen)

    ended: BaseException
    try:
        with so_far.kept_in(save_file):
            return run(find()), None
    except (KeyboardInterrupt, CancelledError):
        echo("interrupted", err=True)
        ended, note = SystemExit(INTERRUPTED), "interrupted; what was found by then is given"
        nothing = so_far.state is None
    except Exception as error:  # noqa: BLE001 - it is raised behind what was found
        ended, note = error, f"what was found until an error is given: {described(error)}"
        nothing = so_far.state is None or not so_far.state.papers
    if nothing:
        raise ended
    return so_far.found(request, settings, note), ended
