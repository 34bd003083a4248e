"""Format detection of corpus files by ending, beginning and first record."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from base.errors import Remedy
from indexer.corpora.readers.csl_json import is_csl, may_be_csl
from indexer.corpora.readers.csv import is_table
from indexer.corpora.readers.folders import (
    ENDINGS,
    ENDINGS_OF_FORMAT,
    JSON_ENDINGS,
    TEXT_ENDINGS,
    XML_ENDINGS,
)
from indexer.corpora.readers.json_arrays import ARRAY_OF_RECORDS, HEAD_BYTES
from indexer.corpora.readers.jsonl import NoRecord, parse_record, record_lines
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.streams import Stream
from indexer.errors import UnknownFormat

PASSAGE_FORMATS = frozenset({"miracl", "beir"})
OWN_FORMAT = "jsonl"
EXAMINED_LINES = 1000
# Keys that only one format has, in order of precedence: one of the first, and all of the second ones.
KEYS_OF_FORMAT = {
    "miracl": ("docid", ""),
    "beir": ("_id", ""),
    "scienceon": ("CN", ""),
    "crossref": ("member deposited is-referenced-by-count reference-count prefix", "DOI"),
    "openalex": ("abstract_inverted_index referenced_works authorships cited_by_api_url", ""),
    "arxiv": ("authors_parsed submitter", "categories"),
}
BY_ENDING = frozenset({"csv", "pdf", "markdown"})
# Endings that only one format has. Some programs confuse those of references: the beginning comes first.
FORMAT_OF_ENDING = {
    ending: formats[0]
    for ending in ENDINGS
    if len(formats := [name for name, endings in ENDINGS_OF_FORMAT.items() if ending in endings]) == 1
}
BY_BEGINNING = {
    "ris": re.compile(rb"(?:[^\n]{0,200}\n){0,20}?[ \t]*TY {1,2}- ?[A-Z]{2,8}\s"),
    "medline": re.compile(rb"PMID ?- ?\d"),
    "wos": re.compile(rb"FN [^\n]{0,200}\n(?:VR|PT) |PT [A-Z]\r?\n[A-Z]{2} "),
    "refworks": re.compile(rb"RT [A-Z][A-Za-z, ]{2,40}\r?\n(?:SR|ID|A1|T1) "),
    "endnote": re.compile(rb"%0 [A-Z]"),
    "bibtex": re.compile(rb"(?:%[^\n]*\n|\s)*@[A-Za-z]+\s*[{(]"),
    "pdf": re.compile(rb"%PDF-"),
}
# Elements that only one format has; the first one in a file counts.
FORMAT_OF_ELEMENT = {
    "MetaData": "scienceon",
    **dict.fromkeys(("PubmedArticleSet", "PubmedArticle", "PubmedBookArticle"), "pubmed"),
    **dict.fromkeys(("journal-meta", "article-meta"), "jats"),
    **dict.fromkeys(("dc", "qualifieddc"), "dublin-core"),
    **dict.fromkeys(("leader", "controlfield", "datafield"), "marcxml"),
    **dict.fromkeys(("arXiv", "arXivRaw"), "arxiv"),
    **dict.fromkeys(("ref-type", "rec-number", "source-app"), "endnote"),
}
DUBLIN_CORE = b"http://purl.org/dc/"  # namespaces of elements in other containers
ELEMENT = re.compile(rb"<!--(?:.*?-->|.*)|<\?(?:.*?\?>|.*)|<(?:[\w.-]+:)?(\w[\w.-]*)", re.DOTALL)


def format_of_record(record: Mapping[str, Any]) -> str:
    """Return the format of records with these keys."""
    if "message-type" in record and "message" in record:
        return "crossref"
    for format_, (one_of, all_of) in KEYS_OF_FORMAT.items():
        if any(key in record for key in one_of.split()) and all(key in record for key in all_of.split()):
            return format_
    return "csl-json" if is_csl(record) else OWN_FORMAT


def format_of(stream: Stream) -> str | None:
    """Return the format of a file, None if none of its first 1,000 lines is a record.

    Raises `UnknownFormat` if ending and beginning of the file identify no format, `Damaged` if nothing of it
    can be read.
    """
    by_ending = FORMAT_OF_ENDING.get(stream.ending)
    if by_ending in BY_ENDING:
        return by_ending
    content = stream.peek(HEAD_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
    if stream.ending in XML_ENDINGS or (stream.ending not in JSON_ENDINGS and content.startswith(b"<")):
        return _format_of_xml(stream.name, content)
    if stream.ending not in JSON_ENDINGS:
        for format_, beginning in BY_BEGINNING.items():
            if beginning.match(content):
                return format_
        if by_ending:
            return by_ending
        if not (content[:1] in {b"{", b""} or ARRAY_OF_RECORDS.match(content)):
            if is_table(content):
                return "csv"
            if stream.ending in TEXT_ENDINGS:
                return "text"
            raise UnknownFormat(
                f"{stream.name}: its format cannot be recognised. A corpus has the ending "
                f"{', '.join(sorted(ENDINGS))}, each also with .gz, or is a .zip or folder of these",
                remedy=Remedy.NAME_FORMAT,
            )
    return _format_of_records(stream)


def _format_of_records(stream: Stream) -> str | None:
    """Return the format of the first record that leaves no doubt, None without a record."""
    seen = None
    for _, line, problem in islice(record_lines(stream), EXAMINED_LINES):
        if problem:
            continue
        try:
            record = parse_record(line)
        except NoRecord:
            continue
        if not may_be_csl(record):
            return format_of_record(record)
        seen = OWN_FORMAT
    return seen


def _format_of_xml(name: str, head: bytes) -> str | None:
    """Return the format of XML by the names of its first elements, None if it has none."""
    names = [found[1].decode() for found in ELEMENT.finditer(head) if found[1]]
    if found := next(filter(None, map(FORMAT_OF_ELEMENT.get, names)), None):
        return found
    if not names:
        return None
    if DUBLIN_CORE in head:
        return "dublin-core"
    raise UnknownFormat(
        f"{name}: XML with the root <{names[0][:80]}>, which is not a known format",
        remedy=Remedy.NAME_FORMAT,
    )
