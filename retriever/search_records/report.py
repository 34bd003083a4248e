"""The record of a search as a document to read, in Korean or English: Markdown or Word.

It has the items of PRISMA-S. The numbers come from the checklist (Rethlefsen et al. 2021, table 1):
1 database, 8 full search strategy, 9 limits, 10 search filters, 13 date, 15 records, 16 deduplication. The
other items describe work that is not part of one search.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from base.documents.blocks import Block, Heading, Table, plain, table
from base.documents.formats import DOCUMENT_FORMATS
from base.errors import InvalidCall
from indexer.corpora.papers import language_of
from retriever.reference import one_line
from retriever.search_records.record import SearchRecord

WORDS: dict[str, tuple[str, str]] = {  # (Korean, English)
    "record": ("검색 기록", "Search record"),
    "item": ("항목", "Item"),
    "value": ("내용", "Content"),
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
    "no_limits": ("없음", "none"),
    "filters": ("검색 필터", "Search filters"),
    "no_filters": ("공개된 검색 필터를 쓰지 않음", "no published search filter was used"),
    "years": ("발행 연도", "years of publication"),
    "lang": ("언어", "language"),
    "journal": ("학술지", "journal"),
    "author": ("저자", "author"),
    "type": ("자료 유형", "type"),
    "skip": ("보내지 않은 질의", "queries left out"),
    "keywords": ("핵심어", "Keywords"),
    "from": ("검색 전략 작성", "Strategy from"),
    "asked_for": ("요청한 최대 결과 수", "Maximum results requested"),
    "results": ("결과", "Results"),
    "papers_of_queries": ("질의로 찾은 논문", "Papers that the queries found"),
    "added_otherwise": (
        "추가: 제목, 식별자, 벡터로 찾은 논문",
        "Added: found by title, identifier or vectors",
    ),
    "over_maximum": (
        "제외: 요청한 최대 결과 수를 넘는 논문",
        "Left out: papers beyond the maximum requested",
    ),
    "found": ("목록의 논문", "Papers listed"),
    "incomplete": ("제외: 초록이 없는 논문", "Left out: papers without an abstract"),
    "duplicates": ("제외: 중복", "Left out: duplicates"),
    "deduplication": ("중복 제거", "Deduplication"),
    "how_deduplicated": (
        "본문이 거의 같은 기록을 합침. DOI나 제목이 같으면 한 본문이 다른 본문에 들어 있어도 합침",
        "records with nearly equal texts are one; with the same DOI or title, one text may contain the other",
    ),
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
    "setting": ("설정", "Setting"),
    "fingerprint": ("색인 지문", "Fingerprint of the index"),
    "notes": ("알림", "Notes"),
    "others": (
        "번호는 PRISMA-S 점검표의 항목입니다. 2–7, 11, 12, 14번은 문헌고찰에 따로 적습니다.",
        "The numbers are items of the PRISMA-S checklist. Report items 2 to 7, 11, 12 and 14 in the review.",
    ),
}
Words = dict[str, str]
FORMS = {".json": "json", ".md": "markdown", ".docx": "docx"}


def written(search: SearchRecord, form: str) -> bytes:
    """Return a record as JSON, or as a document, markdown or docx, in the language of the question."""
    if form == "json":
        return search.as_json()
    korean = language_of(search.record["request"]["question"]) == "ko"
    words = {key: texts[0 if korean else 1] for key, texts in WORDS.items()}
    return DOCUMENT_FORMATS[form].encoded(tuple(_blocks(search.record, words)))


def form_of(path: Path) -> str:
    """Return the form for a file's ending; InvalidCall if there is none."""
    if form := FORMS.get(path.suffix.lower()):
        return form
    raise InvalidCall(f"a record of a search is a file {', '.join(FORMS)}, not {path.name!r}")


