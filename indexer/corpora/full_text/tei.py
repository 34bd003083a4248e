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
BLOCKS = {f"{{{TEI['t']}}}{name}" for name in "div head p s lb list item note figure".split()}
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
    for element in root.iter():
        if element.tag in BLOCKS:
            element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
    source = "t:fileDesc/t:sourceDesc/t:biblStruct//"
    arxiv = _text(header, f"{source}t:idno[@type='arXiv']")
    number = ARXIV.search(arxiv if ":" in arxiv else f"arXiv:{arxiv}")
    abstract = header.find(".//t:abstract", TEI)
    sections, body = _body(root)
    record = {
        "title": _text(header, ".//t:titleStmt/t:title"),
        "authors": _names(header, f"{source}t:author/t:persName", MOST_NAMES),
        "year": _year(header, ".//t:publicationStmt/t:date") or _year(header, f"{source}t:imprint/t:date"),
        "doi": doi_in(_text(header, f"{source}t:idno[@type='DOI']")),
        "arxiv": number["id"] if number else "",
        "keywords": _texts(header, ".//t:keywords//t:term", MOST_KEYWORDS),
        "abstract": " ".join(_texts(abstract, ".//t:p", None)) or _text(abstract, "."),
        "sections": sections,
        "body": body,
        "reference_list": list(_references(root)),
    }
    return {key: value for key, value in record.items() if value}


def _texts(element: Element | None, path: str, most: int | None) -> list[str]:
    """Return the texts of the first elements of a path that have any."""
    found = element.iterfind(path, TEI) if element is not None else ()
    return list(islice(filter(None, (readable("".join(each.itertext())) for each in found)), most))


def _text(element: Element | None, path: str) -> str:
    return next(iter(_texts(element, path, 1)), "")


def _names(element: Element, path: str, most: int) -> list[str]:
    people = (" ".join(_texts(person, "*", None)) for person in element.iterfind(path, TEI))
    return list(islice(filter(None, people), most))


def _year(element: Element, path: str) -> int | None:
    date = element.find(path, TEI)
    found = YEAR.search(date.get("when", "") or _text(date, ".")) if date is not None else None
    return int(found[0]) if found else None


def _body(root: Element) -> tuple[list[dict[str, Any]], str]:
    """Return the headings with their levels, and the text with headings on separate lines."""
    sections: list[dict[str, Any]] = []
    parts: list[str] = []
    paths = "t:text/t:body/t:div", "t:text/t:back//t:div/t:div"
    divisions = [division for path in paths for division in root.iterfind(path, TEI)]
    for division in divisions[:MOST_SECTIONS]:
        head = division.find("t:head", TEI)
        if head is not None and (name := _text(head, ".")):
            number = head.get("n", "").strip()
            level = 1 + number.strip(".").count(".")
            sections.append({"title": f"{number} {name}".strip(), "level": level})
            parts.append(f"{'#' * (level + 1)} {sections[-1]['title']}")
        parts += _texts(division, "t:p", None)
    return sections, "\n\n".join(parts)


def _references(root: Element) -> Iterator[dict[str, Any]]:
    for entry in islice(root.iterfind(".//t:listBibl/t:biblStruct", TEI), MOST_REFERENCES):
        title = _text(entry, "t:analytic/t:title") or _text(entry, "t:monogr/t:title")
        year = _year(entry, ".//t:imprint/t:date")
        authors = _names(entry, ".//t:author/t:persName", MOST_AUTHORS)
        named = {
            "title": title,
            "year": year,
            "doi": doi_in(_text(entry, ".//t:idno[@type='DOI']")),
            "authors": authors,
        }
        made = (", ".join(authors), str(year or ""), title)
        if text := _text(entry, "t:note[@type='raw_reference']") or ". ".join(filter(None, made)):
            known = {key: value for key, value in named.items() if value}
            yield parse_reference(text[:REFERENCE_CHARACTERS]) | known
