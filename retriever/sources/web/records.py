"""Parsing of the answers of services, JSON or XML, and validation of their records as papers.

The fields of a record may hold any value. XML is parsed without custom entities and external references.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pydantic import ValidationError

from base.untrusted import read_json
from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import Paper, language_named
from indexer.corpora.readers.bibliography import count_in, year_within
from indexer.corpora.readers.markup import without_markup
from retriever.sources import SourcePaper
from retriever.sources.web.client import NoAnswer

SURROGATE = re.compile("[\ud800-\udfff]")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
LONGEST = 1_000_000  # characters of one field
LONGEST_IDENTIFIER = 1_000
MOST = 10_000  # values of one list
MOST_VALUES = 4_000_000  # of an answer: each takes about 100 bytes of memory, and about 2 bytes to send
MOST_TAGS = 1_000_000  # and attributes, of an answer: each takes 10 µs to parse


def table(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for other values."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return a list, an empty one for other values."""
    return value if isinstance(value, list) else []


def at(value: Any, *keys: str) -> Any:
    """Return a value in nested objects, None if one of them is missing."""
    for key in keys:
        value = table(value).get(key)
    return value


def json_in(content: bytes) -> Any:
    """Parse an answer in JSON. A lone surrogate or control character in one record does not affect others."""
    if sum(map(content.count, (b"{", b"[", b","))) > MOST_VALUES:
        raise NoAnswer(f"its answer has more than {MOST_VALUES:,} values")
    try:
        return read_json(content)
    except ValueError:
        try:
            return json.loads(content, strict=False)
        except (ValueError, RecursionError):
            what = "a web page" if content.lstrip()[:1] == b"<" else "broken off or no JSON"
            raise NoAnswer(f"its answer is {what}") from None


def agreed(answer: Any, *keys: str) -> Mapping[str, Any]:
    """Return an answer that is an object with one of the keys; NoAnswer for any other."""
    if not table(answer).keys() & set(keys):
        raise NoAnswer("its answer is JSON of another kind")
    return table(answer)


def xml_in(content: bytes, root: str, *, doctype: bool = False) -> Element:
    """Parse a document whose root has the given tag.

    Args:
        content: the answer; the caller bounds its size.
        root: the tag, with its namespace in braces if it has one.
        doctype: whether a DOCTYPE is allowed; its references are not followed.
    """
    if content.count(b"<") + content.count(b"=") > MOST_TAGS:
        raise NoAnswer(f"its answer has more than {MOST_TAGS:,} tags and attributes")
    try:
        tree: Element = fromstring(content, forbid_dtd=not doctype, forbid_entities=True)
    except DefusedXmlException:
        raise NoAnswer("its answer is XML with entities of its own, which are refused") from None
    except (ParseError, ValueError, LookupError):
        what = "a web page" if b"<html" in content[:2000].lower() else "broken off or no XML"
        raise NoAnswer(f"its answer is {what}") from None
    if tree.tag != root:
        raise NoAnswer(f"its answer is XML of another kind, <{tree.tag[:80]}>")
    return tree


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


def number(value: Any) -> float | None:
    """Return a finite number."""
    found = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18  # noqa: PLR2004 - NaN is not
    return float(value) if found else None


# The fields of a record that are kept, each with the function that reads a value of any kind.
FIELDS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("title", "abstract", "title2", "abstract2", "journal", "publisher"), text),
    **dict.fromkeys(("type", "volume", "issue", "pages"), text),
    **dict.fromkeys(("authors", "keywords"), lambda value: texts(items(value)[:MOST])),
    "year": lambda value: year_within(text(value)),
    "doi": lambda value: whole_doi(text(value)),
    "url": lambda value: text(value) if ADDRESS.fullmatch(text(value)) else "",  # pages link to it
    "lang": lambda value: (language_named(text(value)) or "other") if text(value) else "",
    "cited_by_count": lambda value: count_in(text(value)),
}


def paper_of(
    source: str, form: re.Pattern[str], record: Mapping[str, Any], *, score: Any = None, bare: bool = False
) -> SourcePaper | None:
    """Make a paper of a record; None without a usable id or, unless `bare`, without text.

    Args:
        source: name of the source.
        form: of an id. The first match in `id` counts, for instance in an address; references must match.
        record: values of any kind by the fields of Paper; other fields are left out.
        score: of the source.
        bare: whether a record needs no title and no abstract.
    """
    given = {name: read(record.get(name)) for name, read in FIELDS.items()}
    if not (bare or given["title"] or given["abstract"]):
        return None
    found = form.search(text(record.get("id"))[:LONGEST_IDENTIFIER])
    given["id"] = found and found[0]
    given["references"] = [
        each for each in texts(items(record.get("references"))[:MOST]) if form.fullmatch(each)
    ]
    filled = {name: value for name, value in given.items() if value not in (None, "", [])}
    try:
        return SourcePaper(Paper.model_validate({**filled, "source": source}), number(score))
    except ValidationError:
        return None