def _blocks(record: dict[str, Any], words: Words) -> Iterator[Block]:
    yield Heading(words["record"])
    yield plain(words["others"])
    yield _table(("PRISMA-S", words["item"], words["value"]), _items(record, words))
    yield from _records(record["queries"], ("name", "query", "hits", "added"), words["queries"], words)
    yield from _records(record["hits"], ("rank", "doc_id", "title", "year"), words["found"], words)
    if record["notes"]:
        yield Heading(words["notes"], 2)
        yield from (plain(one_line(note), "item") for note in record["notes"])
    applied = [
        (name, _shown(value)) for name, value in record["applied"].items() if value not in (None, "", [])
    ]
    yield Heading(words["settings"], 2)
    yield _table((words["setting"], words["value"]), applied)
    yield Heading(words["fingerprint"], 2)
    yield _table((words["item"], words["value"]), list(record["index"]["fingerprint"].items()))


def _items(record: dict[str, Any], words: Words) -> Iterator[tuple[int, str, Any]]:
    """Yield number, name and value of each reported item."""
    index, request, applied = record["index"], record["request"], record["applied"]
    yield 1, words["index"], f"{index['name']} ({index['engine']})"
    yield 1, words["version"], index["version"]
    yield 1, words["published"], index["published"]
    yield 1, words["papers"], f"{index['papers']:,}"
    yield 1, words["software"], f"SHRAG {record['shrag']}"
    yield 8, words["question"], request["question"]
    yield 8, words["method"], request["method"]
    yield 8, words["order"], applied["order"]
    yield 8, words["keywords"], ", ".join(keyword["text"] for keyword in record["keywords"]) or "–"
    yield 8, words["from"], applied["strategist"] or "–"
    yield 9, words["limits"], "; ".join(_limits(record, words)) or words["no_limits"]
    yield 9, words["asked_for"], request["k"]
    yield 10, words["filters"], words["no_filters"]
    yield 13, words["date"], record["date"]
    left_out = {kind: count for kind, count in record["filtered"].items() if kind in words}
    # Papers without an abstract are found by a query of their own.
    papers_found = sum(query.get("added", 0) for query in record["queries"]) + left_out.get("incomplete", 0)
    excess = papers_found - sum(left_out.values()) - len(record["hits"])
    yield 15, words["papers_of_queries"], f"{papers_found:,}"
    if excess < 0:
        yield 15, words["added_otherwise"], f"{-excess:,}"
    for kind, count in left_out.items():
        yield (16 if kind == "duplicates" else 15), words[kind], f"{count:,}"
    yield 15, words["over_maximum"], f"{max(excess, 0):,}"
    yield 15, words["found"], f"{len(record['hits']):,}"
    yield 16, words["deduplication"], words["how_deduplicated"]


def _limits(record: dict[str, Any], words: Words) -> Iterator[str]:
    """Describe the limits of the search: filters, exclusions, years; then queries left out."""
    for name, value in record["request"]["filters"].items():
        if value not in (None, [], ()):
            yield f"{words.get(name, name)}: {_years(value) if name == 'years' else _shown(value)}"
    strategy = record["strategy"] or {"exclude": [], "years": None}
    for excluded in strategy["exclude"]:
        yield f"NOT {' / '.join(excluded.values())}"
    if years := strategy["years"]:
        yield f"{words['years']}: {_years(dict(zip(('low', 'high'), years, strict=True)))}"
    if skipped := record["request"].get("skip"):
        yield f"{words['skip']}: {_shown(skipped)}"


def _years(years: dict[str, Any]) -> str:
    low, high = years.get("low"), years.get("high")
    return str(low) if low == high else f"{low or ''}–{high or ''}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _records(
    records: Iterable[dict[str, Any]], keys: Sequence[str], heading: str, words: Words
) -> Iterator[Block]:
    """Yield a section with a table of some keys of each record."""
    yield Heading(heading, 2)
    yield _table([words[key] for key in keys], [[record.get(key, "") for key in keys] for record in records])


def _table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    return table(header, [[one_line(str(cell)) for cell in row] for row in rows])
