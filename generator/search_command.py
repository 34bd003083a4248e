"""Command `search`, and the options of strategies, which `ask` has too."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from base.calls import Section
from base.terminal.call_options import call_options
from base.terminal.output import echo_json, echo_lines
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from generator.places import ask_place, check_files
from indexer.options import json_option
from indexer.settings import IndexerSettings, named_paths
from retriever.calls import QuestionCall, SearchCall
from retriever.commands import show_search
from retriever.export_files import check_export, write_export
from retriever.options import COMPLETIONS, chosen_place, export_options, strategy_option, synonyms_option
from retriever.strategy import Strategy, read_strategy

if TYPE_CHECKING:  # loaded where an index is opened
    from indexer.versions.manifest import Manifest
    from retriever.index import SearchIndex
    from retriever.request import SearchRequest
    from retriever.stages.hits import SearchResult

Call = TypeVar("Call", bound=QuestionCall)

strategy_options = (
    strategy_option,
    click.option(
        "--show-strategy",
        "shows_strategy",
        is_flag=True,
        help="Print the strategy as JSON, and do not search.",
    ),
)


def with_strategy_of(call: Call, file: Path | None) -> Call:
    """Return the call with the strategy in a file.

    Raises:
        UsageError: the call names a strategist too.
        InvalidCall: the file cannot be read, or contains no strategy.
    """
    if file is None:
        return call
    if call.strategist:
        raise click.UsageError("--strategy excludes --strategist: a strategy in a file needs no strategist")
    return call.changed(strategy=read_strategy(file))


def show_strategy(strategy: Strategy | None, notes: Iterable[str]) -> None:
    """Print a strategy as JSON, and notes on standard error; raise UsageError if there is none."""
    if strategy is None:
        raise click.UsageError("this method searches without a strategy, or the question has no words")
    echo_lines((f"note: {note}" for note in notes), err=True)
    echo_json(strategy.as_record())


@click.command(cls=SectionedCommand)
@call_options(SearchCall, COMPLETIONS)
@option_section(Section.SEARCHING, *strategy_options, synonyms_option)
@option_section(
    Section.OUTPUT,
    json_option,
    *export_options,
    click.option(
        "--record",
        "record_file",
        type=PathParameter(),
        metavar="FILE",
        help="Save a record to report or repeat the search: FILE.json, FILE.md or FILE.docx.",
    ),
)
def search(  # noqa: PLR0913 - one for each option
    call: SearchCall,
    *,
    strategy_file: Path | None,
    shows_strategy: bool,
    synonyms: Path | None,
    as_json: bool,
    export: str | None,
    cite: str | None,
    out: Path | None,
    record_file: Path | None,
) -> None:
    """Find the papers that answer QUESTION, in Korean or English.

    With --strategist model, the language model writes the strategy: keywords, exclusions and years.

    With --method boolean QUESTION is an expression:
    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024
    """
    from retriever.search import search as run
    from retriever.settings import RetrieverSettings

    check_export(export, cite, out, as_json=as_json)
    if call.sources and record_file:
        raise click.UsageError("--source excludes --record: sources change, so the search cannot be repeated")
    call = with_strategy_of(call, strategy_file)
    settings, places = RetrieverSettings(), IndexerSettings()
    synonyms = synonyms or settings.synonyms
    name = chosen_place(call.index, call.sources, places)
    read = (strategy_file, synonyms, places.home / name, *named_paths(places, settings))
    if record_file:
        from retriever.search_records.report import form_of

        form_of(record_file)
    check_files({"--out": out, "--record": record_file}, read)

    async def strategy_of_version(version: "SearchIndex") -> tuple[Strategy | None, Sequence[str]]:
        from generator.strategist import strategy_of

        request, notes = await _request_of(call)
        return await strategy_of(version, request, settings), notes

    async def of_version(
        version: "SearchIndex",
    ) -> "tuple[SearchRequest, SearchResult, list[dict[str, Any]], Manifest]":
        request, notes = await _request_of(call)
        result = (await run(version, request, settings)).with_notes(notes)
        if not (export or cite):
            return request, result, [], version.manifest
        from retriever.papers.records import records_of_hits

        return request, result, await version.run(records_of_hits, result.listed), version.manifest

    if shows_strategy:
        shown = ask_place(name, call.sources, places, synonyms, lambda index: index.ask(strategy_of_version))
        show_strategy(*shown)
        return
    request, result, records, manifest = ask_place(
        name, call.sources, places, synonyms, lambda index: index.ask(of_version)
    )
    try:
        if export or cite:
            echo_lines((f"note: {note}" for note in result.notes), err=True)
            write_export(export, cite, records, out)
        elif as_json:
            echo_json(result.as_record())
        else:
            show_search(result)
    finally:  # last, so that a full disk loses no output; also written after a closed pipe
        if record_file:
            from base.files.output_files import write_output
            from retriever.search_records.record import search_record
            from retriever.search_records.report import form_of, written

            record = search_record(manifest, request, result)
            write_output(record_file, written(record, form_of(record_file)))


async def _request_of(call: SearchCall) -> "tuple[SearchRequest, Sequence[str]]":
    """Return the request with the strategy of the call's strategist, and notes."""
    if call.strategist != "model":
        return call.request(), ()
    from generator.request import Settings
    from generator.strategist import with_strategy
    from generator.tracing import Step

    step = Step("search")
    request = await with_strategy(step, call.request(), call.strategist, Settings.from_environment())
    return request, step.all_notes()
