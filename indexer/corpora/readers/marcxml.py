"""MARCXML, with the fields of MARC 21 and KORMARC: books, theses and articles of a library's catalogue.

The fields are documented in "MARC 21 Format for Bibliographic Data". Their ISBD punctuation is removed.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.readers.bibliography import (
    in_language,
    languages,
    person_named,
    present,
    record_id,
    year_within,
)
from indexer.corpora.readers.items import Item
from indexer.corpora.readers.oai import payloads
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import text_in

PUNCTUATION = " \t/:;=,."
PERSONS = ("100", "700")
BODIES = ("110", "710", "111", "711")
SUBJECTS = ("600", "610", "611", "630", "650", "651", "653", "655")
NOTES = ("500", "502", "504")
PAGES = re.compile(r"(?:pp?|s)\.?\s*(\d+\s*[-–~]\s*\d+)", re.IGNORECASE)
LANGUAGE_PLACE = slice(35, 38)  # of field 008
YEAR_PLACE = slice(7, 11)
ENDS_WITH_INITIAL = re.compile(r"(?:^|[\s.-])[A-Z]\.$")
TYPES = {"am": "book", "aa": "chapter", "ab": "article-journal", "as": "periodical", "ta": "manuscript"}


def read_marcxml(stream: Stream) -> Iterator[Item]:
    """Read the records of a collection or of OAI-PMH responses."""
    return payloads(stream, "record", record_of)


def record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return a record in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    marc = _Marc(element)
    title, parallel = _title(marc)
    others = [parallel, *marc.all(("242", "246", "740"), "a")]
    abstracts = marc.texts(("520",), "ab")
    declared = marc.first(("041",), "a") or marc.control("008")[LANGUAGE_PLACE].strip()
    spoken = languages(declared, title)
    abstract, abstract2 = in_language(abstracts, spoken["lang"])
    doi = next(
        filter(None, map(whole_doi, (*marc.all(("024",), "a"), *marc.all(("856",), "u")))),
        "",
    )
    agency, number = marc.control("003"), marc.control("001")
    accession = f"({agency}){number}" if agency and number else number
    is_unique = accession and not accession.isdigit()
    host = marc.all(("773",), "g")
    year = year_within(marc.first(("260", "264"), "c")) or year_within(marc.control("008")[YEAR_PLACE])
    pages = next(filter(None, map(PAGES.search, host)), None)
    kind = text_in(element, "leader")[6:8]
    thesis = marc.first(("502",), "a")
    values = {
        "id": identifier
        or record_id(
            stream,
            doi="" if is_unique else doi,
            accession=accession,
            key=number,
            content=(title, year or ""),
        ),
        "title": title,
        "title2": next((text for text in others if text and text != title), ""),
        "abstract": abstract,
        "abstract2": abstract2,
        "authors": _people(marc),
        "year": year or (year_within(host[0]) if host else None),
        "journal": marc.first(("773",), "t"),
        "series": marc.first(("490", "830", "440"), "a"),
        "publisher": marc.first(("260", "264"), "b"),
        "place": marc.first(("260", "264"), "a"),
        "keywords": marc.terms(),
        "doi": doi,
        "url": next((text for text in marc.all(("856",), "u") if not whole_doi(text)), ""),
        "isbn": marc.first(("020",), "a"),
        "issn": marc.first(("022",), "a") or marc.first(("773",), "x"),
        "edition": marc.first(("250",), "a"),
        "host": host[0] if host else "",
        "pages": re.sub(r"\s*[-–~]\s*", "-", pages[1]) if pages else "",
        "note": " ".join(marc.texts(NOTES, "a")),
        "classification": marc.all(("056", "080", "082", "090"), "a"),
        "type": "thesis" if thesis else TYPES.get(kind, ""),
    }
    return present(values) | spoken


class _Marc:
    """The fields of a record by tag."""

    def __init__(self, element: Element) -> None:
        self._controls = {
            field.get("tag", ""): field.text or "" for field in element.iterfind("controlfield")
        }
        self._fields: dict[str, list[Element]] = {}
        for field in element.iterfind("datafield"):
            self._fields.setdefault(field.get("tag", ""), []).append(field)

    def control(self, tag: str) -> str:
        return self._controls.get(tag, "").strip() if tag != "008" else self._controls.get(tag, "")

    def fields(self, tag: str) -> list[Element]:
        return self._fields.get(tag, [])

    def all(self, tags: tuple[str, ...], codes: str) -> list[str]:
        """Return the text of each field: its subfields with some codes, without punctuation at the end."""
        texts = (_subfields(field, codes) for tag in tags for field in self.fields(tag))
        return [text for text in texts if text]

    def texts(self, tags: tuple[str, ...], codes: str) -> list[str]:
        """Return the text of each field with its punctuation."""
        texts = (_joined(field, codes) for tag in tags for field in self.fields(tag))
        return [text for text in texts if text]

    def terms(self) -> list[str]:
        """Return the subjects; a field 653 contains several."""
        parts = (
            part for tag in SUBJECTS for field in self.fields(tag) for part in field.iterfind("subfield")
        )
        terms = (_stripped(text_in(part)) for part in parts if part.get("code") == "a")
        return list(dict.fromkeys(filter(None, terms)))

    def first(self, tags: tuple[str, ...], codes: str) -> str:
        return next(iter(self.all(tags, codes)), "")


def _subfields(field: Element, codes: str) -> str:
    return _stripped(_joined(field, codes))


def _joined(field: Element, codes: str) -> str:
    parts = (text_in(part) for part in field.iterfind("subfield") if part.get("code", "-") in codes)
    return " ".join(filter(None, parts))


def _stripped(text: str) -> str:
    """Remove punctuation at the ends, except the full stop of an initial."""
    kept = text.strip(PUNCTUATION)
    initial = f"{kept}."
    return initial if text.strip(" /:;=,").endswith(".") and ENDS_WITH_INITIAL.search(initial) else kept


def _title(marc: _Marc) -> tuple[str, str]:
    """Return the title with its remainder, and the parallel title: after an equals sign, or in 880."""
    fields = marc.fields("245")
    if not fields:
        return "", ""
    parts, parallel, before = [], "", ""
    for part in fields[0].iterfind("subfield"):
        text, code = text_in(part), part.get("code", "-")
        if code in "abnpx":
            if (before.endswith("=") or code == "x") and not parallel:
                parallel = _stripped(text)
            else:
                parts.append(_stripped(text))
            before = text.rstrip()
    scripts = (field for field in marc.fields("880") if _subfield(field, "6").startswith("245"))
    other = next((_subfields(field, "ab") for field in scripts), "")
    return ": ".join(filter(None, parts)), parallel or other


def _subfield(field: Element, code: str) -> str:
    """Return the text of the first subfield with a code."""
    return next((text_in(part) for part in field.iterfind("subfield") if part.get("code") == code), "")


def _people(marc: _Marc) -> list[str]:
    """Return authors and other names once; without any, the statement of responsibility."""
    people = [person_named(name) for name in marc.all(PERSONS, "a")] + marc.all(BODIES, "ab")
    return list(dict.fromkeys(people)) or [name for name in [marc.first(("245",), "cd")] if name]
