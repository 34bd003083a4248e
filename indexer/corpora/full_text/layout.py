"""Reading order: the fragments of a page as lines, column by column, without headers and footers."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise

from indexer.corpora.full_text.pages import RAISED, WIDE_GAP, Fragment, Page

PLACES = 49  # examined places of a gutter
FILLED = 0.4  # minimal median share of a column's width filled by its lines
FEWEST = 3  # lines of a column
MOST_SPLITS = 2  # nested splits: three or four columns
MARGIN = 0.13  # share of a page's height that may contain its number or a running header
BROKEN_GAP = 2.2  # between cells of a table, in heights
LARGER = 1.12  # ratio of the size of a title or heading to that of the text
PAGE_NUMBER = re.compile(r"\W*(?:\d{1,5}|[ivxl]{1,6})\W*")

Row = list[Fragment]  # fragments on one baseline, from the left


@dataclass(frozen=True, slots=True)
class Line:
    """A line in reading order, its text without marks, the line above it, and the page from 0.

    `left`, `right` and `pitch` are those of its column: line start, line end and usual line distance.
    """

    part: Fragment
    text: str
    above: Fragment | None
    left: float
    right: float
    pitch: float
    page: int

    @property
    def size(self) -> float:
        """The font height, rounded to half points."""
        return round(self.part.size * 2) / 2

    @property
    def gap(self) -> float:
        """Distance from the line above, in usual distances; 1 for the first line of a column."""
        return (self.part.top - self.above.top) / self.pitch if self.above and self.pitch else 1

    @property
    def is_short(self) -> bool:
        """Whether the line ends well before the end of its column."""
        return self.part.right < self.right - 2.5 * self.part.size

    @property
    def indent(self) -> float:
        """Distance from the start of the column, in heights."""
        return (self.part.left - self.left) / max(self.part.size, 1)


def usual_size(pages: Sequence[Page]) -> float:
    """Return the most frequent font height, by characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for part in page.fragments:
            sizes[round(part.size * 2) / 2] += len(part.text)
    return max(sizes, key=lambda size: sizes[size], default=0.0)


def without_margins(pages: Sequence[Page], usual: float) -> list[Page]:
    """Drop page numbers, and text at one position in the margins of several pages, ignoring digits."""
    margins = [[part for part in page.fragments if is_outer(part, page)] for page in pages]
    seen = Counter(key for parts in margins for key in set(map(_key, parts)))
    dropped = {
        id(part)
        for part in chain.from_iterable(margins)
        if part.size <= LARGER * usual and (seen[_key(part)] > 1 or PAGE_NUMBER.fullmatch(part.text))
    }
    return [
        replace(page, fragments=[part for part in page.fragments if id(part) not in dropped])
        for page in pages
    ]


def is_outer(part: Fragment, page: Page) -> bool:
    """Check whether a fragment is in the upper or lower margin of a page."""
    return part.bottom < MARGIN * page.height or part.top > (1 - MARGIN) * page.height


def _key(part: Fragment) -> tuple[str, int]:
    return re.sub(r"\d+|\s+", "", part.text), round((part.top + part.bottom) / 8)


def lines_of(fragments: Sequence[Fragment], number: int = 0) -> list[Line]:
    """Order the fragments of a page by columns; a line across several columns ends them."""
    lines: list[Line] = []
    for region in _regions([_joined(row) for row in rows_of(_with_drop_caps(fragments))], MOST_SPLITS):
        joined = [_joined(row, math.inf)[0] for row in region]
        pitches = Counter(round(below.top - above.top) for above, below in pairwise(joined))
        left, right = min(part.left for part in joined), max(part.right for part in joined)
        pitch = max(pitches, key=lambda pitch: pitches[pitch], default=0)
        for part, above in zip(joined, [None, *joined], strict=False):
            lines.append(Line(part, part.text.replace(RAISED, ""), above, left, right, pitch, number))
    return lines


