"""The command `rerun`: a recorded search again, its differences or its new papers."""

import asyncio
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from base.errors import InvalidCall, ResourceError
from base.remedies import describe_error
from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.parameters import PathParameter
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.errors import RetrieverError
from retriever.index import OpenIndex, SearchIndex, open_index
from retriever.options import synonyms_option
from retriever.papers.records import records_of_hits
from retriever.search import search
from retriever.search_records.files import load
from retriever.search_records.first_found import (
    LAST,
    FirstFound,
    NewPapers,
    file_beside,
    load_first_found,
    new_papers_lines,
    now,
    save_first_found,
    since_of,
)
from retriever.search_records.record import SearchRecord, search_record
from retriever.search_records.rerun import compare, comparison_lines


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
    if since is not None:
        _report_new(files, name, since_of(since), synonyms, as_json=as_json)
        return
    if len(files) > 1:
        raise click.UsageError("several files need --since")
    then = load(files[0])
    with _Indexes(synonyms) as indexes:
        found = compare(then, _repeated(indexes, then, name)[0])
    if as_json:
        echo_json(found.as_record())
    else:
        echo_lines(comparison_lines(found))
    if not found.same:
        came, went, moved = len(found.came), len(found.went), len(found.moved)
        echo(f"the hits differ: {came} came, {went} went, {moved} moved", err=True)
        raise SystemExit(1)


class _Indexes(ExitStack):
    """Indexes by name, each opened once."""

    def __init__(self, synonyms: Path | None) -> None:
        super().__init__()
        self._synonyms, self._opened = synonyms, dict[tuple[str, Path | None], OpenIndex]()

    def opened(self, name: str, synonyms: Path | None) -> OpenIndex:
        """Open an index, with the synonyms of the command, else those of the settings."""
        key = (name, self._synonyms or synonyms)
        if key not in self._opened:
            self._opened[key] = self.enter_context(open_index(IndexerSettings(), *key, follow=True))
        return self._opened[key]


def _repeated(
    indexes: _Indexes, then: SearchRecord, name: str | None, known: FirstFound | None = None, since: str = ""
) -> tuple[SearchRecord, list[dict[str, Any]]]:
    """Search again; return the new record, and the records of papers that are new since `since`."""
    request, settings = then.request, then.settings()

    async def of_version(version: SearchIndex) -> tuple[SearchRecord, list[dict[str, Any]]]:
        result = await search(version, request, settings)
        new = known.new_papers((hit.doc_id for hit in result.listed), since) if known else []
        listed = [hit for hit in result.listed if hit.doc_id in set(new)]
        papers = await records_of_hits(version, listed) if listed else []
        return search_record(version.manifest, request, result), papers

    index = indexes.opened(name or then.index_name, settings.synonyms)
    return asyncio.run(index.ask(of_version))


def _report_new(
    files: Iterable[Path], name: str | None, since: str, synonyms: Path | None, *, as_json: bool
) -> None:
    """Print the new papers of each search, then save the times; a failed search does not stop the others."""
    failed: Exception | None = None
    with _Indexes(synonyms) as indexes:
        for file in _records(files):
            try:
                _report_new_of(file, name, since, indexes, as_json=as_json)
            except (ResourceError, RetrieverError) as error:
                if failed is not None:
                    echo(f"{file}: {describe_error(error)}", err=True)
                failed = failed or error
    if failed is not None:
        raise failed


def _report_new_of(file: Path, name: str | None, since: str, indexes: _Indexes, *, as_json: bool) -> None:
    then, beside = load(file), file_beside(file)
    index = name or then.index_name
    known, searched = load_first_found(beside, then, index), now()
    found, papers = _repeated(indexes, then, name, known, since)
    state = found.record["index"]
    news = NewPapers(
        file=str(file),
        question=then.request.question,
        name=index,
        version=state["version"],
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
    save_first_found(beside, replace(again, reported=searched) if since == LAST else again)


def _records(files: Iterable[Path]) -> Iterator[Path]:
    """Yield the files, and the *.json files of folders in the order of their names.

    Raises:
        InvalidCall: a folder contains no such file.
    """
    for path in files:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(path.glob("*.json"))
        if not inside:
            raise InvalidCall(f"the folder {path} contains no record (*.json)")
        yield from inside
