"""Parsing of the answers of services, JSON or XML, and validation of their records as papers.

The fields of a record may hold any value. XML is parsed without custom entities and external references.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pydantic import ValidationError

from base.untrusted import read_json
from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import FIRST_YEAR, LAST_YEAR, MOST_CITATIONS, Paper, language_named, year_in
from indexer.corpora.readers.markup import without_markup
from retriever.sources import SourcePaper

SURROGATE = re.compile("[\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
LONGEST = 1_000_000  # characters of one field
MOST = 10_000  # values of one list
MOST_VALUES = 4_000_000  # of an answer: each takes about 100 bytes of memory, and about 2 bytes to send
MOST_TAGS = 1_000_000  # and attributes, of an answer: each takes 10 µs to parse


class Unreadable(ValueError):
    """An answer in another form than the service's documentation; the message is the reason."""


def json_in(content: bytes) -> Any:
    """Parse an answer in JSON. A lone surrogate or control character in one record does not affect others."""
    if sum(map(content.count, (b"{", b"[", b","))) > MOST_VALUES:
        raise Unreadable(f"its answer has more than {MOST_VALUES:,} values")
    try:
        return read_json(content)
    except ValueError:
        try:
            return json.loads(content, strict=False)
        except (ValueError, RecursionError):
            what = "a web page" if content.lstrip()[:1] == b"<" else "broken off or no JSON"
            raise Unreadable(f"its answer is {what}") from None


def agreed(answer: Any, *keys: str) -> Any:
    """Return an answer that is an object with one of the keys; Unreadable for any other."""
    if not table(answer).keys() & set(keys):
        raise Unreadable("its answer is JSON of another kind")
    return answer


def table(value: Any) -> Mapping[str, Any]:
    """Return a value that is an object, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return a value that is a list, an empty one for anything else."""
    return value[:MOST] if isinstance(value, list) else []


def at(value: Any, *keys: str) -> Any:
    """Return a value in nested objects; None if one of them is missing."""
    for key in keys:
        value = table(value).get(key)
    return value


def text(value: Any) -> str:
    """Return a text without markup and characters that cannot be stored; "" for other values."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        value = str(value)
    if not isinstance(value, str):
        return ""
    return without_markup(CONTROL.sub(" ", SURROGATE.sub("\ufffd", value[:LONGEST])))


def texts(values: Iterable[Any]) -> list[str]:
    """Return the texts among values, each once."""
    return list(dict.fromkeys(filter(None, map(text, values))))


def year(value: Any) -> int | None:
    """Return a year from a number, or from the start of a date."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if FIRST_YEAR <= value <= LAST_YEAR else None
    return year_in(value) if isinstance(value, str) else None


def count(value: Any) -> int | None:
    """Return a number of citations; None for an impossible one."""
    counts = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_CITATIONS
    return value if counts else None


def number(value: Any) -> float | None:
    """Return a finite number."""
    found = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18  # noqa: PLR2004 - NaN is not
    return float(value) if found else None


def doi(value: Any) -> str:
    """Return a DOI without its resolver, in small letters; "" for other values."""
    return whole_doi(text(value))


def identifier(value: Any, form: re.Pattern[str]) -> str:
    """Return the part of an id or address that matches its form, or ""."""
    found = form.search(text(value)[:1000])
    return found[0] if found else ""


def address(value: Any) -> str:
    """Return a web address; "" for anything else, since pages must not link to it."""
    found = text(value)
    return found if re.match(r"https?://[^\s\"'<>]+$", found) else ""


def paper_of(source: str, record: Mapping[str, Any], *, score: float | None = None) -> SourcePaper | None:
    """Make a paper of cleaned fields; None without a usable id or without text."""
    given = {key: value for key, value in record.items() if value not in (None, "", [])}
    if not given.get("title") and not given.get("abstract"):
        return None
    if told := given.pop("lang", ""):
        given["lang"] = language_named(str(told)) or "other"
    try:
        return SourcePaper(Paper.model_validate({**given, "source": source}), score)
    except ValidationError:
        return None


def xml_in(content: bytes, root: str, *, doctype: bool = False) -> Element:
    """Parse a document whose root has the given tag.

    Args:
        content: the answer; the caller bounds its size.
        root: the tag, with its namespace in braces if it has one.
        doctype: whether a DOCTYPE is allowed; its references are not followed.
    """
    if content.count(b"<") + content.count(b"=") > MOST_TAGS:
        raise Unreadable(f"its answer has more than {MOST_TAGS:,} tags and attributes")
    try:
        tree: Element = fromstring(content, forbid_dtd=not doctype, forbid_entities=True)
    except DefusedXmlException:
        raise Unreadable("its answer is XML with entities of its own, which are refused") from None
    except (ParseError, ValueError, LookupError):
        what = "a web page" if b"<html" in content[:2000].lower() else "broken off or no XML"
        raise Unreadable(f"its answer is {what}") from None
    if tree.tag != root:
        raise Unreadable(f"its answer is XML of another kind, <{tree.tag[:80]}>")
    return tree


def text_in(element: Element | None) -> str:
    """Return all text within an element and its children."""
    return "" if element is None else "".join(element.itertext())