def rows_of(fragments: Sequence[Fragment]) -> list[Row]:
    """Return the rows of fragments on one baseline, from top to bottom."""
    rows: list[Row] = []
    tallest: Fragment | None = None  # of the last row
    for part in sorted(fragments, key=lambda part: (part.top + part.bottom, part.left)):
        shared = min(tallest.bottom, part.bottom) - max(tallest.top, part.top) if tallest else 0
        if tallest is None or shared <= min(tallest.size, part.size) / 2:
            rows.append([])
            tallest = part
        rows[-1].append(part)
        tallest = max(tallest, part, key=lambda part: part.size)
    return [sorted(row, key=lambda part: part.left) for row in rows]


def _with_drop_caps(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Join each large first letter of a paragraph with the first of the lines beside it."""
    kept = list(fragments)
    usual = sorted(part.size for part in fragments)[len(fragments) // 2] if fragments else 0.0
    for cap in fragments:
        if cap.size <= 1.5 * usual or len(cap.text) > 1 or not cap.text.isalpha():
            continue
        beside = [
            part
            for part in kept
            if part.size < cap.size / 1.5
            and -1 < part.left - cap.right < part.size
            and cap.top - part.size < part.top < cap.bottom
        ]
        if len(beside) > 1:
            first = min(beside, key=lambda part: part.top)
            kept = [part for part in kept if part is not cap and part is not first]
            kept.append(replace(first, text=cap.text + first.text, left=cap.left))
    return kept


def _joined(row: Row, widest: float = WIDE_GAP) -> Row:
    """Join the fragments of a row with gaps below a width, in heights: those too narrow for a gutter."""
    joined: Row = []
    for part in row:
        whole = joined[-1] if joined else part
        gap, size = part.left - whole.right, max(whole.size, part.size)
        if not joined or gap >= widest * size:
            joined.append(part)
            continue
        joined[-1] = replace(
            whole if whole.size >= part.size else part,
            text=whole.text + (" " if whole.spaced or gap > 0.12 * size else "") + part.text,
            left=whole.left,
            right=max(whole.right, part.right),
            bold=whole.bold and part.bold,
            spaced=part.spaced,
            broken=whole.broken or part.broken or gap > BROKEN_GAP * size,
        )
    return joined


def _regions(rows: Sequence[Row], splits: int) -> Iterator[Sequence[Row]]:
    gutter = _gutter(rows) if splits and len(rows) >= FEWEST else None
    if gutter is None:
        yield from [rows] if rows else []
        return
    for crosses, run in groupby(rows, lambda row: _crosses(row, gutter)):
        for half in [list(run)] if crosses else _halves(run, gutter):
            yield from _regions(half, splits - 1)


def _crosses(row: Row, place: float) -> bool:
    return any(part.left < place < part.right for part in row)


def _halves(rows: Iterable[Row], gutter: float) -> tuple[list[Row], list[Row]]:
    left, right = list[Row](), list[Row]()
    for row in rows:
        if before := [part for part in row if part.right <= gutter]:
            left.append(before)
        if len(before) < len(row):
            right.append(row[len(before) :])
    return left, right


def _gutter(rows: Sequence[Row]) -> float | None:
    """Return the gutter between columns: the middle of the places with most lines on both sides."""
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    lines: dict[float, int] = {}  # on both sides
    for step in range(PLACES):
        place = left + (0.14 + 0.72 * step / (PLACES - 1)) * (right - left)
        widths = place - left, right - place
        runs = groupby(rows, lambda row: _crosses(row, place))  # noqa: B023
        beside = (_halves(run, place) for crosses, run in runs if not crosses)
        lines[place] = sum(min(map(len, halves)) for halves in beside if all(map(_is_column, halves, widths)))
    most = max(lines.values())
    best = [place for place, count in lines.items() if count == most]
    return best[len(best) // 2] if most else None


def _is_column(rows: Sequence[Row], width: float) -> bool:
    """Check for lines that fill their column, unlike cells of a table or labels of a list."""
    filled = sorted(row[-1].right - row[0].left for row in rows)
    return len(rows) >= FEWEST and filled[len(rows) // 2] >= FILLED * width
