"""MARCXML, with the fields of MARC 21 and KORMARC: books, theses and articles of a library's catalogue.

The fields are documented in "MARC 21 Format for Bibliographic Data". Their ISBD punctuation is removed. A
field 880 contains another field in the original script.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.readers.bibliography import (
    drop_empty,
    in_language,
    person_named,
    record_id,
    year_within,
)
from indexer.corpora.readers.items import Found
from indexer.corpora.readers.mapping import Table, find, paper_record
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import payloads, text_in

PUNCTUATION = " \t/:;=,."
ENDS_WITH_INITIAL = re.compile(r"(?:^|[\s.-])[A-Z]\.$")
PAGES = re.compile(r"(?:pp?|s)\.?\s*(\d+)\s*[-–~]\s*(\d+)", re.IGNORECASE)
PEOPLE = {"100": "a", "700": "a", "110": "ab", "710": "ab", "111": "ab", "711": "ab"}  # subfields of names
LANGUAGE_PLACE = slice(35, 38)  # of field 008
YEAR_PLACE = slice(7, 11)
TYPES = {"am": "book", "aa": "chapter", "ab": "article-journal", "as": "periodical", "ta": "manuscript"}


class Field(NamedTuple):
    """A field, or one in the original script from a field 880."""

    tag: str
    indicator: str  # the second one
    link: str  # number that a field shares with the one in the original script, "" or "00" without one
    is_original: bool
    parts: list[tuple[str, str]]  # subfields: code and text

    def text(self, codes: str) -> str:
        """Return the subfields with some codes."""
        return " ".join(text for code, text in self.parts if code in codes and text)


class Marc(NamedTuple):
    """A record: its control fields by tag, and its other fields, those in the original script last."""

    controls: dict[str, str]
    fields: list[Field]


def read_marcxml(stream: Stream) -> Iterator[Found]:
    """Read the records of a collection or of OAI-PMH responses."""
    return payloads(stream, ("record",), record_of)


def record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return a record in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    controls = {field.get("tag", ""): field.text or "" for field in element.iterfind("controlfield")}
    controls["leader"] = text_in(element, "leader")
    fields = sorted(map(_field, element.iterfind("datafield")), key=lambda field: field.is_original)
    record = paper_record(Marc(controls, fields), FIELDS)
    abstract, abstract2 = in_language(record.pop("abstracts", []), record["lang"])
    number, agency = controls.get("001", "").strip(), controls.get("003", "").strip()
    accession = f"({agency}){number}" if agency and number else number
    identifier = identifier or record_id(
        stream,
        doi="" if accession and not accession.isdigit() else record.get("doi", ""),
        accession=accession,
        key=number,
        content=(record.get("title", ""), record.get("year", "")),
    )
    return {"id": identifier} | record | drop_empty({"abstract": abstract, "abstract2": abstract2})


def _field(element: Element) -> Field:
    parts = [(part.get("code", "-"), text_in(part)) for part in element.iterfind("subfield")]
    tag, link = element.get("tag", ""), next((text for code, text in parts if code == "6"), "")
    original = tag == "880"
    return Field(link[:3] if original else tag, element.get("ind2", " "), link[4:6], original, parts)


@find.register
def _texts(marc: Marc, path: str) -> list[str]:
    """Return the texts at a path such as `264/1$b`: tag, second indicator, codes of subfields.

    The texts have no punctuation at their ends, unless the path ends with a full stop.
    """
    place, _, codes = path.partition("$")
    tag, _, indicator = place.partition("/")
    fields = (field for field in marc.fields if field.tag == tag and indicator in ("", field.indicator))
    texts = (field.text(codes) for field in fields)
    return list(filter(None, texts if path.endswith(".") else map(_stripped, texts)))


def _stripped(text: str) -> str:
    """Remove punctuation at the ends, except the full stop of an initial."""
    kept = text.strip(PUNCTUATION)
    initial = f"{kept}."
    return initial if text.strip(" /:;=,").endswith(".") and ENDS_WITH_INITIAL.search(initial) else kept


def _titles(marc: Marc) -> list[str]:
    """Return the title with its remainder, then other titles.

    The parallel title comes after an equals sign or in $x.
    """
    parts: list[str] = []
    parallel, before = "", ""
    for code, text in next((field.parts for field in marc.fields if field.tag == "245"), ()):
        if code in "abnpx":
            if (before.endswith("=") or code == "x") and not parallel:
                parallel = _stripped(text)
            else:
                parts.append(_stripped(text))
            before = text.rstrip()
    originals = (field for field in marc.fields if field.tag == "245" and field.is_original)
    others = [_stripped(field.text("ab")) for field in originals]
    others += [text for tag in ("242", "246", "740") for text in _texts(marc, f"{tag}$a")]
    title = ": ".join(filter(None, parts))
    return [title, *(text for text in (parallel, *others) if text not in ("", title))]


def _names(marc: Marc, *, romanized: bool = False) -> list[str]:
    """Return the names in the original script where there is one, or the romanized forms of these.

    Without any name, the statement of responsibility is the author.
    """
    originals = {(field.tag, field.link): field for field in marc.fields if field.is_original}
    named = [field for tag in PEOPLE for field in marc.fields if field.tag == tag]
    fields = [field for field in named if not field.is_original or field.link == "00"]
    if romanized:
        fields = [field for field in fields if not field.is_original and (field.tag, field.link) in originals]
    else:
        fields = [originals.get((field.tag, field.link), field) for field in fields]
    names = [person_named(_stripped(field.text(PEOPLE[field.tag]))) for field in fields]
    statement = [] if romanized else _texts(marc, "245$cd")[:1]
    return list(dict.fromkeys(filter(None, names))) or statement


def _subjects(marc: Marc) -> list[str]:
    """Return the subjects; a field 653 contains several."""
    tags = ("600", "610", "611", "630", "650", "651", "653", "655")
    fields = (field for tag in tags for field in marc.fields if field.tag == tag)
    return list(
        dict.fromkeys(_stripped(text) for field in fields for code, text in field.parts if code == "a")
    )


def _year(marc: Marc) -> int | None:
    """Return the year of publication, of production or of copyright."""
    written = (text for path in (*_published("c"), "264/4$c") for text in _texts(marc, path))
    dates = (*written, marc.controls.get("008", "")[YEAR_PLACE], *_texts(marc, "773$g"))
    return next(filter(None, map(year_within, dates)), None)


def _pages(marc: Marc) -> str:
    found = next(filter(None, map(PAGES.search, _texts(marc, "773$g"))), None)
    return f"{found[1]}-{found[2]}" if found else ""


def _published(code: str) -> tuple[str, ...]:
    """Return the paths of a statement of publication, else of production; not of distribution."""
    return tuple(f"{place}${code}" for place in ("264/1", "260", "264/ ", "264/0"))


FIELDS: Table = {
    "title": lambda marc: _titles(marc)[0],
    "title2": lambda marc: next(iter(_titles(marc)[1:]), ""),
    "abstracts": ("520$ab.",),
    "language": lambda marc: next(
        iter(_texts(marc, "041$a")), marc.controls.get("008", "")[LANGUAGE_PLACE].strip()
    ),
    "authors": _names,
    "romanized_authors": lambda marc: _names(marc, romanized=True),
    "year": _year,
    "journal": "773$t",
    "series": "490$a|830$a|440$a",
    "publisher": "|".join(_published("b")),
    "place": "|".join(_published("a")),
    "keywords": _subjects,
    "doi": lambda marc: next(filter(None, map(whole_doi, find(marc, "024$a") + find(marc, "856$u"))), ""),
    "url": lambda marc: next((text for text in _texts(marc, "856$u") if not whole_doi(text)), ""),
    "isbn": "020$a",
    "issn": "022$a|773$x",
    "edition": "250$a",
    "host": "773$g",
    "pages": _pages,
    "note": lambda marc: " ".join(
        text for tag in ("500", "502", "504") for text in _texts(marc, f"{tag}$a.")
    ),
    "classification": ("056$a", "080$a", "082$a", "090$a"),
    "type": lambda marc: "thesis" if _texts(marc, "502$a") else TYPES.get(marc.controls["leader"][6:8], ""),
}
