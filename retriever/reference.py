"""A paper as a bibliographic reference, for `exports/` and the metadata of a page.

Each text is one line without control characters.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from base.terminal.output import STEERING
from indexer.corpora.names.author_name import AuthorName, split_name
from indexer.corpora.normal_forms import DOI, DOI_PREFIX

# Characters that end a line for some readers, for example Python's splitlines.
SPACES = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
RANGE = re.compile(r"\s*(?:--|[-–—~∼])\s*")  # between first and last page
MOST_NUMBER = 10**9  # of a volume, an issue or a page; JSON allows any number of digits
LONGEST_ADDRESS = 2_000  # of a link
MOST_IN_LINE = 3  # authors
IN_ADDRESSES = "%:/?#@!$&'+,;="  # not percent-encoded


@dataclass(frozen=True, slots=True)
class Reference:
    """The cited fields of a paper. A missing text is "", a missing year None."""

    id: str
    title: str
    translated_title: str
    authors: tuple[AuthorName, ...]
    year: int | None
    journal: str
    publisher: str
    volume: str
    issue: str
    pages: str  # first–last with a hyphen, or a number of the article
    abstract: str
    keywords: tuple[str, ...]
    doi: str  # without a resolver
    url: str
    language: str  # ko or en; "" for others
    is_other_language: bool  # neither Korean nor English
    second_abstract: str  # in the language of the translated title
    references: tuple[str, ...]  # ids or DOIs of cited papers
    source: str


def reference_of(record: Mapping[str, Any]) -> Reference:
    """Convert a paper's record (from `retriever.papers.records`); values of the wrong type are skipped."""
    year, lang = record.get("year"), _line(record, "lang")
    return Reference(
        id=_line(record, "doc_id") or _line(record, "id"),
        title=_line(record, "title"),
        translated_title=_line(record, "title2"),
        authors=tuple(map(split_name, _lines(record, "authors"))),
        year=year if isinstance(year, int) and not isinstance(year, bool) else None,
        journal=_line(record, "journal"),
        publisher=_line(record, "publisher"),
        volume=_number(record, "volume"),
        issue=_number(record, "issue", "number"),
        pages=_pages(record),
        abstract=_line(record, "abstract"),
        keywords=_lines(record, "keywords"),
        doi=DOI_PREFIX.sub("", _line(record, "doi")),
        url=_line(record, "url"),
        language=lang if lang in {"ko", "en"} else "",
        is_other_language=lang == "other",
        second_abstract=_line(record, "abstract2"),
        references=_lines(record, "references"),
        source=_line(record, "source"),
    )


def web_address(record: Mapping[str, Any]) -> str:
    """Return a paper's http(s) address, else the address of its DOI, else "".

    Characters that end a link in HTML or Markdown are percent-encoded.
    """
    url, doi = _line(record, "url"), DOI_PREFIX.sub("", _line(record, "doi"))
    with suppress(ValueError):  # brackets that do not hold an IPv6 address
        parts = urlsplit(url)
        host = parts.hostname and parts.netloc.isascii() and "@" not in parts.netloc
        if parts.scheme in {"http", "https"} and host and len(url) <= LONGEST_ADDRESS:
            return quote(url, safe=IN_ADDRESSES)
    return f"https://doi.org/{quote(doi)}" if DOI.fullmatch(doi) else ""


def reference_line(record: Mapping[str, Any]) -> str:
    """Return authors, year, title and journal of a paper's record on one line, as in a reference list."""
    authors = _lines(record, "authors")
    named = ", ".join(authors[:MOST_IN_LINE]) + (" et al." if len(authors) > MOST_IN_LINE else "")
    year = f"({record['year']})" if record.get("year") else ""
    parts = [" ".join(filter(None, (named, year))), record.get("title") or "", record.get("journal") or ""]
    return ". ".join(str(part).rstrip(".") for part in parts if part)


def one_line(text: str) -> str:
    """Return text on one line, without controls, direction marks, lone surrogates and noncharacters."""
    spaced = SPACES.sub(" ", text)
    return NONCHARACTERS.sub("", STEERING.sub("", spaced)).strip()


def _line(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _number(record: Mapping[str, Any], *keys: str) -> str:
    """Return the first of these values as text; a corpus may have it as a number."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_NUMBER:
            return str(value)
        if text := _line(record, key):
            return text
    return ""


def _pages(record: Mapping[str, Any]) -> str:
    """Return the pages by the keys pages, page, or first_page and last_page (OpenAlex)."""
    if pages := _number(record, "pages", "page"):
        return RANGE.sub("-", pages)
    first, last = _number(record, "first_page"), _number(record, "last_page")
    return f"{first}-{last}" if first and last and first != last else first


def _lines(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = record.get(key)
    texts = (value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
    return tuple(filter(None, map(one_line, texts)))
