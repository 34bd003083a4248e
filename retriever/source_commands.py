"""The commands of sources: `shrag sources list` and `shrag sources check`."""

import asyncio
import os
import time
from dataclasses import fields
from typing import Any

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


@click.group()
def sources() -> None:
    """List the sources of papers that are configured, and check whether they answer."""


@sources.command("list")
@json_option
def list_sources(as_json: bool) -> None:
    """List the configured sources, whether questions stay within the institution, and their features."""
    listed = [asyncio.run(_described(table)) for table in read_tables().values()]
    if as_json:
        echo_json({"sources": listed})
    elif not listed:
        echo(NONE, err=True)
    else:
        questions = {True: "stay inside", False: "leave", None: ""}
        rows = [("source", "kind", "questions", "can, beside searching", "holds")]
        for each in listed:
            can = each["problem"] or ", ".join(each["features"])
            rows.append((each["name"], each["kind"], questions[each["private"]], can, each["description"]))
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

    async def check_all() -> list[dict[str, Any]]:
        return await asyncio.gather(*(_checked(each, tables) for each in ([name] if name else tables)))

    checked = asyncio.run(check_all())
    if as_json:
        echo_json({"sources": checked})
    elif not checked:
        echo(NONE, err=True)
    for each in () if as_json else checked:
        said = each["problem"] or f"{counted(each['found'], 'paper')} in {each['milliseconds']:,.0f} ms"
        title = f", the first {shortened(each['title'])!r}" if each["title"] else ""
        echo(f"{each['name']}: {said}{title}")
        echo_lines(f"  note: {note}" for note in each["notes"])
    if any(each["problem"] for each in checked):
        raise SystemExit(1)


async def _described(table: SourceTable) -> dict[str, Any]:
    """Return a configured source; `problem` is the reason if it cannot be used."""
    listed: dict[str, Any] = {
        "name": table.name,
        "kind": table.kind,
        "private": None,
        "features": [],
        "problem": None,
    }
    try:
        async with open_declared([declared(table)], IndexerSettings()) as [opened]:
            able = opened.source.features
    except RemediableError as error:
        return listed | {"problem": str(error), "description": ""}
    names = [each.name for each in fields(SourceFeatures) if each.name != "private"]
    can = [name for name in names if getattr(able, name)]
    return listed | {"private": able.private, "features": can, "description": opened.description}


async def _checked(name: str, tables: dict[str, SourceTable]) -> dict[str, Any]:
    """Return the answer of a source to one small query."""
    begun = time.monotonic()
    checked = {"name": name, "found": 0, "title": "", "notes": [], "milliseconds": 0.0, "problem": None}

    async def ask(source: Source) -> tuple[SourceAnswer, tuple[str, ...]]:
        return await source.search([(WORDS, 3)], filters=Filters()), await source.wrongly_described()

    try:
        async with open_declared([find_source(name, tables, os.environ)], IndexerSettings()) as opened:
            [(answer, wrong)] = (await ask_sources(opened, ask)).answers.values()
    except RemediableError as error:
        return checked | {"problem": str(error)}
    papers = answer.found[0] if answer.found else ()
    return checked | {
        "found": len(papers),
        "title": papers[0].title if papers else "",  # of the first paper
        "notes": [*answer.notes, *wrong],
        "milliseconds": round(1000 * (time.monotonic() - begun), 2),
    }
