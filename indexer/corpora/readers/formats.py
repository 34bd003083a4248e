"""The formats: their readers, and detection by ending, beginning and first record of a file."""

import codecs
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any
from xml.sax.saxutils import escape

from base.errors import Remedy
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibtex import read_bibtex
from indexer.corpora.readers.csl_json import is_csl, may_be_csl, read_csl_json
from indexer.corpora.readers.csv import is_table, read_csv
from indexer.corpora.readers.documents import read_markdown, read_text
from indexer.corpora.readers.dublin_core import read_dublin_core
from indexer.corpora.readers.files import (
    ENDINGS,
    ENDINGS_OF_FORMAT,
    JSON_ENDINGS,
    TEXT_ENDINGS,
    XML_ENDINGS,
    CorpusFile,
    ending_of,
)
from indexer.corpora.readers.hub import on_hub
from indexer.corpora.readers.items import DeadLetter, Found, Item, dead_letter, items_in, make_item
from indexer.corpora.readers.jats import read_jats
from indexer.corpora.readers.json_records import NoRecord, parse_record, read_records, record_lines
from indexer.corpora.readers.marcxml import read_marcxml
from indexer.corpora.readers.pubmed import read_pubmed
from indexer.corpora.readers.references import (
    read_endnote,
    read_medline,
    read_refworks,
    read_ris,
    read_wos,
)
from indexer.corpora.readers.scienceon import read_scienceon
from indexer.corpora.readers.services import read_arxiv, read_beir, read_crossref, read_miracl, read_openalex
from indexer.corpora.readers.streams import EXAMINED_BYTES, Progress, Stream, open_streams
from indexer.corpora.readers.xml_records import paper_id
from indexer.errors import UnknownFormat

READERS: dict[str, Callable[[Stream], Iterator[Found]]] = {
    "miracl": read_miracl,
    "beir": read_beir,
    "scienceon": read_scienceon,
    "csl-json": read_csl_json,
    "jsonl": read_records,
    "csv": read_csv,
    "ris": read_ris,
    "bibtex": read_bibtex,
    "endnote": read_endnote,
    "medline": read_medline,
    "wos": read_wos,
    "refworks": read_refworks,
    "crossref": read_crossref,
    "openalex": read_openalex,
    "arxiv": read_arxiv,
    "pubmed": read_pubmed,
    "dublin-core": read_dublin_core,
    "marcxml": read_marcxml,
    "jats": read_jats,
    "markdown": read_markdown,
    "text": read_text,
}
FORMATS = (*READERS, "pdf")  # PDFs are parsed concurrently, not by a stream reader
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
JSON_BEGINS = re.compile(rb"\{|\[\s*[{\]]|$")
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


def read_items(stream: Stream, format_: str, columns: Mapping[str, str] | None = None) -> Iterator[Item]:
    """Yield the papers and dead letters of a file; `columns` maps Paper's fields to columns of a table."""
    return items_in(partial(read_csv, columns=columns) if columns else READERS[format_], stream)


def format_of(stream: Stream) -> str:
    """Return the format of a file, "" if none of its first 1,000 lines is a record.

    Raises `UnknownFormat` if ending and beginning of the file identify no format.
    """
    by_ending = FORMAT_OF_ENDING.get(stream.ending, "")
    if by_ending in BY_ENDING:
        return by_ending
    head = stream.peek(EXAMINED_BYTES).removeprefix(codecs.BOM_UTF8).lstrip()
    if stream.ending in XML_ENDINGS or (stream.ending not in JSON_ENDINGS and head.startswith(b"<")):
        return _format_of_xml(stream.name, head)
    if stream.ending in JSON_ENDINGS:
        return _format_of_records(stream)
    by_beginning = next((name for name, begins in BY_BEGINNING.items() if begins.match(head)), by_ending)
    if by_beginning or JSON_BEGINS.match(head):
        return by_beginning or _format_of_records(stream)
    if is_table(head):
        return "csv"
    if stream.ending in TEXT_ENDINGS:
        return "text"
    raise UnknownFormat(
        f"{stream.name}: its format cannot be recognised. A corpus has the ending "
        f"{', '.join(sorted(ENDINGS))}, each also with .gz, or is a .zip or folder of these",
        remedy=Remedy.NAME_FORMAT,
    )


def _format_of_records(stream: Stream) -> str:
    """Return the format of the first record that leaves no doubt, "" without a record."""
    seen = ""
    for _, line, problem in islice(record_lines(stream), EXAMINED_LINES):
        try:
            record = {} if problem else parse_record(line)
        except NoRecord:
            continue
        if not problem and not may_be_csl(record):
            return _format_of_record(record)
        seen = seen if problem else OWN_FORMAT
    return seen


