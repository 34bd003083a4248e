"""Parsing of the answers of services, JSON or XML, and validation of their records as papers.

XML is parsed without custom entities and external references.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring
from pydantic import ValidationError

from indexer.corpora.normal_forms import whole_doi
from indexer.corpora.papers import Paper
from indexer.corpora.readers.bibliography import drop_empty
from retriever.sources.web.client import NoAnswer

ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
LONGEST_IDENTIFIER = 1_000
KEPT = (*Paper.model_fields, "type", "volume", "issue", "pages")


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


def paper_of(source: str, form: re.Pattern[str], record: Mapping[str, Any]) -> Paper | None:
    """Make a paper of a record; None without a usable id, or with text that cannot be stored.

    Args:
        source: name of the source.
        form: of an id. The first match in `id` counts, for instance in an address; references must match.
        record: by the fields of Paper, as a reader of corpora returns it; other fields are left out.
    """
    found = form.search(str(record.get("id", ""))[:LONGEST_IDENTIFIER])
    url = record.get("url", "")
    given = {name: record.get(name) for name in KEPT} | {
        "id": found and found[0],
        "doi": whole_doi(record.get("doi", "")),
        "url": url if ADDRESS.fullmatch(url) else "",  # pages link to it
        "references": [each for each in record.get("references", ()) if form.fullmatch(each)],
        "source": source,
    }
    try:
        return Paper.model_validate(drop_empty(given))
    except ValidationError:
        return None
