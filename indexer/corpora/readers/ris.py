"""RIS, as exported by Zotero, EndNote, Mendeley, publishers and Korean databases.

The format is Research Information Systems' (RIS Format Specifications, 2011). Tags without a counterpart
among Paper's fields are kept under their own names.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from indexer.corpora.own_exports import EXPORTER
from indexer.corpora.readers.bibliography import (
    doi_among,
    in_language,
    language_of_code,
    languages,
    person_named,
    present,
    record_id,
    split_keywords,
    type_named,
    year_within,
)
from indexer.corpora.readers.items import Item, admitted, dead_letter
from indexer.corpora.readers.markup import without_markup
from indexer.corpora.readers.streams import Damaged, Stream
from indexer.corpora.readers.tagged import Layout, TaggedRecord, tagged_records

STRICT = Layout(re.compile(r"([A-Z][A-Z0-9])  - ?(.*)", re.DOTALL), "TY", "ER")
LENIENT = Layout(re.compile(r"([A-Z][A-Z0-9]) - ?(.*)", re.DOTALL), "TY", "ER")  # of some publishers
STRICT_START = re.compile(rb"^(?:\xef\xbb\xbf)?TY  - ", re.MULTILINE)
HEAD_BYTES = 1 << 16
YEAR_DIGITS = 4

TITLES = ("TI", "T1", "CT", "BT")
AUTHORS = ("AU", "A1")
EDITORS = ("A2", "ED")
JOURNALS = ("JF", "T2", "JO", "JA", "J2", "J1")
ABSTRACTS = ("AB", "N2")
YEARS = ("PY", "Y1", "DA")
DOIS = ("DO", "DI")
OTHER_DOIS = ("M3", "UR", "L3", "N1", "AN", "ID")
NUMBERS = {"VL": "volume", "IS": "issue", "CP": "issue", "SN": "issn", "ET": "edition", "CY": "place"}
WITHOUT_JOURNAL = frozenset({"BOOK", "EBOOK", "THES", "RPRT", "EDBOOK"})  # T2 is their series
# Tags that `_record_of` reads completely.
READ = frozenset("TY ER ID TT AB N2 KW PB UR LA DB DP SP EP N1".split()).union(
    AUTHORS, EDITORS, YEARS, DOIS, NUMBERS
)


def read_ris(stream: Stream) -> Iterator[Item]:
    """Read references; an invalid one is a dead letter."""
    try:
        layout = STRICT if STRICT_START.search(stream.peek(HEAD_BYTES)) else LENIENT
    except Damaged as error:
        yield dead_letter(stream.name, 0, str(error))
        return
    for record in tagged_records(stream, layout):
        if isinstance(record, TaggedRecord):
            yield admitted(_record_of(record, stream), stream.name, record.line, record.head)
        else:
            yield record


def _record_of(record: TaggedRecord, stream: Stream) -> dict[str, Any]:
    kind, key, doi = record.first("TY"), record.first("ID"), record.first(*DOIS)
    own = record.first("DP") == EXPORTER
    doi = doi or doi_among(record.all(*OTHER_DOIS))
    addresses = record.all("UR")
    container = record.first(*JOURNALS)
    dates = record.all(*YEARS)
    values = {
        "authors": _names(record.all(*AUTHORS), own=own),
        "editors": _names(record.all(*EDITORS), own=own),
        "year": next(filter(None, map(year_within, dates)), None),
        "date": max(dates, key=len, default="") if max(map(len, dates), default=0) > YEAR_DIGITS else "",
        "series" if kind in WITHOUT_JOURNAL else "journal": container,
        "publisher": record.first("PB"),
        "keywords": _keywords(record, own=own),
        "doi": doi,
        "url": addresses[0] if addresses else "",
        "source": record.first("DB"),
        "pages": "-".join(filter(None, (record.first("SP"), record.first("EP")))),
        "note": " ".join(map(without_markup, record.all("N1"))),
        "type": "" if own and kind in {"JOUR", "GEN"} else type_named(kind),
        "UR": addresses[1:],
        **{name: record.first(tag) for tag, name in NUMBERS.items() if record.first(tag)},
    }
    if own:
        texts = {"title": "TI", "title2": "TT", "abstract": "AB", "abstract2": "N2", "id": "ID"}
        values["lang"] = language_of_code(record.first("LA"))
        return _further(record, record.first("TI"), container) | present(
            values | {name: record.first(tag) for name, tag in texts.items()}
        )
    title, title2 = record.first(*TITLES), record.first("TT")
    abstracts = list(dict.fromkeys(map(without_markup, record.all(*ABSTRACTS))))
    values |= {"title": without_markup(title), "title2": without_markup(title2)}
    spoken = languages(record.first("LA"), title, *([] if title else abstracts))
    values["abstract"], values["abstract2"] = in_language(abstracts, spoken["lang"])
    content = (title, *record.all(*AUTHORS), *dates)
    values["id"] = record_id(stream, doi=doi, accession=record.first("AN"), key=key, content=content)
    values["citation_key"] = key
    return _further(record, title, container) | present(values | spoken)


def _further(record: TaggedRecord, *read: str) -> dict[str, Any]:
    """Return the values of the other tags, without those already read: a text, or a list of several."""
    tags = record.values.keys() - READ
    values = {tag: [value for value in record.all(tag) if value not in read] for tag in sorted(tags)}
    return present({tag: found[0] if len(found) == 1 else found for tag, found in values.items()})


def _names(values: Sequence[str], *, own: bool) -> list[str]:
    """Return the names; a comma at the end, which keeps a name whole, is removed."""
    names = values if own else [name for value in values for name in value.split(";")]
    whole = filter(None, (name.strip().removesuffix(",").strip() for name in names))
    return list(map(person_named, whole))


def _keywords(record: TaggedRecord, *, own: bool) -> list[str]:
    """Return the keywords; a line without a tag, as EndNote writes them, is a keyword too."""
    lines = record.lines("KW")
    return lines if own else split_keywords(lines)
