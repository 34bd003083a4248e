"""Conversion of GROBID's TEI response to a record in Paper's keys.

The elements are documented in GROBID's "TEI encoding of results". As the response is untrusted, document
types and entities are rejected, and the numbers of names, keywords, sections and references are limited.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from indexer.corpora.full_text.article import MOST_KEYWORDS
from indexer.corpora.full_text.joining import readable
from indexer.corpora.full_text.references import (
    MOST_AUTHORS,
    MOST_REFERENCES,
    REFERENCE_CHARACTERS,
    doi_in,
    parse_reference,
)
from indexer.corpora.full_text.title_page import ARXIV

TEI = {"t": "http://www.tei-c.org/ns/1.0"}
MOST_NAMES = 1_000
MOST_SECTIONS = 10_000
# Block elements, separated from surrounding text; other elements are within words.
BLOCKS = {
    f"{{{TEI['t']}}}{name}" for name in ("div", "head", "p", "s", "lb", "list", "item", "note", "figure")
}
YEAR = re.compile(r"(?:1[89]|20)\d\d")


def record_of_tei(content: bytes) -> dict[str, Any]:
    """Return a record without an id; missing fields are omitted. Raises ValueError."""
    try:
        root = fromstring(content, forbid_dtd=True)
    except (ParseError, DefusedXmlException, LookupError) as error:
        raise ValueError(f"its response is not TEI ({type(error).__name__})") from None
    header = root.find("t:teiHeader", TEI)
    if header is None:
        raise ValueError("its response is not TEI (without a header)")
    _set_blocks_apart(root)
    source = header.find(".//t:sourceDesc/t:biblStruct", TEI)
    terms = header.iterfind(".//t:keywords//t:term", TEI)
    sections, body = _body(root)
    record = {
        "title": _text(header.find(".//t:titleStmt/t:title", TEI)),
        "authors": _names(source),
        "year": _year(header.find(".//t:publicationStmt/t:date", TEI))
        or _year(_first(source, ".//t:imprint/t:date")),
        "doi": doi_in(_text(_first(source, ".//t:idno[@type='DOI']"))),
        "arxiv": _arxiv(_text(_first(source, ".//t:idno[@type='arXiv']"))),
        "keywords": list(islice(filter(None, map(_text, terms)), MOST_KEYWORDS)),
        "abstract": _paragraphs(header.find(".//t:abstract", TEI), " "),
        "sections": sections,
        "body": body,
        "reference_list": list(_references(root)),
    }
    return {key: value for key, value in record.items() if value}


def _first(element: Element | None, path: str) -> Element | None:
    return None if element is None else element.find(path, TEI)


def _text(element: Element | None) -> str:
    return "" if element is None else readable("".join(element.itertext()))


def _set_blocks_apart(root: Element) -> None:
    """Add a space at both ends of each block."""
    for element in root.iter():
        if element.tag in BLOCKS:
            element.text = f" {element.text or ''}"
            element.tail = f" {element.tail or ''}"


def _paragraphs(element: Element | None, between: str) -> str:
    if element is None:
        return ""
    return between.join(filter(None, map(_text, element.iterfind(".//t:p", TEI)))) or _text(element)


def _names(element: Element | None) -> list[str]:
    if element is None:
        return []
    names = (
        " ".join(filter(None, map(_text, person)))
        for person in element.iterfind(".//t:author/t:persName", TEI)
    )
    return list(islice(filter(None, names), MOST_NAMES))


def _year(date: Element | None) -> int | None:
    found = YEAR.search(date.get("when", "") or _text(date)) if date is not None else None
    return int(found[0]) if found else None


def _arxiv(text: str) -> str:
    found = ARXIV.search(text if ":" in text else f"arXiv:{text}")
    return found["id"] if text and found else ""


def _body(root: Element) -> tuple[list[dict[str, Any]], str]:
    """Return the headings with their levels, and the text with headings on separate lines."""
    sections: list[dict[str, Any]] = []
    parts: list[str] = []
    divisions = (
        *root.iterfind("t:text/t:body/t:div", TEI),
        *root.iterfind("t:text/t:back//t:div/t:div", TEI),
    )
    for division in divisions[:MOST_SECTIONS]:
        head = division.find("t:head", TEI)
        if head is not None and (name := _text(head)):
            number = head.get("n", "").strip()
            level = 1 + number.strip(".").count(".")
            title = f"{number} {name}".strip()
            sections.append({"title": title, "level": level})
            parts.append(f"{'#' * (level + 1)} {title}")
        parts += filter(None, map(_text, division.iterfind("t:p", TEI)))
    return sections, "\n\n".join(parts)


def _references(root: Element) -> Iterator[dict[str, Any]]:
    entries = root.iterfind(".//t:listBibl/t:biblStruct", TEI)
    for entry in islice(entries, MOST_REFERENCES):
        raw = _text(entry.find("t:note[@type='raw_reference']", TEI))
        title = _text(entry.find("t:analytic/t:title", TEI)) or _text(entry.find("t:monogr/t:title", TEI))
        authors = _names(entry)[:MOST_AUTHORS]
        year = _year(entry.find(".//t:imprint/t:date", TEI))
        text = raw or ". ".join(filter(None, (", ".join(authors), str(year or ""), title)))
        named = {
            "title": title,
            "year": year,
            "doi": doi_in(_text(entry.find(".//t:idno[@type='DOI']", TEI))),
            "authors": authors,
        }
        if text:
            yield parse_reference(text[:REFERENCE_CHARACTERS]) | {
                key: value for key, value in named.items() if value
            }
