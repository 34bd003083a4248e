"""Pages written as lines: each a text, or a text and how it is set."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from indexer.corpora.full_text.article import article_of
from indexer.corpora.full_text.pages import Fragment, Page

Set: TypeAlias = str | tuple[str, dict[str, Any]]
HEIGHT = 800.0
LATIN, HANGUL = 0.5, 1.0  # of the size, the width of a letter
FILLER = "The fields of the station were flooded for forty days and then left dry until the harvest."


def line(text: str, top: float, *, left: float = 60, size: float = 10, bold: bool = False) -> Fragment:
    """A line with its place from the left and the top of a page."""
    width = sum(HANGUL if "가" <= sign <= "힣" else LATIN for sign in text) * size
    return Fragment(text, left, left + width, top, top + size, bold=bold)


def set_page(*lines: Set, top: float = 120) -> Page:
    """A page of lines below each other; `gap` is space above a line, in its own height."""
    fragments = []
    for given in lines:
        text, how = (given, {}) if isinstance(given, str) else given
        how = dict(how)
        size = how.get("size", 10)
        top += how.pop("gap", 0) * size
        fragments.append(line(text, top, **how))
        top += 1.2 * size
    return Page(fragments, HEIGHT)


def record_of(*pages: Page, metadata: dict[str, str] | None = None) -> dict[str, Any]:
    return article_of(pages, metadata or {})


def paragraph(lines: int = 4) -> Sequence[str]:
    return [FILLER] * lines


def title(text: str) -> Set:
    return text, {"size": 18}


def heading(text: str, **how: Any) -> Set:
    return text, {"size": 12, "bold": True, "gap": 1} | how


def headings(record: dict[str, Any], level: int = 1) -> list[str]:
    return [section["title"] for section in record.get("sections", []) if section["level"] == level]


def table(text: str) -> list[tuple[str, ...]]:
    return [tuple(map(str.strip, row.split("|"))) for row in text.strip().splitlines()]
