"""What stands on every page and is no text: running headers and footers, page numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from indexer.full_text.layout import Line

# The part of a page's height above and below that may hold a header or a footer, and how many rows.
MARGIN = 0.13
ROWS = 2
REPEATED_SHARE = 0.2
SAME_HEIGHT = 4.0  # points
# What is smaller than the text and set apart from it is a header too, though no other page has it.
SMALLER = 0.93
LARGER = 1.12  # a number of this size is part of a title
SET_APART = 2.0  # heights of a line
FEW_LINES = 5  # on a page: the end of a text may stand there alone
PAGE_NUMBER = re.compile(
    r"[-–—·|\[(\s]*(?:p(?:age|p?\.)\s*)?(?:\d{1,5}|[ivxl]{1,6})(?:\s*(?:/|of)\s*\d{1,5})?\s*(?:쪽|면)?[-–—·|\])\s]*",
    re.IGNORECASE,
)
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Page:
    """The fragments of lines on a page, in the order in which they are drawn."""

    fragments: Sequence[Line]
    height: float


def without_margins(pages: Sequence[Page], usual: float) -> list[list[Line]]:
    """Drop page numbers, and what stands at the same place of several pages but for its digits.

    `usual` is the height of the text's font.
    """
    outer = [_outer_rows(page) for page in pages]
    seen = Counter(
        key for page, rows in zip(pages, outer, strict=True) for key in {_key(line) for line in rows}
    )
    often = max(2, REPEATED_SHARE * len(pages))
    return [
        [
            line
            for line in page.fragments
            if line not in rows
            or not (
                (PAGE_NUMBER.fullmatch(line.text) and line.size < LARGER * usual)
                or seen[_key(line)] >= often
                or (number > 0 and line.size < SMALLER * usual and _is_set_apart(line, page))
            )
        ]
        for number, (page, rows) in enumerate(zip(pages, outer, strict=True))
    ]


def _outer_rows(page: Page) -> set[Line]:
    above = [line for line in page.fragments if line.bottom < MARGIN * page.height]
    below = [line for line in page.fragments if line.top > (1 - MARGIN) * page.height]
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
    """Tell whether a line is far from the one that is next to it towards the middle of the page."""
    if line.middle < page.height / 2:
        gaps = [other.top - line.bottom for other in page.fragments if other.top >= line.bottom]
    else:
        gaps = [line.top - other.bottom for other in page.fragments if other.bottom <= line.top]
    return len(gaps) >= FEW_LINES and min(gaps) > SET_APART * line.size


def _key(line: Line) -> tuple[str, int]:
    return DIGITS.sub("#", "".join(line.text.split())), round(line.middle / SAME_HEIGHT)
