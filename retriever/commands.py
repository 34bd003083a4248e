"""The commands that search: `search` and `explain`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from base.amounts import counted
from base.calls import Section
from base.files.output_files import check_output, is_same_file
from base.terminal.call_options import call_options
from base.terminal.columns import display_width, line_width, table, wrap, wrapped_table
from base.terminal.output import echo, echo_json, echo_lines, shortened, styled, visible
from base.terminal.parameters import PathParameter, SectionedCommand, option_section
from indexer.corpora.papers import language_of
from indexer.options import chosen_index, json_option
from indexer.settings import IndexerSettings, named_paths
from retriever.calls import ExplainedSearch, SearchCall
from retriever.export_files import check_export, write_export
from retriever.options import COMPLETIONS, chosen_place, export_options, synonyms_option
from retriever.query_plan import BRIDGES, EXPRESSION, FEEDBACK, NOTHING_TO_SEARCH
from retriever.question.unknown_words import unknown_words_note
from retriever.stages.hits import SearchResult

if TYPE_CHECKING:  # loaded where an index is opened
    from retriever.index import SearchIndex

LEFT_OUT = {
    "incomplete": "incomplete paper",
    "duplicates": "duplicate",
    "unstated": "passage of questions or words",
    "low_scores": "paper of a low score",
}  # in the singular
OR = " OR "
LONGEST_QUERY = 1_000  # characters that are shown
TERMS_SHOWN = 12  # of a query of the second search, which may have dozens
Result = TypeVar("Result")


@click.command(cls=SectionedCommand)
@call_options(SearchCall, COMPLETIONS)
@option_section(Section.SEARCHING, synonyms_option)
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
def search(
    call: SearchCall,
    *,
    synonyms: Path | None,
    as_json: bool,
    export: str | None,
    cite: str | None,
    out: Path | None,
    record_file: Path | None,
) -> None:
    """Find the papers that answer QUESTION, in Korean or English.

    With --method boolean QUESTION is an expression:
    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024
    """
    from indexer.versions.manifest import Manifest
    from retriever.index import SearchIndex, open_index
    from retriever.search import search as run
    from retriever.settings import RetrieverSettings

    check_export(export, cite, out, as_json=as_json)
    if call.sources and record_file:
        raise click.UsageError("--source excludes --record: sources change, so the search cannot be repeated")
    settings, places = RetrieverSettings(), IndexerSettings()
    request, synonyms = call.request(settings), synonyms or settings.synonyms
    name = chosen_place(call.index, call.sources, places)
    read = (synonyms, places.home / name, *named_paths(places, settings))
    if out:
        check_output(out, read)
    if record_file:
        from retriever.search_records.files import form_of

        form_of(record_file)
        check_output(record_file, read)
        if out and is_same_file(out, record_file):
            raise click.UsageError("--out and --record name the same file")

    async def of_version(version: SearchIndex) -> tuple[SearchResult, list[dict[str, Any]], Manifest]:
        result = await run(version, request, settings)
        if not (export or cite):
            return result, [], version.manifest
        from retriever.papers.records import records_of_hits

        return result, await records_of_hits(version, result.listed), version.manifest

    if call.sources:
        result, records, manifest = _of_sources(call.sources, places, synonyms, of_version)
    else:
        with open_index(places, name, synonyms, follow=True) as index:
            result, records, manifest = asyncio.run(index.ask(of_version))
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
            from retriever.search_records.files import save
            from retriever.search_records.record import search_record

            save(search_record(manifest, request, result), record_file)


def _of_sources(
    names: Iterable[str],
    places: IndexerSettings,
    synonyms: Path | None,
    question: "Callable[[SearchIndex], Awaitable[Result]]",
) -> Result:
    """Search sources as one index."""
    from retriever.sources.gathered import open_sources

    async def asked() -> Result:
        async with open_sources(names, places, synonyms) as index:
            return await question(index)

    return asyncio.run(asked())


@click.command(cls=SectionedCommand)
@call_options(ExplainedSearch, COMPLETIONS, without={"k"})
@option_section(Section.SEARCHING, synonyms_option)
@option_section(Section.OUTPUT, json_option)
def explain(call: ExplainedSearch, *, synonyms: Path | None, as_json: bool) -> None:
    """Explain the score of PASSAGE_ID for QUESTION, part by part and term by term."""
    from retriever.explaining.passages import explain as run
    from retriever.explaining.text import explanation_lines
    from retriever.index import open_index
    from retriever.settings import RetrieverSettings

    settings, places = RetrieverSettings(), IndexerSettings()
    request, synonyms = call.request(settings), synonyms or settings.synonyms
    with open_index(places, chosen_index(call.index, places), synonyms, follow=True) as index:
        account = asyncio.run(run(index, request, call.passage_id, settings))
    if as_json:
        echo_json(account.as_record())
        return
    echo_lines(explanation_lines(account))


def show_search(result: SearchResult) -> None:
    """Print keywords, queries and hits for a person."""
    show_trace(result)
    if not result.listed:
        echo(NOTHING_TO_SEARCH if NOTHING_TO_SEARCH in result.notes else "no hits")
    else:
        _show_hits(result)
    order = f"ordered by {result.order}" if result.hits else ""
    left_out = ", ".join(counted(count, LEFT_OUT[kind]) for kind, count in result.filtered.items() if count)
    if said := "; ".join(filter(None, (order, left_out and f"left out: {left_out}"))):
        echo(said, err=True)
    if result.listed:
        echo(f"{result.milliseconds['total']:,.0f} ms", err=True)


def _show_hits(result: SearchResult) -> None:
    header = ("", "score", "passage", "year", "title and text")
    rows = [
        (str(hit.rank).rjust(2), f"{hit.score:.4f}", hit.passage_id, str(hit.passage.year or ""), "")
        for hit in result.listed
    ]
    first, *begun = table([header, *rows])
    indent = display_width(first) - len(header[-1])
    echo(first)
    for hit, begin in zip(result.listed, begun, strict=True):
        title, *more = wrap(visible(shortened(hit.passage.title)), line_width() - indent) or ["(no title)"]
        echo(begin + " " * (indent - display_width(begin)), styled(title, bold=True))
        for line in more:
            echo(" " * indent, styled(line, bold=True))
        for line in wrap(visible(hit.snippet), line_width() - indent):
            echo(" " * indent, styled(line, dim=True))
        for remark in hit.remarks():
            for line in wrap(visible(remark), line_width() - indent):
                echo(" " * indent, line)


def show_trace(result: SearchResult) -> None:
    """Print the keywords, and the queries with their numbers of hits."""
    if result.keywords:
        shown = ", ".join(f"{shortened(keyword.text)} ({keyword.weight:.2f})" for keyword in result.keywords)
        echo(styled("keywords", bold=True), f"  {shown}")
    rows = [("query", "hits")]
    for query in result.queries:
        words, titles, _ = query.query.partition(" OR title:")
        in_titles = titles and query.name != EXPRESSION
        text = words if in_titles else query.query
        shown = shortened(_first_terms(text) if query.name in (FEEDBACK, BRIDGES) else text, LONGEST_QUERY)
        rows.append((f"{shown} (and in titles)" if in_titles else shown, str(query.hits)))
    for lines in wrapped_table(rows) if result.queries else ():
        echo_lines(f" {line}" for line in lines)
    unknown = unknown_words_note(language_of(result.question), result.unknown_words)
    for note in filter(None, (*result.notes, unknown)):
        echo(f"note: {note}", err=True)


def _first_terms(query: str) -> str:
    """Shorten a query of the second search; `--json` and `--record` have all of its terms."""
    terms = query.split(OR)
    more = [f"… ({len(terms) - TERMS_SHOWN} more)"] if len(terms) > TERMS_SHOWN else []
    return OR.join([*terms[:TERMS_SHOWN], *more])
