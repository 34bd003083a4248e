"""arXiv's metadata: the JSON lines of its public dump, and OAI-PMH responses in `arXiv` and `arXivRaw`.

The keys are documented with the data set (Cornell University, "arXiv Dataset", Kaggle) and in "Open Archives
Initiative (OAI)" of arXiv's help. The id is arXiv's, such as `2101.00001`.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import languages, person, present, year_within
from indexer.corpora.readers.items import DeadLetter, Item, admitted, dead_letter
from indexer.corpora.readers.json_values import at, first, items, text
from indexer.corpora.readers.jsonl import read_records
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.oai import RECORD, is_deleted
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.tex import text_of
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in

TELLING = frozenset({"authors_parsed", "submitter"})
ELEMENTS = ("arXiv", "arXivRaw")
NAME_PARTS = 3  # family, given, suffix; further ones are affiliations
ADDRESS = "https://arxiv.org/abs/"
KEPT = {"comments": "note", "report-no": "report_number", "license": "license", "msc-class": "msc_class"}


def is_arxiv(record: Mapping[str, Any]) -> bool:
    """Check for a record of arXiv's dump."""
    return not TELLING.isdisjoint(record) and "categories" in record


def read_arxiv(stream: Stream) -> Iterator[Item]:
    """Read one record per line, or the records of OAI-PMH responses; deleted ones are skipped."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    if not head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<"):
        yield from read_records(stream, named_as_paper)
        return
    for found in elements_named(stream, {RECORD, *ELEMENTS}):
        if isinstance(found, DeadLetter):
            yield found
            continue
        line, element = found
        if not is_deleted(element):
            yield admitted(named_as_paper(_values(element)), stream.name, line, start_of(element))


def named_as_paper(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a record to Paper's keys; TeX in title and abstract is read as text."""
    number = text(record.get("id"))
    title, abstract = text_of(text(record.get("title"))), text_of(text(record.get("abstract")))
    versions = items(record.get("versions"))
    dates = (text(at(versions[0], "created")) if versions else "", first(record.get("created")))
    journal = text(record.get("journal-ref"))
    values = {
        "id": number,
        "title": title,
        "abstract": abstract,
        "authors": _names(record),
        "year": year_within(dates[0] or dates[1] or text(record.get("update_date"))),
        "journal": journal,
        "doi": next(iter(text(record.get("doi")).split()), ""),
        "url": f"{ADDRESS}{number}" if number else "",
        "keywords": text(record.get("categories")).split(),
        "arxiv": number,
        "type": "article-journal" if journal else "article",
        **{key: text(record.get(name)) for name, key in KEPT.items()},
    }
    return present(values) | languages("", title or abstract)


def _names(record: Mapping[str, Any]) -> list[str]:
    """Return the names by their parts, or else the text of all names, which is split at commas and "and"."""
    parsed = [[text_of(text(part)) for part in items(parts)] for parts in items(record.get("authors_parsed"))]
    names = [person(*parts[:NAME_PARTS]) for parts in parsed if parts]
    if not any(names):
        names = text_of(text(record.get("authors"))).replace(" and ", ", ").split(", ")
    return list(filter(None, names))


def _values(element: Element) -> dict[str, Any]:
    """Return the values of an element with the keys of the dump."""
    found = next((each for name in ELEMENTS for each in element.iter(name)), element)
    values: dict[str, Any] = {child.tag: text_in(child) for child in found if len(child) == 0}
    authors = found.iterfind("authors/author")
    values["authors_parsed"] = [
        [text_in(author, "keyname"), text_in(author, "forenames"), text_in(author, "suffix")]
        for author in authors
    ]
    values["versions"] = [{"created": text_in(date)} for date in found.iterfind("version/date")]
    return values