def _format_of_record(record: Mapping[str, Any]) -> str:
    if "message-type" in record and "message" in record:
        return "crossref"
    for format_, (one_of, all_of) in KEYS_OF_FORMAT.items():
        if any(key in record for key in one_of.split()) and all(key in record for key in all_of.split()):
            return format_
    return "csl-json" if is_csl(record) else OWN_FORMAT


def _format_of_xml(name: str, head: bytes) -> str:
    """Return the format of XML by the names of its first elements, "" if it has none."""
    names = [found[1].decode() for found in ELEMENT.finditer(head) if found[1]]
    if found := next(filter(None, map(FORMAT_OF_ELEMENT.get, names)), ""):
        return found
    if not names:
        return ""
    if DUBLIN_CORE in head:
        return "dublin-core"
    raise UnknownFormat(
        f"{name}: XML with the root <{names[0][:80]}>, which is not a known format",
        remedy=Remedy.NAME_FORMAT,
    )


def recognise(files: Sequence[CorpusFile]) -> list[CorpusFile]:
    """Detect the formats of files; return them in reading order.

    A file without a record has the format of its ending. Files of one folder of the hub have one format.

    Raises:
        UnknownFormat: some files contain passages, others papers; or no file has a known format. Among other
            files, a file of unknown format becomes one with a problem.
    """
    found = {file.name: file for file in files}
    unknown: list[UnknownFormat] = []
    of_hub = ""
    for file, stream in open_streams(files, Progress()):
        format_, problem = "", stream.refused
        try:
            if not problem:
                format_ = (on_hub(file.path) and of_hub) or format_of(stream)
                problem = "" if format_ or stream.peek() else stream.problem
        except UnknownFormat as error:
            problem = str(error)
            unknown.append(error)
        of_hub = format_ if on_hub(file.path) else of_hub
        found[file.name] = replace(file, format="" if problem else format_, problem=problem)
    seen = {file.format: file for file in found.values() if file.format}
    if unknown and not seen:
        raise unknown[0]
    passages, papers = seen.keys() & PASSAGE_FORMATS, seen.keys() - PASSAGE_FORMATS
    if passages and papers:
        one, other = (f"{seen[min(each)].name} is {min(each)}" for each in (passages, papers))
        raise UnknownFormat(
            f"{one}, {other}. An index contains one or the other",
            remedy=("name the files of one kind", Remedy.NAME_FORMAT),
        )
    named = [replace(file, format=file.format or _likely_format(file.name, seen)) for file in found.values()]
    return sorted(named, key=lambda file: list(ENDINGS_OF_FORMAT).index(file.format))


def _likely_format(name: str, seen: Collection[str]) -> str:
    """Return the format of a file without records, from its ending and the formats of the others."""
    ending = ending_of(name)
    possible = [format_ for format_, endings in ENDINGS_OF_FORMAT.items() if ending in endings]
    beside = (format_ for format_ in seen if not ending or format_ in possible)
    by_ending = [OWN_FORMAT] if ending in JSON_ENDINGS else possible
    return next(beside, next(reversed(by_ending), OWN_FORMAT))


def read_metadata(metadata: bytes, identifier: str, source: str) -> Item:
    """Read the XML of a repository's record by the reader of its format; return its paper, or a dead letter.

    Args:
        metadata: one element with its content, in UTF-8.
        identifier: of the record, which becomes the id of the paper.
        source: name of the repository, for papers without a source.
    """

    def stream(content: bytes) -> Stream:
        return Stream(f"{identifier}.xml", io.BytesIO(content))

    try:
        format_ = format_of(stream(metadata))
    except UnknownFormat as error:
        return dead_letter(identifier, 0, f"no reader for it: {error}", metadata)
    if not format_:
        return dead_letter(identifier, 0, "its metadata are not XML", metadata)
    header = f"<record><header><identifier>{escape(identifier)}</identifier></header><metadata>"
    record = header.encode("utf-8", "replace") + metadata + b"</metadata></record>"
    item = next(read_items(stream(record), format_), None)
    if not isinstance(item, Paper):
        reason = item.reason if isinstance(item, DeadLetter) else "there is no record"
        return dead_letter(identifier, 0, f"it cannot be read as {format_}: {reason}", metadata)
    if not (item.title or item.abstract):
        return dead_letter(identifier, 0, "no title and no description", metadata)
    values = {"source": source, **item.model_dump(exclude_unset=True), "id": paper_id(identifier)}
    return make_item(values, identifier, 0, metadata)
