"""Parsing of XML from services, without custom entities and external references."""

from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from retriever.sources.web.records import Unreadable

MOST_TAGS = 1_000_000  # and attributes, of an answer: each takes 10 µs to parse


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
