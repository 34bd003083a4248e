"""ScienceON: saved responses of the search API (XML), or the same records as JSON lines.

A response is MetaData with resultSummary/statusCode and recordList/record/item[@metaCode]. Values contain
HTML tags, entities and repeated spaces.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from indexer.corpora.readers.cells import language_named, parts_of, year_in
from indexer.corpora.readers.items import DeadLetter, Item, admitted, dead_letter
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.xml_records import Refused, parsed

TEXT_FIELDS = {
    "CN": "id",
    "Title": "title",
    "Abstract": "abstract",
    "Title2": "title2",
    "Abstract2": "abstract2",
    "JournalName": "journal",
    "Publisher": "publisher",
    "DOI": "doi",
    "ContentURL": "url",
    "DBCode": "source",
}
KEYWORD_FIELDS = ("Keyword", "Keyword2")
BETWEEN_AUTHORS = re.compile(r"[;|]")
BETWEEN_KEYWORDS = re.compile(r"[;,]|\s\.\s")

ROOT = "MetaData"
RECORD = [ROOT, "recordList", "record"]
ITEM = [*RECORD, "item"]
STATUS = "statusCode"
STATUS_OK = "200"
NESTING = 50


def read_scienceon(stream: Stream) -> Iterator[Item]:
    """Read a saved response, or JSON lines with the same keys, detected by the start of the file."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    if stream.ending == ".xml" or head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<"):
        for item in parsed(stream, _Response(), forbid_doctype=True):
            if isinstance(item, DeadLetter):
                yield item
            else:
                line, record = item
                raw = "\n".join(f"{code}: {value}" for code, value in record.items()).encode()
                yield admitted(named_as_paper(record), stream.name, line, raw)
    else:
        yield from read_records(stream, named_as_paper)


def named_as_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a record to Paper's keys and values; unknown fields keep their names."""
    cleaned = {
        name: without_markup(value) if isinstance(value, str) else value for name, value in record.items()
    }
    rest = {name: value for name, value in cleaned.items() if value not in ("", None)}
    paper = {key: rest.pop(name) for name, key in TEXT_FIELDS.items() if name in rest}
    if "url" not in paper and "FulltextURL" in rest:
        paper["url"] = rest.pop("FulltextURL")
    if isinstance(authors := rest.get("Author"), str):
        paper["authors"] = parts_of(authors, BETWEEN_AUTHORS)
        del rest["Author"]
    keywords = [rest.pop(name) for name in KEYWORD_FIELDS if isinstance(rest.get(name), str)]
    if keywords:
        paper["keywords"] = parts_of(";".join(keywords), BETWEEN_KEYWORDS)
    if language := language_named(str(rest.get("Lang", ""))):
        paper["lang"] = language
        del rest["Lang"]
    if year := year_in(str(rest.get("Pubyear", ""))):
        paper["year"] = year
        del rest["Pubyear"]
    elif year := year_in(str(rest.get("Pubdate", ""))):
        paper["year"] = year
    return rest | paper


class _Response:
    """Target of the XML parser: collects the items of each record without building a tree."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.status = ""
        self.records: list[tuple[int, dict[str, str]]] = []
        self.parser: Any = None
        self._record: dict[str, str] = {}
        self._line = 0
        self._code = ""
        self._text: list[str] | None = None

    @property
    def is_inside(self) -> bool:
        return self._text is not None or self.path[: len(RECORD)] == RECORD

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.path.append(tag)
        if len(self.path) == 1 and tag != ROOT:
            raise Refused(f"not a ScienceON response: its root is <{tag[:80]}>, not <{ROOT}>")
        if len(self.path) > NESTING:
            raise Refused(f"elements nested deeper than {NESTING} levels")
        if self.path == RECORD:
            if self.status != STATUS_OK:
                raise Refused(f"records without a {STATUS} of {STATUS_OK} before them")
            self._record, self._line = {}, self.parser.parser.CurrentLineNumber
        elif self.path == ITEM:
            self._code, self._text = attributes.get("metaCode", ""), []
        elif tag == STATUS:
            self._text = []

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if self.path == ITEM:
            value = "".join(self._text or ()).strip()
            before = self._record.get(self._code)
            self._record[self._code] = f"{before};{value}" if before and value else before or value
            self._text = None
        elif self.path == RECORD:
            self.records.append((self._line, self._record))
        elif tag == STATUS and self._text is not None and len(self.path) < len(ITEM):
            self.status = "".join(self._text).strip()
            self._text = None
            if self.status != STATUS_OK:
                raise Refused(f"the search API answered with {STATUS} {self.status[:80]}, not {STATUS_OK}")
        self.path.pop()

    def close(self) -> None:
        if not self.status:
            raise Refused(f"not a ScienceON response: it has no {STATUS}")
