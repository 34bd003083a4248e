"""Format detection of corpus files by ending and first record."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from base.errors import Remedy
from indexer.corpora.readers.folders import (
    JSON_ENDINGS,
    MARKDOWN_ENDINGS,
    PDF_ENDINGS,
    TABLE_ENDINGS,
    TEXT_ENDINGS,
    XML_ENDINGS,
)
from indexer.corpora.readers.jsonl import ARRAY, NoRecord, parse_record, record_lines
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.errors import UnknownFormat

FORMAT_OF_KEY = {"docid": "miracl", "_id": "beir", "CN": "scienceon"}
FORMAT_OF_ENDINGS = {
    "scienceon": XML_ENDINGS,
    "csv": TABLE_ENDINGS,
    "pdf": PDF_ENDINGS,
    "markdown": MARKDOWN_ENDINGS,
}
PASSAGE_FORMATS = frozenset({"miracl", "beir"})
PDF_MAGIC = b"%PDF-"
OWN_FORMAT = "jsonl"
EXAMINED_LINES = 1000


def format_of_record(record: Mapping[str, Any]) -> str:
    """Return the format of records with these keys."""
    return next((name for key, name in FORMAT_OF_KEY.items() if key in record), OWN_FORMAT)


def format_of(stream: Stream) -> str | None:
    """Return the format of a file, None if none of its first 1,000 lines is a record.

    Raises `UnknownFormat` if ending and beginning of the file identify no format.
    """
    for format_, endings in FORMAT_OF_ENDINGS.items():
        if stream.ending in endings:
            return format_
    try:
        head = stream.peek()
        begins = head.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]
    except Damaged:
        return None
    if stream.ending not in JSON_ENDINGS and begins == b"<":
        return "scienceon"
    if head.startswith(PDF_MAGIC):
        return "pdf"
    if stream.ending == ".json" and begins == b"[":
        raise UnknownFormat(f"{stream.name} is {ARRAY}")
    if stream.ending not in JSON_ENDINGS and begins not in (b"{", b""):
        if stream.ending in TEXT_ENDINGS:
            return "text"
        raise UnknownFormat(
            f"{stream.name}: its format cannot be recognised. A corpus is .jsonl, .json, .ndjson, .xml, "
            ".csv, .tsv, .pdf, .md or .txt, each also as .gz, or a .zip or folder of these",
            remedy=Remedy.NAME_FORMAT,
        )
    for _, line, problem in islice(record_lines(stream), EXAMINED_LINES):
        if problem:
            continue
        try:
            return format_of_record(parse_record(line))
        except NoRecord:
            continue
    return None
