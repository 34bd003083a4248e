"""ScienceON: saved responses of the search API (XML), or the same records as JSON lines.

A response is MetaData with resultSummary/statusCode and recordList/record/item[@metaCode]. Values contain
HTML tags, entities and repeated spaces.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.papers import language_named
from indexer.corpora.readers.bibliography import parts_of, year_within
from indexer.corpora.readers.items import Found, Unreadable
from indexer.corpora.readers.json_records import read_records
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import elements_named, start_of

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
STATUS = "statusCode"
STATUS_OK = "200"


def read_scienceon(stream: Stream) -> Iterator[Found]:
    """Read a saved response, or JSON lines with the same keys, detected by the start of the file."""
    if stream.ending == ".xml" or stream.is_xml:
        return _read_response(stream)
    return read_records(stream, paper_record)


def _read_response(stream: Stream) -> Iterator[Found]:
    """Read the records after the status; a response with another status, or without one, is refused whole."""
    status = ""
    for line, element in elements_named(stream, {STATUS, "record"}, forbid_doctype=True):
        if element.tag == STATUS:
            status = (element.text or "").strip()
        if status != STATUS_OK:
            reason = f"the search API answered with {STATUS} {status[:80] or 'nothing'}, not {STATUS_OK}"
            raise Unreadable(reason, head=start_of(element))
        if element.tag != STATUS:
            fields = fields_of(element)
            raw = "\n".join(f"{code}: {value}" for code, value in fields.items()).encode()
            yield line, raw, paper_record(fields)
    if not status:
        raise Unreadable(f"not a ScienceON response: it has no {STATUS}")


def fields_of(record: Element) -> dict[str, str]:
    """Return the items of a record by code; the values of repeated codes are joined by semicolons."""
    values: dict[str, list[str]] = {}
    for item in record.iterfind("item"):
        if value := "".join(item.itertext()).strip():
            values.setdefault(item.get("metaCode", ""), []).append(value)
    return {code: ";".join(found) for code, found in values.items()}


def paper_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record to Paper's keys and values; unknown fields keep their names."""
    cleaned = {
        name: without_markup(value) if isinstance(value, str) else value for name, value in record.items()
    }
    rest = {name: value for name, value in cleaned.items() if value not in ("", None)}
    paper = {key: rest.pop(name) for name, key in TEXT_FIELDS.items() if name in rest}
    if "url" not in paper and "FulltextURL" in rest:
        paper["url"] = rest.pop("FulltextURL")
    if isinstance(rest.get("Author"), str):
        paper["authors"] = parts_of([rest.pop("Author")], BETWEEN_AUTHORS)
    if keywords := [rest.pop(name) for name in KEYWORD_FIELDS if isinstance(rest.get(name), str)]:
        paper["keywords"] = parts_of(keywords, BETWEEN_KEYWORDS)
    if language := language_named(str(rest.get("Lang", ""))):
        paper["lang"] = language
        del rest["Lang"]
    years = {name: year_within(str(rest.get(name, ""))) for name in ("Pubdate", "Pubyear")}
    if years["Pubyear"]:
        del rest["Pubyear"]
    if year := years["Pubyear"] or years["Pubdate"]:
        paper["year"] = year
    return rest | paper
