"""Format detection of corpus files by ending, beginning and first record."""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from base.errors import Remedy
from indexer.corpora.readers.arxiv import is_arxiv
from indexer.corpora.readers.crossref import is_crossref
from indexer.corpora.readers.csl_json import is_csl, may_be_csl
from indexer.corpora.readers.csv import is_table
from indexer.corpora.readers.folders import (
    BIBTEX_ENDINGS,
    ENDINGS,
    ENDNOTE_ENDINGS,
    JSON_ENDINGS,
    MARKDOWN_ENDINGS,
    MEDLINE_ENDINGS,
    PDF_ENDINGS,
    RIS_ENDINGS,
    TABLE_ENDINGS,
    TEXT_ENDINGS,
    WOS_ENDINGS,
    XML_ENDINGS,
)
from indexer.corpora.readers.json_arrays import ARRAY_OF_RECORDS, HEAD_BYTES
from indexer.corpora.readers.jsonl import NoRecord, parse_record, record_lines
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.openalex import is_openalex
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.errors import UnknownFormat

FORMAT_OF_KEY = {"docid": "miracl", "_id": "beir", "CN": "scienceon"}
# Formats that several keys tell apart, in order.
TESTS: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "crossref": is_crossref,
    "openalex": is_openalex,
    "arxiv": is_arxiv,
    "csl-json": is_csl,
}
PDF_MAGIC = b"%PDF-"
FORMAT_OF_ENDINGS = {
    "csv": TABLE_ENDINGS,
    "pdf": PDF_ENDINGS,
    "markdown": MARKDOWN_ENDINGS,
}
# Endings of references, which some programs confuse: the beginning of the file comes first.
LIKELY_FORMAT_OF_ENDINGS = {
    "ris": RIS_ENDINGS,
    "bibtex": BIBTEX_ENDINGS,
    "endnote": ENDNOTE_ENDINGS,
    "medline": MEDLINE_ENDINGS,
    "wos": WOS_ENDINGS,
}
FORMAT_OF_BEGINNING = {
    "ris": re.compile(rb"(?:[^\n]{0,200}\n){0,20}?[ \t]*TY {1,2}- ?[A-Z]{2,8}\s"),
    "medline": re.compile(rb"PMID ?- ?\d"),
    "wos": re.compile(rb"FN [^\n]{0,200}\n(?:VR|PT) |PT [A-Z]\r?\n[A-Z]{2} "),
    "refworks": re.compile(rb"RT [A-Z][A-Za-z, ]{2,40}\r?\n(?:SR|ID|A1|T1) "),
    "endnote": re.compile(rb"%0 [A-Z]"),
    "bibtex": re.compile(rb"(?:%[^\n]*\n|\s)*@[A-Za-z]+\s*[{(]"),
    "pdf": re.compile(PDF_MAGIC),
}
PASSAGE_FORMATS = frozenset({"miracl", "beir"})
OWN_FORMAT = "jsonl"
EXAMINED_LINES = 1000

# Elements that only one format has; the first one in a file counts.
FORMAT_OF_ELEMENT = {
    "MetaData": "scienceon",
    **dict.fromkeys(("PubmedArticleSet", "PubmedArticle", "PubmedBookArticle"), "pubmed"),
    **dict.fromkeys(("journal-meta", "article-meta"), "jats"),
    "dc": "dublin-core",
    **dict.fromkeys(("leader", "controlfield", "datafield"), "marcxml"),
    **dict.fromkeys(("arXiv", "arXivRaw"), "arxiv"),
    **dict.fromkeys(("ref-type", "rec-number", "source-app"), "endnote"),
}
NO_ELEMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
ELEMENT = re.compile(rb"<(?:[\w.-]+:)?(\w[\w.-]*)")


def format_of_record(record: Mapping[str, Any]) -> str:
    """Return the format of records with these keys."""
    keyed = (name for key, name in FORMAT_OF_KEY.items() if key in record)
    told = (name for name, holds in TESTS.items() if holds(record))
    return next(keyed, None) or next(told, OWN_FORMAT)


def format_of(stream: Stream) -> str | None:
    """Return the format of a file, None if none of its first 1,000 lines is a record.

    Raises `UnknownFormat` if ending and beginning of the file identify no format.
    """
    for format_, endings in FORMAT_OF_ENDINGS.items():
        if stream.ending in endings:
            return format_
    try:
        head = stream.peek(HEAD_BYTES)
    except Damaged:
        return None
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if stream.ending in XML_ENDINGS or (stream.ending not in JSON_ENDINGS and content.startswith(b"<")):
        return _format_of_xml(stream.name, content)
    for format_, beginning in FORMAT_OF_BEGINNING.items():
        if stream.ending not in JSON_ENDINGS and beginning.match(content):
            return format_
    for format_, endings in LIKELY_FORMAT_OF_ENDINGS.items():
        if stream.ending in endings:
            return format_
    is_json = content[:1] in {b"{", b""} or ARRAY_OF_RECORDS.match(content)
    if not is_json and stream.ending not in JSON_ENDINGS:
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
    names = [found[1].decode() for found in ELEMENT.finditer(NO_ELEMENT.sub(b"", head))]
    for element in names:
        if format_ := FORMAT_OF_ELEMENT.get(element):
            return format_
    if not names:
        return None
    raise UnknownFormat(
        f"{name}: XML with the root <{names[0][:80]}>, which is not a known format",
        remedy=Remedy.NAME_FORMAT,
    )
