"""The commands of sources: `shrag sources list` and `shrag sources check`."""

import asyncio
import os
import time
from dataclasses import asdict, dataclass, fields

import click

from base.amounts import counted
from base.errors import RemediableError
from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines, shortened
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.queries.boolean import Or, Term
from retriever.queries.filters import Filters
from retriever.sources import Source, SourceAnswer, SourceFeatures
from retriever.sources.configuration import SourceTable, declared, find_source, read_tables
from retriever.sources.gathered import open_declared
from retriever.sources.merging import ask_sources

WORDS = Or((Term("research", ("research",)), Term("연구", ("연구",))))  # the query of a check
NONE = "no source is configured; docs/how-to/sources.md describes how to add one"


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A configured source; `problem` is the reason if it cannot be used."""

    name: str
    kind: str
    private: bool | None = None
    features: tuple[str, ...] = ()
    problem: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """The answer of a source to one small query."""

    name: str
    found: int = 0
    title: str = ""  # of the first paper
    notes: tuple[str, ...] = ()
    milliseconds: float = 0.0
    problem: str | None = None


@click.group()
def sources() -> None:
    """List the sources of papers that are configured, and check whether they answer."""


@sources.command("list")
@json_option
def list_sources(as_json: bool) -> None:
    """List the configured sources, whether questions stay within the institution, and their features."""
    listed = [asyncio.run(_described(table)) for table in read_tables().values()]
    if as_json:
        echo_json({"sources": [asdict(each) for each in listed]})
    elif not listed:
        echo(NONE, err=True)
    else:
        questions = {True: "stay inside", False: "leave", None: ""}
        rows = [("source", "kind", "questions", "can, beside searching", "holds")]
        for each in listed:
            can = each.problem or ", ".join(each.features)
            rows.append((each.name, each.kind, questions[each.private], can, each.description))
        echo_lines(table(rows))


@sources.command()
@click.argument("name", required=False)
@json_option
def check(name: str | None, as_json: bool) -> None:
    """Send a small query to the source NAME, or to all, and show the answers; exit 1 if one fails.

    NAME may be a file NAME.toml that describes one source.
    """
    tables = read_tables()
    if name and name not in tables:
        find_source(name, tables, os.environ)  # raises if it is unknown

    async def check_all() -> list[CheckedSource]:
        return await asyncio.gather(*(_checked(each, tables) for each in ([name] if name else tables)))

    checked = asyncio.run(check_all())
    if as_json:
        echo_json({"sources": [asdict(each) for each in checked]})
    elif not checked:
        echo(NONE, err=True)
    for each in () if as_json else checked:
        said = each.problem or f"{counted(each.found, 'paper')} in {each.milliseconds:,.0f} ms"
        echo(f"{each.name}: {said}" + (f", the first {shortened(each.title)!r}" if each.title else ""))
        echo_lines(f"  note: {note}" for note in each.notes)
    if any(each.problem for each in checked):
        raise SystemExit(1)


async def _described(table: SourceTable) -> ListedSource:
    try:
        async with open_declared([declared(table)], IndexerSettings()) as [opened]:
            able = opened.source.features
    except RemediableError as error:
        return ListedSource(table.name, table.kind, problem=str(error))
    names = [each.name for each in fields(SourceFeatures) if each.name != "private"]
    can = tuple(name for name in names if getattr(able, name))
    return ListedSource(table.name, table.kind, able.private, can, description=opened.description)


async def _checked(name: str, tables: dict[str, SourceTable]) -> CheckedSource:
    begun = time.monotonic()

    async def ask(source: Source) -> tuple[SourceAnswer, tuple[str, ...]]:
        return await source.search([(WORDS, 3)], filters=Filters()), await source.wrongly_described()

    try:
        async with open_declared([find_source(name, tables, os.environ)], IndexerSettings()) as opened:
            [(answer, wrong)] = (await ask_sources(opened, ask)).answers.values()
    except RemediableError as error:
        return CheckedSource(name, problem=str(error))
    papers = answer.found[0] if answer.found else ()
    title = papers[0].paper.title if papers else ""
    spent = round(1000 * (time.monotonic() - begun), 2)
    return CheckedSource(name, len(papers), title, (*answer.notes, *wrong), spent)
