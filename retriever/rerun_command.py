"""The command `rerun`: a recorded search again, its differences or its new papers.

An index does not store when a paper was added. A paper is new for a search if the search finds it now, and
neither its record nor an earlier repetition has it. The times are saved after each repetition, in a file
beside the record (`FILE.found`). Their report is a text in Korean or English, for example for a mail of cron.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import click
from pydantic import ValidationError

from base.amounts import counted
from base.errors import InvalidCall, ResourceError
from base.files.durable import describe_error
from base.files.output_files import check_output, write_output
from base.files.regular_files import read_regular
from base.records import adapter
from base.terminal.output import echo, echo_json, echo_lines, json_text, shortened
from base.terminal.parameters import PathParameter
from indexer.corpora.papers import language_of
from indexer.options import json_option
from indexer.settings import IndexerSettings
from retriever.errors import RetrieverError
from retriever.index import open_index
from retriever.options import synonyms_option
from retriever.papers.records import records_of_hits
from retriever.reference import one_line, reference_line, web_address
from retriever.search import search
from retriever.search_records.record import Comparison, SearchRecord, compare, now, search_record

SHOWN_CHARACTERS = 80  # of a value that changed
MOST_BYTES = 16_000_000  # of a file of times: about 300,000 papers
LAST, RECORD = "last", "record"
WORDS = {
    "ko": (
        "새 논문 {count}편",
        "색인 {name}, 버전 {version}, 기준: {since}",
        "요청한 최대 결과 수({most}편)를 모두 찾았습니다. 순위가 더 낮은 새 논문은 목록에 없습니다.",
    ),
    "en": (
        "New papers: {count}",
        "Index {name}, version {version}, since {since}",
        "The search found as many papers as requested ({most}); new papers of a lower rank are not listed.",
    ),
}


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
    if since is not None:
        _report_new(files, name, _since_of(since), synonyms, as_json=as_json)
        return
    then = SearchRecord.load(files[0])
    found = compare(then, _repeated(then, name, synonyms, lambda _: False)[0])
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
    then: SearchRecord, name: str | None, synonyms: Path | None, is_new: Callable[[str], bool]
) -> tuple[SearchRecord, list[dict[str, Any]]]:
    """Search again; return the new record, and the records of the papers that are new."""
    settings = then.settings()
    with open_index(IndexerSettings(), name or then.index, synonyms or settings.synonyms) as index:
        result = asyncio.run(search(index, then.request, settings))
        new = [hit for hit in result.listed if is_new(hit.doc_id)]
        return search_record(index.manifest, then.request, result), records_of_hits(index, new)


def _since_of(given: str) -> str:
    """Check a value of `--since`; raise InvalidCall if it is neither a date, `last` nor `record`."""
    try:
        return given if given in {LAST, RECORD} else date.fromisoformat(given).isoformat()
    except ValueError:
        raise InvalidCall(
            f"{given[:100]!r} is neither a date, like 2026-11-30, nor {LAST} or {RECORD}"
        ) from None


@dataclass(frozen=True, slots=True)
class FirstFound:
    """When a search first found each paper; times are ISO 8601, in UTC."""

    searched: str  # date of the record
    index: str
    reported: str  # time of the last report
    papers: Mapping[str, str]  # time by doc_id
    found_papers: Literal[1] = 1  # version of the format

    @classmethod
    def load(cls, path: Path, record: SearchRecord, index: str) -> "FirstFound":
        """Read the times of a search; its record's date without a file, or if that is of another record.

        Raises:
            InvalidCall: the file cannot be read, or contains no times.
        """
        searched = record.record["date"]
        begun = cls(searched, index, searched, dict.fromkeys(record.titles, searched))
        try:
            saved: FirstFound = adapter(FirstFound).validate_json(read_regular(path, MOST_BYTES), strict=True)
        except FileNotFoundError:
            return begun
        except OSError as error:
            raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None
        except ValidationError:
            raise InvalidCall(
                f"{path} does not contain the papers of a saved search", remedy="delete it to start again"
            ) from None
        return saved if (saved.searched, saved.index) == (searched, index) else begun

    def is_new(self, doc_id: str, since: str) -> bool:
        """Check whether a paper that is found now is new.

        Args:
            doc_id: of the paper.
            since: `last` for papers found after the last report, `record` for papers found after the record,
                or a date, which is included.
        """
        found, after = self.papers.get(doc_id), {LAST: self.reported, RECORD: self.searched}.get(since)
        return found is None or (found >= since if after is None else found > after)


def _report_new(
    files: Iterable[Path], name: str | None, since: str, synonyms: Path | None, *, as_json: bool
) -> None:
    """Print the new papers of each search, then save the times; a failed search does not stop the others."""
    failed: Exception | None = None
    for file in _records(files):
        try:
            _report_new_of(file, name, since, synonyms, as_json=as_json)
        except (ResourceError, RetrieverError) as error:
            if failed is not None:
                echo(f"{file}: {describe_error(error)}", err=True)
            failed = failed or error
    if failed is not None:
        raise failed


def _report_new_of(file: Path, name: str | None, since: str, synonyms: Path | None, *, as_json: bool) -> None:
    then, beside = SearchRecord.load(file), file.with_name(f"{file.name}.found")
    check_output(beside, (file,))
    index = name or then.index
    known, searched = FirstFound.load(beside, then, index), now()
    found, papers = _repeated(then, index, synonyms, lambda doc_id: known.is_new(doc_id, since))
    news = {
        "file": str(file),
        "question": then.request.question,
        "name": index,
        "version": found.record["index"]["version"],
        "since": {LAST: known.reported}.get(since, since),
        "found": len(found.titles),
        "new": papers,
        "is_full": len(found.titles) >= then.request.k,  # as many papers as requested
    }
    if as_json:
        echo_json(news)
    else:
        echo_lines(_new_papers_lines(news, then.request.k))
    sys.stdout.flush()  # a report that cannot be written is repeated by the next call
    papers_found = {**dict.fromkeys(found.titles, searched), **known.papers}  # known papers keep their times
    reported = searched if since == LAST else known.reported
    again = FirstFound(known.searched, index, reported, papers_found)
    write_output(beside, (json_text(asdict(again)) + "\n").encode())


def _new_papers_lines(news: Mapping[str, Any], most: int) -> Iterator[str]:
    """Yield a heading, and a numbered list with reference, address and id; nothing if no paper is new."""
    if not news["new"]:
        return
    heading, place, full = WORDS["ko" if language_of(news["question"]) == "ko" else "en"]
    yield f"{heading.format(count=len(news['new']))} – {one_line(news['question'])}"
    yield place.format(**news)
    yield ""
    for number, record in enumerate(news["new"], 1):
        doc_id = record["doc_id"]
        yield f"{number:>3}. {one_line(reference_line(record)) or doc_id}"
        yield from (f"     {text}" for text in (web_address(record), doc_id) if text)
    if news["is_full"]:
        yield from ("", full.format(most=most))
    yield ""


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
