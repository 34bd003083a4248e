"""The commands that search: `search`, `rerun` and `explain`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.columns import display_width, line_width, table, wrap, wrapped_table
from indexer.options import chosen_index, json_option, name_option, together
from indexer.output_files import check_output, is_same_file, output_file, write_standard_output
from indexer.requests import counted
from indexer.settings import IndexerSettings, named_paths
from indexer.terminal import echo, echo_json, echo_lines, shortened, styled, visible
from retriever.exports import export_named, export_names
from retriever.hits import SearchResult
from retriever.methods import method_names
from retriever.query_names import BRIDGES, NOTHING_TO_SEARCH, QUESTION

if TYPE_CHECKING:  # loaded where an index is opened
    from retriever.index import SearchIndex

LEFT_OUT = {"incomplete": "incomplete paper", "duplicates": "duplicate"}  # one of each
LONGEST_QUERY = 1_000  # characters that are shown
Result = TypeVar("Result")

method_option = click.option(
    "--method",
    type=click.Choice(method_names()),
    default="shrag",
    show_default=True,
    help="one OR query, the paper's ten queries, the tuned default, the expert language, or nearest vectors.",
)

synonyms_option = click.option(
    "--synonyms",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="For the question only; a line: 딥러닝, 심층학습, deep learning; or one way: R&D => 연구개발",
)


def source_names(values: tuple[str, ...]) -> tuple[str, ...]:
    """Part the names of sources; no name at all would have an index searched instead."""
    names = tuple(filter(None, map(str.strip, ",".join(values).split(","))))
    if values and not names:
        raise click.BadParameter("it names no source")
    return names


source_option = click.option(
    "--source",
    "sources",
    metavar="NAME[,NAME]",
    multiple=True,
    callback=lambda _, __, values: source_names(values),
    help="Search these sources instead of an index: [sources.NAME] of shrag.toml, or a file NAME.toml.",
)


filter_options = together(
    click.option("--year", metavar="Y|Y..Y", help="Year of publication: 2019, 2019..2024, ..2024, 2019.."),
    click.option("--lang", metavar="LANG", help="Language of the passage: ko, en or other."),
    click.option("--journal", help="The journal's name, exactly."),
)

constraint_options = together(
    click.option(
        "--exclude", metavar="TERM", multiple=True, help="Rank papers about TERM lower; repeatable."
    ),
    click.option(
        "--strict-time",
        is_flag=True,
        help="Papers of other years than the question asks for are left out.",
    ),
    click.option(
        "--no-constraints",
        is_flag=True,
        help="What QUESTION excludes, and its years, are words like others.",
    ),
)

plan_options = together(
    click.option(
        "--keyword",
        "keywords",
        metavar="TEXT",
        multiple=True,
        help="Search by these keywords instead, the most important first; repeatable.",
    ),
    click.option(
        "--skip", metavar="QUERY", multiple=True, help="Leave a query out: question, SQ9, …; repeatable."
    ),
)


@click.command()
@click.argument("question")
@name_option
@source_option
@method_option
@click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="Papers to find.")
@filter_options
@constraint_options
@plan_options
@synonyms_option
@json_option
@click.option(
    "--export", "export", type=click.Choice(export_names()), help="The hits' references in this format."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where --export writes to; else standard output.",
)
@click.option(
    "--record",
    "record_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Save all that is needed to report the search, and to run it again: FILE.json or FILE.md.",
)
def search(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    question: str,
    name: str | None,
    sources: tuple[str, ...],
    method: str,
    k: int,
    year: str | None,
    lang: str | None,
    journal: str | None,
    exclude: tuple[str, ...],
    strict_time: bool,
    no_constraints: bool,
    keywords: tuple[str, ...],
    skip: tuple[str, ...],
    synonyms: Path | None,
    as_json: bool,
    export: str | None,
    out: Path | None,
    record_file: Path | None,
) -> None:
    """Find the papers that answer QUESTION, in Korean or English.

    With --method boolean QUESTION is an expression:
    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024
    """
    from indexer.manifest import Manifest
    from retriever.constraints import chosen_constraints
    from retriever.filters import make_filters
    from retriever.index import SearchIndex, open_index
    from retriever.search import SearchRequest
    from retriever.search import search as run
    from retriever.settings import RetrieverSettings

    wrong = {
        "--json and --export exclude each other": export and as_json,
        "--out is for --export": out and not export,
        "--source excludes --name": sources and name,
        "--source excludes --record: sources change, and nobody could run it again": sources and record_file,
    }
    for what in (what for what, is_so in wrong.items() if is_so):
        raise click.UsageError(what)
    settings, places = RetrieverSettings(), IndexerSettings()
    filters, synonyms = make_filters(year, lang, journal), synonyms or settings.synonyms
    name = "" if sources else chosen_index(name, places)
    read = (synonyms, places.home / name, *named_paths(places, settings))
    if out:
        check_output(out, read)
    if record_file:
        from retriever.search_record_files import form_of

        form_of(record_file)
        check_output(record_file, read)
        if out and is_same_file(out, record_file):
            raise click.UsageError("--out and --record name the same file")
    constraints = chosen_constraints(
        question, settings, exclude=exclude, strict_time=strict_time, found=not no_constraints
    )
    request = SearchRequest(
        question, method, k, filters, constraints=constraints, keywords=keywords or None, skip=skip
    )

    async def of_version(version: SearchIndex) -> tuple[SearchResult, list[dict[str, Any]], Manifest]:
        result = await run(version, request, settings)
        if not export:
            return result, [], version.manifest
        from retriever.paper_records import records_of_hits

        return result, await records_of_hits(version, result.hits), version.manifest

    if sources:
        result, records, manifest = _of_sources(sources, places, synonyms, of_version)
    else:
        with open_index(places, name, synonyms, follow=True) as index:
            result, records, manifest = asyncio.run(index.ask(of_version))
    try:
        if export:
            _write_export(result, export_named(export).encoded(records), out)
        elif as_json:
            echo_json(result.as_record())
        else:
            show_search(result)
    finally:  # last, as a full disk costs no result; nor does it cost the record that nobody reads on
        if record_file:
            from retriever.search_record import search_record
            from retriever.search_record_files import save

            save(search_record(manifest, request, result), record_file)


def _of_sources(
    names: Iterable[str],
    places: IndexerSettings,
    synonyms: Path | None,
    question: "Callable[[SearchIndex], Awaitable[Result]]",
) -> Result:
    """Ask sources, as an index is asked."""
    from retriever.sources.gathered import open_sources

    async def asked() -> Result:
        async with open_sources(names, places, synonyms) as index:
            return await question(index)

    return asyncio.run(asked())


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", help="The index's name; else that of the record.")
@synonyms_option
@json_option
def rerun(file: Path, name: str | None, synonyms: Path | None, as_json: bool) -> None:
    """Run the search again that FILE, made by `search --record FILE.json`, describes; exit 1 if hits differ.

    The settings are those that took effect then.
    """
    from retriever.index import SearchIndex, open_index
    from retriever.rerun import compare, comparison_lines
    from retriever.search import search as run
    from retriever.search_record import SearchRecord, search_record
    from retriever.search_record_files import load

    then = load(file)
    request, settings = then.request, then.settings()

    async def of_version(version: SearchIndex) -> SearchRecord:
        return search_record(version.manifest, request, await run(version, request, settings))

    synonyms = synonyms or settings.synonyms
    with open_index(IndexerSettings(), name or then.index_name, synonyms, follow=True) as index:
        found = compare(then, asyncio.run(index.ask(of_version)))
    if as_json:
        echo_json(found.as_record())
    else:
        echo_lines(comparison_lines(found))
    if not found.same:
        came, went, moved = len(found.came), len(found.went), len(found.moved)
        echo(f"the hits differ: {came} came, {went} went, {moved} moved", err=True)
        raise SystemExit(1)


@click.command()
@click.argument("question")
@click.argument("passage_id")
@name_option
@method_option
@constraint_options
@synonyms_option
@json_option
def explain(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    question: str,
    passage_id: str,
    name: str | None,
    method: str,
    exclude: tuple[str, ...],
    strict_time: bool,
    no_constraints: bool,
    synonyms: Path | None,
    as_json: bool,
) -> None:
    """Say, part by part and term by term, why PASSAGE_ID scores what it scores for QUESTION."""
    from retriever.constraints import chosen_constraints
    from retriever.explaining import explain as run
    from retriever.explanation_text import explanation_lines
    from retriever.index import open_index
    from retriever.search import SearchRequest
    from retriever.settings import RetrieverSettings

    settings, places = RetrieverSettings(), IndexerSettings()
    synonyms = synonyms or settings.synonyms
    constraints = chosen_constraints(
        question, settings, exclude=exclude, strict_time=strict_time, found=not no_constraints
    )
    request = SearchRequest(question, method, constraints=constraints)
    with open_index(places, chosen_index(name, places), synonyms, follow=True) as index:
        account = asyncio.run(run(index, request, passage_id, settings))
    if as_json:
        echo_json(account.as_record())
        return
    echo_lines(explanation_lines(account))


def _write_export(result: SearchResult, pieces: Iterable[bytes], out: Path | None) -> None:
    """Write the references of all hits to a file, or to standard output."""
    echo_lines((f"note: {note}" for note in result.notes), err=True)
    if out is None:
        write_standard_output(pieces)
        return
    with output_file(out) as file:
        file.writelines(pieces)
    echo(f"{counted(len(result.hits), 'reference')} written to {out}", err=True)


def show_search(result: SearchResult) -> None:
    """Print keywords, queries and hits for a person."""
    show_trace(result)
    if not result.hits:
        echo(NOTHING_TO_SEARCH if NOTHING_TO_SEARCH in result.notes else "no hits")
    else:
        _show_hits(result)
    order = f"ordered by {result.order}" if result.hits else ""
    left_out = ", ".join(counted(count, LEFT_OUT[kind]) for kind, count in result.filtered.items() if count)
    if said := "; ".join(filter(None, (order, left_out and f"left out: {left_out}"))):
        echo(said, err=True)
    if result.hits:
        echo(f"{result.milliseconds['total']:,.0f} ms", err=True)


def _show_hits(result: SearchResult) -> None:
    header = ("", "score", "passage", "year", "title and text")
    rows = [
        (str(hit.rank).rjust(2), f"{hit.score:.4f}", hit.passage_id, str(hit.passage.year or ""), "")
        for hit in result.hits
    ]
    first, *begun = table([header, *rows])
    indent = display_width(first) - len(header[-1])
    echo(first)
    for hit, begin in zip(result.hits, begun, strict=True):
        title, *more = wrap(visible(shortened(hit.passage.title)), line_width() - indent) or ["(no title)"]
        echo(begin + " " * (indent - display_width(begin)), styled(title, bold=True))
        for line in more:
            echo(" " * indent, styled(line, bold=True))
        for line in wrap(visible(hit.snippet), line_width() - indent):
            echo(" " * indent, styled(line, dim=True))


def show_trace(result: SearchResult) -> None:
    """Print the keywords, the queries and what they found."""
    if result.keywords:
        shown = ", ".join(f"{shortened(keyword.text)} ({keyword.weight:.2f})" for keyword in result.keywords)
        echo(styled("keywords", bold=True), f"  {shown}")
    rows = [("query", "hits")]
    for query in result.queries:
        words, titles, _ = query.query.partition(" OR title:")
        in_titles = titles and query.name in {QUESTION, BRIDGES}
        shown = shortened(words if in_titles else query.query, LONGEST_QUERY)
        rows.append((f"{shown} (and in titles)" if in_titles else shown, str(query.hits)))
    for lines in wrapped_table(rows) if result.queries else ():
        echo_lines(f" {line}" for line in lines)
    for note in result.notes:
        echo(f"note: {note}", err=True)
