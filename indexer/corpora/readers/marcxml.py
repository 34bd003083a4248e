"""MARCXML, with the fields of MARC 21 and KORMARC: books, theses and articles of a library's catalogue.

The fields are documented in "MARC 21 Format for Bibliographic Data". Their ISBD punctuation is removed. A
field 880 contains another field in the original script.
"""

import re
from collections.abc import Iterator
from typing import Any
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
from indexer.corpora.readers.mapping import Table, first, paper_record, texts
from indexer.corpora.readers.streams import Stream
from indexer.corpora.readers.xml_records import payloads, text_in

PUNCTUATION = " \t/:;=,."
ENDS_WITH_INITIAL = re.compile(r"(?:^|[\s.-])[A-Z]\.$")
PAGES = re.compile(r"(?:pp?|s)\.?\s*(\d+)\s*[-–~]\s*(\d+)", re.IGNORECASE)
PEOPLE = {"100": "a", "700": "a", "110": "ab", "710": "ab", "111": "ab", "711": "ab"}  # subfields of names
LANGUAGE_PLACE = slice(35, 38)  # of field 008
YEAR_PLACE = slice(7, 11)
SENTENCES = frozenset({"abstracts", "note"})  # keep their punctuation
TYPES = {"am": "book", "aa": "chapter", "ab": "article-journal", "as": "periodical", "ta": "manuscript"}


def read_marcxml(stream: Stream) -> Iterator[Found]:
    """Read the records of a collection or of OAI-PMH responses."""
    return payloads(stream, ("record",), record_of)


def record_of(element: Element, identifier: str, stream: Stream) -> dict[str, Any]:
    """Return a record in Paper's keys; `identifier` is that of OAI-PMH, or ""."""
    for field in element.findall("datafield[@tag='880']"):  # behind all fields, under the tag that it repeats
        link = first(field, "subfield[@code='6']")
        element.remove(field)
        field.set("tag", link[:3])
        field.set("original", link[4:6])
        element.append(field)
    record = {key: _bare(key, value) for key, value in paper_record(element, FIELDS).items()}
    abstract, abstract2 = in_language(record.pop("abstracts", []), record["lang"])
    number, agency = _control(element, "001").strip(), _control(element, "003").strip()
    accession = f"({agency}){number}" if agency and number else number
    identifier = identifier or record_id(
        stream,
        doi="" if accession and not accession.isdigit() else record.get("doi", ""),
        accession=accession,
        key=number,
        content=(record.get("title", ""), record.get("year", "")),
    )
    return {"id": identifier} | record | drop_empty({"abstract": abstract, "abstract2": abstract2})


def _control(element: Element, tag: str) -> str:
    return element.findtext(f"controlfield[@tag='{tag}']") or ""


def _path(*places: str) -> str:
    """Return the paths of subfields such as 264/1$b: tag, second indicator, code."""
    paths = []
    for place in places:
        tag, _, code = place.partition("$")
        tag, _, indicator = tag.partition("/")
        condition = f"[@ind2='{indicator}']" if indicator else ""
        paths.append(f"datafield[@tag='{tag}']{condition}/subfield[@code='{code}']")
    return "|".join(paths)


def _published(code: str) -> tuple[str, ...]:
    """Return the places of a statement of publication, else of production; not of distribution."""
    return tuple(f"{place}${code}" for place in ("264/1", "260", "264/ ", "264/0"))


def _fields(element: Element, *tags: str) -> list[Element]:
    return [field for tag in tags for field in element.iterfind(f"datafield[@tag='{tag}']")]


def _joined(field: Element, codes: str) -> str:
    """Return the subfields with some codes."""
    return " ".join(
        text_in(part) for part in field.iterfind("subfield") if part.get("code", "-") in codes
    ).strip()


def _all(element: Element, *places: str) -> list[str]:
    return [text for place in places for text in texts(element, _path(place))]


def _bare(key: str, value: Any) -> Any:
    if isinstance(value, list) and key not in SENTENCES:
        return list(dict.fromkeys(filter(None, map(_stripped, value))))
    return _stripped(value) if isinstance(value, str) and key not in SENTENCES else value


