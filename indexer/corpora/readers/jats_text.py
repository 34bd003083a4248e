"""Text of JATS elements: abstracts, and bodies with their headings."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from indexer.corpora.readers.xml_records import text_in

# Elements without sentences.
LEFT_OUT = frozenset(
    "fig fig-group table-wrap table-wrap-group disp-formula supplementary-material graphic".split()
)
BLOCKS = frozenset("p disp-quote list-item def-item boxed-text verse-group statement".split())
MARKS = frozenset({"xref", "fn"})
MOST_SECTIONS = 10_000


def paragraphs(element: Element) -> str:
    """Return the text of an abstract, each section after its title."""
    parts = [
        f"{text.rstrip(':')}:" if kind == "title" else text
        for kind, text, level in _blocks(element, 0)
        if text and (kind, level) != ("title", 0)  # "Abstract"
    ]
    return " ".join(parts) or text_in(element)


def title_of(element: Element | None) -> str:
    """Return the text of a title without marks of footnotes."""
    return "" if element is None else _text(element, without=LEFT_OUT | MARKS)


def body_of(body: Element | None) -> tuple[list[dict[str, Any]], str]:
    """Return the headings with their levels, and the text with headings on separate lines."""
    sections: list[dict[str, Any]] = []
    parts: list[str] = []
    if body is None:
        return sections, ""
    for kind, text, level in _blocks(body, 0):
        if kind == "title" and text and len(sections) < MOST_SECTIONS:
            sections.append({"title": text, "level": level})
            parts.append(f"{'#' * (level + 1)} {text}")
        elif text:
            parts.append(text)
    return sections, "\n\n".join(parts)


def _blocks(element: Element, level: int) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, text, level) of titles and paragraphs, in order."""
    for child in element:
        if child.tag in LEFT_OUT:
            continue
        if child.tag == "title":
            yield "title", text_in(child), level
        elif child.tag == "sec":
            yield from _blocks(child, level + 1)
        elif child.tag in BLOCKS:
            yield "text", _text(child), level
        else:
            yield from _blocks(child, level)


def _text(element: Element, *, without: frozenset[str] = LEFT_OUT) -> str:
    """Return the text of an element on one line, without figures and tables in it."""
    return " ".join("".join(_pieces(element, without)).split())


def _pieces(element: Element, without: frozenset[str]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag not in without:
            yield from _pieces(child, without)
        yield child.tail or ""
