"""Removal of page furniture: running headers and footers, page numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexer.corpora.full_text.lines.layout import Line

# Share of a page's height at top and bottom that may contain a header or footer, and its number of rows.
MARGIN = 0.13
WIDE_MARGIN = 0.2  # for text repeated on several pages
ROWS = 4
SIDE = 0.16  # share of the width
SIDE_CHARACTERS = 20
REPEATED_SHARE = 0.2
SAME_HEIGHT = 4.0  # tolerance in points
# Small text set apart from the rest is also a header, even on a single page.
SMALLER = 0.93
LARGER = 1.12  # a number of this relative size is part of a title
SET_APART = 2.0  # in line heights
FEW_LINES = 5  # a page with fewer lines may be the end of a text
PAGE_NUMBER = re.compile(
    r"[-–—·|\[(\s]*(?:p(?:age|p?\.)\s*)?(?:\d{1,5}|[ivxl]{1,6})(?:\s*(?:/|of)\s*\d{1,5})?\s*(?:쪽|면)?[-–—·|\])\s]*",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its line fragments in drawing order, and rotated texts."""

    fragments: Sequence[Line]
    height: float
    width: float
    turned: Sequence[str] = ()


def without_margins(pages: Sequence[Page], usual: float) -> list[list[Line]]:
    """Drop page numbers, and text at the same position on several pages, ignoring digits.

    `usual` is the font height of the text.
    """
    outer = [_outer_rows(page) | _beside_text(page) for page in pages]
    seen = Counter(
        key for page, rows in zip(pages, outer, strict=True) for key in {_key(line) for line in rows}
    )
    often = max(2, REPEATED_SHARE * len(pages))
    kept = [
        replace(
            page,
            fragments=[
                line
                for line in page.fragments
                if line not in rows or seen[_key(line)] < often or line.size > LARGER * usual  # Chapter 1
            ],
        )
        for page, rows in zip(pages, outer, strict=True)
    ]
    return [_without_numbers(page, number, usual) for number, page in enumerate(kept)]


def _without_numbers(page: Page, number: int, usual: float) -> list[Line]:
    """Drop the page number, and small text set apart at the edges."""
    rows = _outer_rows(page)
    bottom = max((line.bottom for line in page.fragments), default=0.0)
    return [
        line
        for line in page.fragments
        if not (
            (line in rows and _is_outer(line, page) and _is_number(line, usual))
            or (line.bottom == bottom and _is_number(line, usual) and _is_set_apart(line, page))
            or (
                number > 0
                and line in rows
                and _is_outer(line, page)
                and line.size < SMALLER * usual
                and _is_set_apart(line, page)
            )
        )
    ]


def _is_number(line: Line, usual: float) -> bool:
    return PAGE_NUMBER.fullmatch(line.text) is not None and line.size < LARGER * usual


def _beside_text(page: Page) -> set[Line]:
    """Return the short texts in the side margins, such as volume and page numbers."""
    edges = SIDE * page.width, (1 - SIDE) * page.width
    return {
        line
        for line in page.fragments
        if (line.right < edges[0] or line.left > edges[1]) and len(line.text) <= SIDE_CHARACTERS
    }


def _is_outer(line: Line, page: Page) -> bool:
    return line.bottom < MARGIN * page.height or line.top > (1 - MARGIN) * page.height


def _outer_rows(page: Page) -> set[Line]:
    above = [line for line in page.fragments if line.bottom < WIDE_MARGIN * page.height]
    below = [line for line in page.fragments if line.top > (1 - WIDE_MARGIN) * page.height]
    return _first_rows(above, from_top=True) | _first_rows(below, from_top=False)


def _first_rows(lines: Sequence[Line], *, from_top: bool) -> set[Line]:
    chosen: set[Line] = set()
    rows = 0
    edge: float | None = None
    for line in sorted(lines, key=lambda line: line.middle, reverse=not from_top):
        if edge is None or abs(line.middle - edge) > SAME_HEIGHT:
            rows, edge = rows + 1, line.middle
        if rows > ROWS:
            break
        chosen.add(line)
    return chosen


def _is_set_apart(line: Line, page: Page) -> bool:
    """Check whether a line is far from its neighbour towards the middle of the page."""
    if line.middle < page.height / 2:
        gaps = [other.top - line.bottom for other in page.fragments if other.top >= line.bottom]
    else:
        gaps = [line.top - other.bottom for other in page.fragments if other.bottom <= line.top]
    return len(gaps) >= FEW_LINES and min(gaps) > SET_APART * line.size


def _key(line: Line) -> tuple[str, int]:
    return DIGITS.sub("#", "".join(line.text.split())), round(line.middle / SAME_HEIGHT)
