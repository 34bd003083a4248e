"""A paper as an item of CSL-JSON (csl-data.json of CSL 1.0.2), from which all references are written.

Each text is one line without control characters. Missing fields are left out. The key `custom` holds values
for which CSL has no variable, for indexing an export again.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

from base.terminal.output import STEERING
from indexer.corpora.names import split_name
from indexer.corpora.normal_forms import DOI, DOI_PREFIX
from indexer.corpora.own_exports import CSL_ID

# Characters that end a line for some readers, for example Python's splitlines.
SPACES = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
NONCHARACTERS = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
RANGE = re.compile(r"\s*(?:--|[-–—~∼])\s*")  # between first and last page
MOST_NUMBER = 10**9  # of a volume, an issue or a page; JSON allows any number of digits
LONGEST_ADDRESS = 2_000  # of a link
MOST_IN_LINE = 3  # authors
IN_ADDRESSES = "%:/?#@!$&'+,;="  # not percent-encoded

Record = Mapping[str, Any]  # of a paper
Item = dict[str, Any]
Name = dict[str, str]  # by the parts of CSL; "literal" for a name that is not split


def csl_item(record: Record) -> Item:
    """Convert a paper's record (from `retriever.papers.records`); values of the wrong type are skipped."""
    year, lang, journal = record.get("year"), _line(record, "lang"), _line(record, "journal")
    keywords = _lines(record, "keywords")
    paper_id = _line(record, "doc_id") or _line(record, "id")
    custom = {
        "title2": _line(record, "title2"),
        "abstract2": _line(record, "abstract2"),  # in the language of the translated title
        "keywords": list(keywords),
        "references": list(_lines(record, "references")),  # ids or DOIs of cited papers
        "source": _line(record, "source"),
    }
    item = {
        "type": "article-journal" if journal else "document",
        "title": _line(record, "title"),
        "author": [_name(author) for author in _lines(record, "authors")],
        "issued": {"date-parts": [[year]]} if type(year) is int else None,
        "container-title": journal,
        "volume": _number(record, "volume"),
        "issue": _number(record, "issue", "number"),
        "page": _pages(record),  # first–last with a hyphen, or a number of the article
        "publisher": _line(record, "publisher"),
        "abstract": _line(record, "abstract"),
        "keyword": ", ".join(keywords),
        "DOI": DOI_PREFIX.sub("", _line(record, "doi")),  # without a resolver
        "URL": _line(record, "url"),
        "language": {"other": "und", "ko": "ko", "en": "en"}.get(lang),
        "custom": {CSL_ID: paper_id} | {key: value for key, value in custom.items() if value},
    }
    return {"id": paper_id} | {key: value for key, value in item.items() if value}


def _name(author: str) -> Name:
    name = split_name(author)
    if not name.given:
        return {"literal": name.family}
    parts = {
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
    }
    return {key: value for key, value in parts.items() if value}


def last_name(name: Name) -> str:
    """Return the family name with its particle, or the whole name."""
    family = name.get("literal") or name["family"]
    return f"{name.get('non-dropping-particle', '')} {family}".strip()


def sorted_name(name: Name) -> str:
    """Return a name as "van der Berg, Ludwig, Jr."."""
    return ", ".join(filter(None, (last_name(name), name.get("given"), name.get("suffix"))))


def year_of(item: Item) -> str:
    """Return the year of publication, or ""."""
    return str(item["issued"]["date-parts"][0][0]) if "issued" in item else ""


def web_address(record: Record) -> str:
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


def reference_line(record: Record) -> str:
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


def _line(record: Record, key: str) -> str:
    value = record.get(key)
    return one_line(value) if isinstance(value, str) else ""


def _number(record: Record, *keys: str) -> str:
    """Return the first of these values as text; a corpus may have it as a number."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_NUMBER:
            return str(value)
        if text := _line(record, key):
            return text
    return ""


def _pages(record: Record) -> str:
    """Return the pages by the keys pages, page, or first_page and last_page (OpenAlex)."""
    if pages := _number(record, "pages", "page"):
        return RANGE.sub("-", pages)
    first, last = _number(record, "first_page"), _number(record, "last_page")
    return f"{first}-{last}" if first and last and first != last else first


def _lines(record: Record, key: str) -> tuple[str, ...]:
    values = record.get(key)
    texts = (value for value in values if isinstance(value, str)) if isinstance(values, list) else ()
    return tuple(filter(None, map(one_line, texts)))
