"""The new papers of a saved search, by the time at which it first found each paper.

An index does not store when a paper was added. A paper is new for a search if the search finds it now, and
neither its record nor an earlier repetition has it. The times are saved after each repetition, in a file
beside the record (`FILE.found`). Their report is a text in Korean or English, for example for a mail of cron.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, computed_field

from base.errors import InvalidCall
from base.files.output_files import check_output, write_output
from base.files.regular_files import read_regular
from base.records import INTERNAL, Recordable, adapter
from base.terminal.output import json_text
from indexer.corpora.papers import language_of
from retriever.reference import one_line, reference_line, web_address
from retriever.search_records.record import SearchRecord

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

    def save(self, path: Path) -> None:
        """Replace the file of the times; OutputNotWritten if that fails."""
        write_output(path, (json_text(asdict(self)) + "\n").encode())

    def found_again(self, doc_ids: Iterable[str], now: str) -> "FirstFound":
        """Add the new papers of a repetition, before the known ones, which keep their times."""
        return replace(self, papers={**dict.fromkeys(doc_ids, now), **self.papers})

    def new_papers(self, doc_ids: Iterable[str], since: str) -> list[str]:
        """Return the papers, of those found now, that are new, in the given order.

        Args:
            doc_ids: the papers found now.
            since: `last` for papers found after the last report, `record` for papers found after the record,
                or a date, which is included.
        """
        after = {LAST: self.reported, RECORD: self.searched}.get(since)

        def is_new(found: str | None) -> bool:
            return found is None or (found >= since if after is None else found > after)

        return [doc_id for doc_id in doc_ids if is_new(self.papers.get(doc_id))]


@dataclass(frozen=True, slots=True)
class NewPapers(Recordable):
    """The new papers of a saved search, in the order of its hits."""

    file: str
    question: str
    name: Annotated[str, Field(description="of the index")]
    version: int
    since: str
    found: Annotated[int, Field(description="all papers found now")]
    most: Annotated[int, INTERNAL]  # the requested number of hits
    new: Annotated[list[dict[str, Any]], Field(description="complete records")]

    @computed_field
    @property
    def is_full(self) -> bool:
        """Whether the search found as many papers as requested."""
        return self.found >= self.most


def new_papers_lines(news: NewPapers) -> Iterator[str]:
    """Yield a heading, and a numbered list with reference, address and id; nothing if no paper is new."""
    if not news.new:
        return
    heading, place, full = WORDS["ko" if language_of(news.question) == "ko" else "en"]
    yield f"{heading.format(count=len(news.new))} – {one_line(news.question)}"
    yield place.format(name=news.name, version=news.version, since=news.since)
    yield ""
    for number, record in enumerate(news.new, 1):
        doc_id = record["doc_id"]
        yield f"{number:>3}. {one_line(reference_line(record)) or doc_id}"
        yield from (f"     {text}" for text in (web_address(record), doc_id) if text)
    if news.is_full:
        yield from ("", full.format(most=news.most))
    yield ""


def since_of(given: str) -> str:
    """Check a value of `--since`; raise InvalidCall if it is neither a date, `last` nor `record`."""
    if given in {LAST, RECORD}:
        return given
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError:
        raise InvalidCall(
            f"{given[:100]!r} is neither a date, like 2026-11-30, nor {LAST} or {RECORD}"
        ) from None


def file_beside(record: Path) -> Path:
    """Return the path of the times of a record's search; raise as `check_output` if it is not writable."""
    path = record.with_name(f"{record.name}.found")
    check_output(path, (record,))
    return path
