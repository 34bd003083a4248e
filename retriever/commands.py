"""The commands that search: `search` and `explain`."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from indexer.options import json_option, name_option
from indexer.requests import counted
from indexer.settings import IndexerSettings
from indexer.terminal import column_widths, line_width, padded, wrap
from retriever.hits import SearchResult
from retriever.methods import method_names
from retriever.query_names import NOTHING_TO_SEARCH, QUESTION, TRANSLATION

LEFT_OUT = {"incomplete": "incomplete paper", "duplicates": "duplicate"}  # one of each
Command = TypeVar("Command", bound=Callable[..., Any])

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
    envvar="SHRAG_SYNONYMS",
    help="For the question only; a line: 딥러닝, 심층학습, deep learning; or one way: R&D => 연구개발",
)


def filter_options(command: Command) -> Command:
    """Add --year, --lang and --journal."""
    options = (
        click.option(
            "--year", metavar="Y|Y..Y", help="Year of publication: 2019, 2019..2024, ..2024, 2019.."
        ),
        click.option("--lang", metavar="LANG", help="Language of the passage: ko, en or other."),
        click.option("--journal", help="The journal's name, exactly."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("question")
@name_option
@method_option
@click.option("-k", "k", type=click.IntRange(1, 1000), default=10, show_default=True, help="Papers to find.")
@filter_options
@synonyms_option
@json_option
def search(  # noqa: PLR0913, PLR0917 - a command takes what its options give
    question: str,
    name: str,
    method: str,
    k: int,
    year: str | None,
    lang: str | None,
    journal: str | None,
    synonyms: Path | None,
    as_json: bool,
) -> None:
    """Find the papers that answer QUESTION, in Korean or English.

    With --method boolean QUESTION is an expression:
    제목:"지식 그래프" AND (retrieval OR 검색) NOT survey year:2019..2024
    """
    from retriever.filters import make_filters
    from retriever.index import open_index
    from retriever.search import SearchRequest
    from retriever.search import search as run
    from retriever.settings import RetrieverSettings

    request = SearchRequest(question, method=method, k=k, filters=make_filters(year, lang, journal))
    with open_index(IndexerSettings(), name, synonyms, follow=True) as index:
        result = asyncio.run(run(index, request, RetrieverSettings()))
    if as_json:
        click.echo(json.dumps(result.as_record(), ensure_ascii=False))
        return
    show_search(result)


@click.command()
@click.argument("question")
@click.argument("passage_id")
@name_option
@method_option
@synonyms_option
@json_option
def explain(
    question: str, passage_id: str, name: str, method: str, synonyms: Path | None, as_json: bool
) -> None:
    """Say, term by term, why PASSAGE_ID scores what it scores for QUESTION."""
    from retriever.explaining import explain as run
    from retriever.index import open_index
    from retriever.search import SearchRequest
    from retriever.settings import RetrieverSettings

    with open_index(IndexerSettings(), name, synonyms, follow=True) as index:
        account = asyncio.run(run(index, SearchRequest(question, method), passage_id, RetrieverSettings()))
    if as_json:
        click.echo(json.dumps(account.as_record(), ensure_ascii=False))
        return
    from rich.table import Table

    from indexer.terminal import console

    screen = console()
    screen.print(f"{passage_id} [{method}]  {account.title}")
    table = Table("term", "field", "tf", "df", "idf", "weight", "score", box=None)
    for term in account.explanation.terms:
        row = (f"{term.frequency:g}", str(term.document_frequency), f"{term.idf:.3f}", f"{term.weight:g}")
        table.add_row(term.token, term.field, *row, f"{term.score:.4f}")
    table.add_row("BM25", "", "", "", "", "", f"{account.explanation.score:.4f}")
    screen.print(table)
    if account.features:
        features = Table("feature", "value", "weight", "score", box=None)
        for name_, (value, weight) in account.features.items():
            features.add_row(name_, f"{value:.4f}", f"{weight:g}", f"{value * weight:.4f}")
        screen.print(features)
    screen.print(account.summary)


def show_search(result: SearchResult) -> None:
    """Print keywords, queries and hits for a person."""
    show_trace(result)
    if not result.hits:
        click.echo(NOTHING_TO_SEARCH if NOTHING_TO_SEARCH in result.notes else "no hits")
        return
    header = ("", "score", "passage", "year", "title and text")
    rows = [
        (str(hit.rank).rjust(2), f"{hit.score:.4f}", hit.passage_id, str(hit.passage.year or ""))
        for hit in result.hits
    ]
    widths = column_widths([header[:-1], *rows])
    indent = sum(widths) + 2 * len(widths)
    click.echo(f"{padded(header[:-1], widths)}  {header[-1]}")
    for hit, row in zip(result.hits, rows, strict=True):
        title, *more = wrap(hit.passage.title, line_width() - indent) or ["(no title)"]
        click.echo(f"{padded(row, widths)}  {click.style(title, bold=True)}")
        for line in more:
            click.echo(" " * indent + click.style(line, bold=True))
        for line in wrap(hit.snippet, line_width() - indent):
            click.echo(" " * indent + click.style(line, dim=True))
    left_out = ", ".join(counted(count, LEFT_OUT[kind]) for kind, count in result.filtered.items() if count)
    click.echo(f"ordered by {result.order}" + (f"; left out: {left_out}" if left_out else ""), err=True)
    click.echo(f"{result.milliseconds['total']:.0f} ms", err=True)


def show_trace(result: SearchResult) -> None:
    """Print the keywords, the queries and what they found."""
    if result.keywords:
        shown = ", ".join(f"{keyword.text} ({keyword.weight:.2f})" for keyword in result.keywords)
        click.echo(f"{click.style('keywords', bold=True)}  {shown}")
    rows = [("query", "hits")]
    for query in result.queries:
        words, titles, _ = query.query.partition(" OR title:")
        shortened = titles and query.name in {QUESTION, TRANSLATION}
        rows.append((f"{words} (and in titles)" if shortened else query.query, str(query.hits)))
    if result.queries:
        widths = column_widths(rows)
        widths[0] = min(widths[0], line_width() - 8)
        for words, hits in rows:
            *lines, last = wrap(words, widths[0])
            click.echo("".join(f" {line}\n" for line in lines) + f" {padded((last, hits), widths)}".rstrip())
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
