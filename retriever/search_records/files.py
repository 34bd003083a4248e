"""Records of searches as files: JSON to repeat a search, Markdown in Korean or English to read."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from base.errors import InvalidCall, UnknownPath
from base.files.output_files import write_output
from base.files.regular_files import read_regular
from base.terminal.output import json_text
from base.untrusted import read_json
from indexer.corpora.papers import language_of
from retriever.reference import one_line
from retriever.search_records.record import SearchRecord

HeadingLanguage = Literal["ko", "en"]
MARKUP = re.compile(r"([\\`*_\[\]<>|&~$#])")  # syntax of Markdown, or of HTML within it, in a table
HEADINGS: dict[str, tuple[str, str]] = {  # (Korean, English)
    "record": ("검색 기록", "Search record"),
    "question": ("질문 또는 검색식", "Question or expression"),
    "method": ("검색 방법", "Method"),
    "order": ("정렬", "Order"),
    "date": ("검색 일시 (UTC)", "Date of search (UTC)"),
    "software": ("소프트웨어", "Software"),
    "index": ("색인", "Index"),
    "version": ("색인 버전", "Version of the index"),
    "published": ("색인 게시 일시", "Index published"),
    "papers": ("색인된 논문 수", "Papers in the index"),
    "limits": ("제한", "Limits"),
    "keywords": ("핵심어", "Keywords"),
    "from": ("핵심어 출처", "Keywords from"),
    "asked_for": ("요청한 최대 결과 수", "Maximum results requested"),
    "results": ("결과", "Results"),
    "found": ("찾은 논문", "Papers found"),
    "incomplete": ("제외: 초록이 없는 논문", "Left out: papers without an abstract"),
    "duplicates": ("제외: 중복", "Left out: duplicates"),
    "queries": ("보낸 질의", "Queries sent"),
    "name": ("이름", "Name"),
    "query": ("질의", "Query"),
    "hits": ("결과 수", "Results"),
    "added": ("새로 찾은 논문", "Papers it added"),
    "rank": ("순위", "Rank"),
    "doc_id": ("식별자", "Id"),
    "title": ("제목", "Title"),
    "year": ("연도", "Year"),
    "settings": ("적용된 설정", "Settings that took effect"),
    "fingerprint": ("색인 지문", "Fingerprint of the index"),
    "notes": ("알림", "Notes"),
}
MOST_BYTES = 16_000_000  # of a record; one with 1,000 hits has about 200,000


def as_markdown(search: SearchRecord, language: HeadingLanguage) -> str:
    """Format a record as a report; values are escaped."""
    place = ("ko", "en").index(language)
    headings = {key: texts[place] for key, texts in HEADINGS.items()}
    return "\n".join(_lines(search.record, headings)) + "\n"


def _lines(record: dict[str, Any], headings: dict[str, str]) -> Iterator[str]:
    index, request, applied = record["index"], record["request"], record["applied"]
    yield f"# {headings['record']}"
    yield ""
    yield from _table(
        (headings["question"], request["question"]),
        [
            (headings["method"], request["method"]),
            (headings["order"], applied["order"]),
            (headings["limits"], "; ".join(_limits(record)) or "–"),
            (headings["keywords"], ", ".join(keyword["text"] for keyword in record["keywords"]) or "–"),
            (headings["from"], applied["keyword_source"] or "–"),
            (headings["asked_for"], request["k"]),
            (headings["date"], record["date"]),
            (headings["software"], f"SHRAG {record['shrag']}"),
            (headings["index"], f"{index['name']} ({index['engine']})"),
            (headings["version"], index["version"]),
            (headings["published"], index["published"]),
            (headings["papers"], f"{index['papers']:,}"),
        ],
    )
    counts = [
        (headings[kind], f"{count:,}") for kind, count in record["filtered"].items() if kind in headings
    ]
    yield from _section(headings["results"], (headings["found"], f"{len(record['hits']):,}"), counts)
    yield from _records(record["queries"], ("name", "query", "hits", "added"), headings["queries"], headings)
    yield from _records(record["hits"], ("rank", "doc_id", "title", "year"), headings["found"], headings)
    notes = [(note,) for note in record["notes"]]
    if notes:
        yield from _section(headings["notes"], ("",), notes)
    settings = [(name, _shown(value)) for name, value in applied.items() if value not in (None, "", [])]
    yield from _section(headings["settings"], ("", ""), settings)
    yield from _section(headings["fingerprint"], ("", ""), list(index["fingerprint"].items()))


def _limits(record: dict[str, Any]) -> Iterator[str]:
    """Describe the limits of the search: filters, exclusions, years; then queries left out."""
    for name, value in record["request"]["filters"].items():
        if value not in (None, [], ()):
            yield f"{name}: {_shown(value)}"
    constraints = record["constraints"]
    for exclusion in constraints["exclusions"]:
        yield f"NOT {exclusion['text']}"
    for years in constraints["years"]:
        yield f"{years['first'] or ''}–{years['last'] or ''}"
    if skipped := record["request"].get("skip"):
        yield f"skip: {_shown(skipped)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _records(
    records: Iterable[dict[str, Any]], keys: Sequence[str], heading: str, headings: dict[str, str]
) -> Iterator[str]:
    """Format a table of some keys of each record."""
    rows = [[record.get(key, "") for key in keys] for record in records]
    yield from _section(heading, [headings[key] for key in keys], rows)


def _section(heading: str, header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield ""
    yield f"## {heading}"
    yield ""
    yield from _table(header, rows)


def _table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield _row(header)
    yield "|" + " --- |" * len(header)
    yield from map(_row, rows)


def _row(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(MARKUP.sub(r"\\\1", one_line(str(cell))) for cell in cells) + " |"


def as_json(search: SearchRecord) -> str:
    """Return the record as JSON."""
    return json_text(search.record, indent=1) + "\n"


def as_report(search: SearchRecord) -> str:
    """Return the record as Markdown, with headings in the language of the question."""
    language = language_of(search.record["request"]["question"])
    return as_markdown(search, "ko" if language == "ko" else "en")


FORMS: dict[str, Callable[[SearchRecord], str]] = {".json": as_json, ".md": as_report}


def form_of(path: Path) -> Callable[[SearchRecord], str]:
    """Return the writer for a file's ending; InvalidCall if there is none."""
    if form := FORMS.get(path.suffix.lower()):
        return form
    raise InvalidCall(f"a record of a search is a file {' or '.join(FORMS)}, not {path.name!r}")


def save(search: SearchRecord, path: Path) -> None:
    """Write a record in the format of the file's ending; OutputNotWritten if that fails."""
    write_output(path, form_of(path)(search).encode())


def load(path: Path) -> SearchRecord:
    """Read a record that was saved as JSON.

    Raises:
        UnknownPath: no such file.
        InvalidCall: it cannot be read, or contains no complete record of a valid search.
    """
    try:
        record = read_json(read_regular(path, MOST_BYTES))
    except FileNotFoundError:
        raise UnknownPath(f"there is no file {path}") from None
    except OSError as error:
        raise InvalidCall(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidCall(f"{path} is not JSON: {error}") from None
    return SearchRecord.checked(record, str(path))
