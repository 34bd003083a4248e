"""The command `rerun`: a recorded search again, its differences or its new papers."""

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import click

from base.amounts import counted
from base.errors import InvalidCall, ResourceError
from base.remedies import describe_error
from base.terminal.output import echo, echo_json, echo_lines, json_text, shortened
from base.terminal.parameters import PathParameter
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.errors import RetrieverError
from retriever.following import FollowingIndex
from retriever.index import SearchIndex, open_index
from retriever.options import synonyms_option
from retriever.papers.records import records_of_hits
from retriever.search import search
from retriever.search_records.first_found import (
    LAST,
    FirstFound,
    NewPapers,
    file_beside,
    new_papers_lines,
    since_of,
)
from retriever.search_records.record import Comparison, SearchRecord, compare, now, search_record

Opener = Callable[[str, Path | None], FollowingIndex]
SHOWN_CHARACTERS = 80  # of a value that changed


@click.command()
@click.argument("files", type=PathParameter(), nargs=-1, required=True, metavar="FILE…")
@click.option("--name", help="Name of the index; default: the name in the record.")
@click.option(
    "--since",
    metavar="DATE|last|record",
    help="List only papers that the search first found on or after DATE, after the last such call, or after "
    "the record. Nothing is printed if there are none.",
)
@synonyms_option
@json_option
def rerun(
    files: tuple[Path, ...], name: str | None, since: str | None, synonyms: Path | None, *, as_json: bool
) -> None:
    """Repeat the search that FILE describes; exit 1 if the hits differ.

    FILE comes from `search --record FILE.json`. The recorded settings apply.

    With --since, several files, and folders of *.json files, can be given. The time at which each paper was
    first found is saved in FILE.found. The exit code is then 0 with and without new papers. --json prints an
    object for each file.
    """
    if since is None and len(files) > 1:
        raise click.UsageError("several files need --since")
    with ExitStack() as opened:

        @cache
        def open_once(index: str, recorded: Path | None) -> FollowingIndex:
            """Open an index once, with the given synonyms or those of the record."""
            opening = open_index(IndexerSettings(), index, synonyms or recorded, follow=True)
            return opened.enter_context(opening)

        if since is not None:
            _report_new(files, name, since_of(since), open_once, as_json=as_json)
            return
        then = SearchRecord.load(files[0])
        found = compare(then, _repeated(then, name, open_once)[0])
    if as_json:
        echo_json(found.as_record())
    else:
        echo_lines(_comparison_lines(found))
    if not found.same:
        came, went, moved = len(found.came), len(found.went), len(found.moved)
        echo(f"the hits differ: {came} came, {went} went, {moved} moved", err=True)
        raise SystemExit(1)


def _comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield lines for a person: papers that came, went or moved, and changes; or that all is the same."""
    if found.same:
        yield f"the same {counted(found.found, 'hit')}, in the same order"
    yield from (f"came   {paper.doc_id}  {paper.title}" for paper in found.came)
    yield from (f"went   {paper.doc_id}  {paper.title}" for paper in found.went)
    yield from (f"moved  {paper.doc_id}  from {paper.then} to {paper.now}" for paper in found.moved)
    for change in found.changed:
        then, now_ = (shortened(json_text(value), SHOWN_CHARACTERS) for value in (change.then, change.now))
        yield f"{change.what}: {then}, now {now_}"


def _repeated(
    then: SearchRecord,
    name: str | None,
    open_once: Opener,
    known: FirstFound | None = None,
    since: str = "",
) -> tuple[SearchRecord, list[dict[str, Any]]]:
    """Search again; return the new record, and the records of papers that are new since `since`."""
    request, settings = then.request, then.settings()

    async def of_version(version: SearchIndex) -> tuple[SearchRecord, list[dict[str, Any]]]:
        result = await search(version, request, settings)
        new = set(known.new_papers((hit.doc_id for hit in result.listed), since)) if known else set()
        listed = [hit for hit in result.listed if hit.doc_id in new]
        papers = await version.run(records_of_hits, listed) if listed else []
        return search_record(version.manifest, request, result), papers

    name = name or str(then.record["index"]["name"])
    return asyncio.run(open_once(name, settings.synonyms).ask(of_version))


def _report_new(
    files: Iterable[Path], name: str | None, since: str, open_once: Opener, *, as_json: bool
) -> None:
    """Print the new papers of each search, then save the times; a failed search does not stop the others."""
    failed: Exception | None = None
    for file in _records(files):
        try:
            _report_new_of(file, name, since, open_once, as_json=as_json)
        except (ResourceError, RetrieverError) as error:
            if failed is not None:
                echo(f"{file}: {describe_error(error)}", err=True)
            failed = failed or error
    if failed is not None:
        raise failed


def _report_new_of(file: Path, name: str | None, since: str, open_once: Opener, *, as_json: bool) -> None:
    then, beside = SearchRecord.load(file), file_beside(file)
    index = name or str(then.record["index"]["name"])
    known, searched = FirstFound.load(beside, then, index), now()
    found, papers = _repeated(then, index, open_once, known, since)
    news = NewPapers(
        file=str(file),
        question=then.request.question,
        name=index,
        version=found.record["index"]["version"],
        since={LAST: known.reported}.get(since, since),
        found=len(found.titles),
        most=then.request.k,
        new=papers,
    )
    if as_json:
        echo_json(news.as_record())
    else:
        echo_lines(new_papers_lines(news))
    sys.stdout.flush()  # a report that cannot be written is repeated by the next call
    again = known.found_again(found.titles, searched)
    (replace(again, reported=searched) if since == LAST else again).save(beside)


def _records(files: Iterable[Path]) -> Iterator[Path]:
    """Yield the files, and the *.json files of folders in the order of their names.

    Raises:
        InvalidCall: a folder contains no such file.
    """
    for path in files:
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise InvalidCall(f"the folder {path} contains no record (*.json)")
        yield from inside
