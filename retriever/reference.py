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
from indexer.corpora.normal_forms import DOI, DOI_PREFIX

# Characters that end a line for some readers, for example Python's splitlines.
SPACES = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
LONGEST_ADDRESS = 2_000  # of a link
IN_ADDRESSES = "%:/?#@!$&'+,;="  # not percent-encoded
STARTS_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")


@dataclass(frozen=True, slots=True)
class Name:
    """An author. `given` is empty if the family name is unknown."""

    family: str
    given: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the name must not be split at its last space, as Western names are."""
        return not self.given and not STARTS_LATIN.match(self.family)

    def __str__(self) -> str:
        """Return the name as "Family, Given", or whole if it was not split."""
        return f"{self.family}, {self.given}" if self.given else self.family


@dataclass(frozen=True, slots=True)
class Reference:
    """The cited fields of a paper. A missing text is "", a missing year None."""

    id: str
    title: str
    translated_title: str
    authors: tuple[Name, ...]
    year: int | None
    journal: str
    publisher: str
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
        authors=tuple(map(name_of, _lines(record, "authors"))),
        year=year if isinstance(year, int) and not isinstance(year, bool) else None,
        journal=_line(record, "journal"),
        publisher=_line(record, "publisher"),
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


def name_of(author: str) -> Name:
    """Split "Family, Given"; keep any other name whole, since its family name is unknown."""
    family, _, given = (part.strip() for part in author.partition(","))
    return Name(family, given) if family and given and "," not in given else Name(author)


def one_line(text: str) -> str:
    """Return text on one line, without controls, direction marks, lone surrogates and noncharacters."""
    spaced = SPACES.sub(" ", text)
    return NONCHARACTERS.sub("", STEERING.sub("", spaced)).strip()


def _line(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _lines(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    values = record.get(key)
    lines = (
        [one_line(value) for value in values if isinstance(value, str)] if isinstance(values, list) else []
    )
    return tuple(line for line in lines if line)
