"""EndNote: tagged references (%0 Journal Article), which Korean databases also export, and EndNote's XML.

The tags are documented in EndNote's manual ("EndNote import format"). Tags without a counterpart among
Paper's fields are kept under their own names.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.bibliography import (
    doi_among,
    in_language,
    languages,
    person_named,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.items import DeadLetter, Item, admitted, dead_letter
from indexer.corpora.readers.lines import BYTE_ORDER_MARK
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.tagged import Layout, TaggedRecord, tagged_records
from indexer.corpora.readers.xml_records import elements_named, start_of, text_in, texts_in

LAYOUT = Layout(re.compile(r"(%[0-9A-Z!#$&()*+<>=?@\[\]^~])(?:\s+(.*))?$", re.DOTALL), "%0")
TEXTS = {
    "publisher": "%I",
    "volume": "%V",
    "issue": "%N",
    "pages": "%P",
    "issn": "%@",
    "edition": "%7",
    "place": "%C",
    "date": "%8",
    "source": "%~",
}
WITHOUT_JOURNAL = frozenset({"book", "edited-book", "thesis", "report"})  # their %B and %S are a series
READ = frozenset((*TEXTS.values(), *"%0 %A %E %T %Q %X %D %K %R %U %G %M %F %J %B %Z".split()))
# Paths of EndNote's XML, by the tags with the same meaning.
PATHS = {
    "%A": ("contributors/authors/author",),
    "%E": ("contributors/secondary-authors/author",),
    "%T": ("titles/title",),
    "%Q": ("titles/translated-title",),
    "%J": ("periodical/full-title", "titles/secondary-title"),
    "%S": ("titles/tertiary-title",),
    "%X": ("abstract",),
    "%D": ("dates/year",),
    "%8": ("dates/pub-dates/date",),
    "%K": ("keywords/keyword",),
    "%V": ("volume",),
    "%N": ("number",),
    "%P": ("pages",),
    "%I": ("publisher",),
    "%C": ("pub-location",),
    "%7": ("edition",),
    "%@": ("isbn",),
    "%R": ("electronic-resource-num",),
    "%M": ("accession-num",),
    "%G": ("language",),
    "%U": ("urls/web-urls/url", "urls/related-urls/url"),
    "%>": ("urls/pdf-urls/url",),
    "%Z": ("notes",),
    "%~": ("remote-database-name",),
    "%F": ("rec-number",),
}


def read_endnote(stream: Stream) -> Iterator[Item]:
    """Read the references of a tagged file or of XML."""
    try:
        head = stream.peek()
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    is_xml = head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<")
    for record in _records_of_xml(stream) if is_xml else tagged_records(stream, LAYOUT):
        if isinstance(record, DeadLetter):
            yield record
        else:
            yield admitted(_record_of(record, stream), stream.name, record.line, record.head)


def _records_of_xml(stream: Stream) -> Iterator[TaggedRecord | DeadLetter]:
    """Yield the records of EndNote's XML with the tags of tagged files."""
    for found in elements_named(stream, {"record"}):
        if isinstance(found, DeadLetter):
            yield found
        else:
            line, element = found
            yield _tagged(element, line)


def _tagged(element: Element, line: int) -> TaggedRecord:
    record = TaggedRecord(line, start_of(element))
    kind = element.find("ref-type")
    if kind is not None:
        record.put("%0", kind.get("name", "") or text_in(kind))
    for tag, paths in PATHS.items():
        for text in next(filter(None, (texts_in(element, path) for path in paths)), []):
            record.put(tag, text)
    return record


def _record_of(record: TaggedRecord, stream: Stream) -> dict[str, Any]:
    kind = type_named(record.first("%0"))
    titles = record.all("%T")
    title = without_markup(titles[0]) if titles else ""
    abstracts = list(dict.fromkeys(map(without_markup, record.all("%X"))))
    spoken = languages(record.first("%G"), title or " ".join(abstracts))
    abstract, abstract2 = in_language(abstracts, spoken["lang"])
    authors = [name for value in record.all("%A") for name in value.split(";")]
    doi = doi_among(record.all("%R", "%U", "%M", "%1")) or record.first("%R")
    addresses = record.all("%U")
    key = record.first("%F")
    content = (title, *authors, record.first("%D"))
    values = {
        "id": record_id(stream, doi=doi, accession=record.first("%M"), key=key, content=content),
        "title": title,
        "title2": without_markup(record.first("%Q")) or " ".join(titles[1:]),
        "abstract": abstract,
        "abstract2": abstract2,
        "authors": [person_named(name) for name in map(_whole, authors) if name],
        "editors": [person_named(name) for name in map(_whole, record.all("%E")) if name],
        "year": year_within(record.first("%D")) or year_within(record.first("%8")),
        "series" if kind in WITHOUT_JOURNAL else "journal": record.first("%J", "%B"),
        "keywords": split_keywords(record.lines("%K")),
        "doi": doi,
        "url": addresses[0] if addresses else "",
        "note": " ".join(map(without_markup, record.all("%Z"))),
        "accession_number": record.first("%M"),
        "citation_key": key,
        "type": kind,
        **{name: record.first(tag) for name, tag in TEXTS.items()},
    }
    further = {tag: record.all(tag) for tag in sorted(record.values.keys() - READ)} | {"%U": addresses[1:]}
    single = {tag: texts[0] if len(texts) == 1 else texts for tag, texts in further.items() if texts}
    return present(single) | present(values) | spoken


def _whole(name: str) -> str:
    """Return a name without the comma at its end, which keeps it whole."""
    return name.strip().removesuffix(",").strip()