def _stripped(text: str) -> str:
    """Remove punctuation at the ends, except the full stop of an initial."""
    kept = text.strip(PUNCTUATION)
    initial = f"{kept}."
    return initial if text.strip(" /:;=,").endswith(".") and ENDS_WITH_INITIAL.search(initial) else kept


def _titles(element: Element) -> list[str]:
    """Return the title with its remainder, then other titles.

    The parallel title comes after an equals sign or in $x.
    """
    own, *originals = [*_fields(element, "245"), Element("none")]
    parts: list[str] = []
    others: list[str] = []
    before = ""
    for part in own.iterfind("subfield"):
        code, text = part.get("code", "-"), text_in(part)
        if code in "abnpx":
            (others if (before.endswith("=") or code == "x") and not others else parts).append(
                _stripped(text)
            )
            before = text.rstrip()
    others += [_stripped(_joined(field, "ab")) for field in originals]
    others += map(_stripped, _all(element, "242$a", "246$a", "740$a"))
    title = ": ".join(filter(None, parts))
    return [title, *(text for text in others if text not in ("", title))]


def _names(element: Element, *, romanized: bool = False) -> list[str]:
    """Return the names in the original script where there is one, or the romanized forms of these.

    Without any name, the statement of responsibility is the author.
    """
    fields = _fields(element, *PEOPLE)
    originals = {_link(field): field for field in fields if field.get("original")}
    if romanized:
        shown = [field for field in fields if not field.get("original") and _link(field) in originals]
    else:  # not the originals of other fields
        alone = (field for field in fields if field.get("original") in (None, "", "00"))
        shown = [originals.get(_link(field), field) for field in alone]
    names = [person_named(_stripped(_joined(field, PEOPLE[field.get("tag", "")]))) for field in shown]
    statement = [] if romanized else [_joined(field, "cd") for field in _fields(element, "245")[:1]]
    return list(dict.fromkeys(filter(None, names))) or list(filter(None, statement))


def _link(field: Element) -> tuple[str, str]:
    """Return the tag and the number that a field shares with the one in the original script."""
    return field.get("tag", ""), first(field, "subfield[@code='6']")[4:6]


def _year(element: Element) -> int | None:
    """Return the year of publication, of production or of copyright."""
    written = _all(element, *_published("c"), "264/4$c")
    dates = (*written, _control(element, "008")[YEAR_PLACE], *_all(element, "773$g"))
    return next(filter(None, map(year_within, dates)), None)


def _pages(element: Element) -> str:
    found = next(filter(None, map(PAGES.search, _all(element, "773$g"))), None)
    return f"{found[1]}-{found[2]}" if found else ""


FIELDS: Table = {
    "title": lambda element: _titles(element)[0],
    "title2": lambda element: next(iter(_titles(element)[1:]), ""),
    "abstracts": lambda element: [_joined(field, "ab") for field in _fields(element, "520")],
    "language": lambda element: (
        first(element, _path("041$a")) or _control(element, "008")[LANGUAGE_PLACE].strip()
    ),
    "authors": _names,
    "romanized_authors": lambda element: _names(element, romanized=True),
    "year": _year,
    "journal": _path("773$t"),
    "series": _path("490$a", "830$a", "440$a"),
    "publisher": _path(*_published("b")),
    "place": _path(*_published("a")),
    "keywords": tuple(_path(f"{tag}$a") for tag in "600 610 611 630 650 651 653 655".split()),
    "doi": lambda element: next(filter(None, map(whole_doi, _all(element, "024$a", "856$u"))), ""),
    "url": lambda element: next((text for text in _all(element, "856$u") if not whole_doi(text)), ""),
    "isbn": _path("020$a"),
    "issn": _path("022$a", "773$x"),
    "edition": _path("250$a"),
    "host": _path("773$g"),
    "pages": _pages,
    "note": lambda element: " ".join(_all(element, "500$a", "502$a", "504$a")),
    "classification": tuple(_path(f"{tag}$a") for tag in ("056", "080", "082", "090")),
    "type": lambda element: (
        "thesis" if first(element, _path("502$a")) else TYPES.get(text_in(element, "leader")[6:8], "")
    ),
}
