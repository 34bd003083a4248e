"""The command `find-papers`."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from generator.agents import ADDITIONS, AGENTS
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


def _names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip() for value in values for name in value.split(",") if name.strip())


@click.command("find-papers")
@click.argument("question", required=False, default="")
@name_option
@source_option
@filter_options
@click.option(
    "-k",
    "--papers",
    type=click.IntRange(1, 500),
    default=20,
    show_default=True,
    help="Papers to find; the search ends when so many are relevant.",
)
@click.option(
    "--rounds",
    type=click.IntRange(0, 10),
    default=1,
    show_default=True,
    help="How often queries are evolved from what was found.",
)
@click.option(
    "--layers",
    type=click.IntRange(0, 3),
    default=1,
    show_default=True,
    help="How far references are followed.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Judgement from which a paper is relevant.",
)
@click.option(
    "--judge",
    type=click.Choice(["brief", "complex"]),
    default="brief",
    show_default=True,
    help="Wording of the judgement by a model.",
)
@click.option(
    "--per-query",
    type=click.IntRange(1, 200),
    default=20,
    show_default=True,
    help="Papers that a query brings, of each source.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of evolved queries.")
@click.option(
    "--without",
    multiple=True,
    callback=_names,
    metavar="AGENT,…",
    help=f"Switch off: {', '.join([*AGENTS, *ADDITIONS])}.",
)
@click.option("--pure", is_flag=True, help=f"The paper's method alone, without {', '.join(ADDITIONS)}.")
@click.option("--max-calls", type=click.IntRange(0), help="Calls of the model, at most.")
@click.option("--max-tokens", type=click.IntRange(0), help="Tokens of these calls, at most.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), help="Seconds, at most.")
@click.option("--max-papers", type=click.IntRange(0), help="Papers that are judged, at most.")
@click.option("--save", "save_file", type=FILE, help="Keep what was come to, to go on from it.")
@click.option("--resume", "resume_file", type=FILE, help="Go on from a kept file, within a larger budget.")
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
    rounds: int,
    layers: int,
    threshold: float,
    judge: str,
    per_query: int,
    seed: int,
    without: frozenset[str],
    pure: bool,
    max_calls: int | None,
    max_tokens: int | None,
    max_seconds: float | None,
    max_papers: int | None,
    save_file: Path | None,
    resume_file: Path | None,
    trace_file: Path | None,
    as_json: bool,
) -> None:
    """Find the papers that QUESTION asks for: a list, each with a score, a reason, and how it was found.

    Queries are widened, papers judged, references followed, further queries evolved from what is relevant.
    With a language model it does the judging and writing; without one rules and relevance stand in. With
    --resume the question may be left out. Budgets count what was spent before too. Ctrl-C ends with what was
    found; --save keeps it after each step.
    """
    from generator.budgets import Budget
    from generator.finding.console import show_papers
    from generator.finding.finding import PURE, open_declared_sources, open_index_as_source
    from generator.finding.request import FindRequest
    from generator.finding.state import FindingState
    from generator.pipeline import Settings
    from indexer.output_files import check_output, write_output
    from indexer.settings import named_paths
    from retriever.filters import make_filters

    if sources and name:
        raise click.UsageError("--source excludes --name")
    state = FindingState.load(resume_file) if resume_file else None
    request = FindRequest(
        question or (state.question if state else ""),
        papers=papers,
        rounds=rounds,
        layers=layers,
        threshold=threshold,
        judge="complex" if judge == "complex" else "brief",
        per_query=per_query,
        seed=seed,
        without=without | (PURE if pure else frozenset()),
        filters=make_filters(year, lang, journal),
        budget=Budget(max_calls, max_tokens, max_seconds, max_papers),
    )
    settings = Settings.from_environment()
    name = "" if sources else chosen_index(name, settings.indexer)
    for file in filter(None, (save_file, trace_file)):
        named = named_paths(settings.indexer, settings.retriever, settings.generator)
        check_output(file, (settings.indexer.home / name, *named))

    opening = open_declared_sources(sources, settings) if sources else open_index_as_source(name, settings)
    found, ended = _search(opening, request, settings, state, save_file)
    if as_json:
        echo_json(found.as_record())
    else:
        show_papers(found)
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
