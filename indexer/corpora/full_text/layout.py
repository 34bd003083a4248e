"""Reading order: the fragments of a page as lines, column by column, without headers and footers."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter

from indexer.corpora.full_text.pages import RAISED, WIDE_GAP, Fragment, Page

PLACES = 49  # examined places of a gutter
FILLED = 0.4  # minimal median share of a column's width filled by its lines
FEWEST = 3  # lines of a column
FEW_ROWS = 8  # above a blank space across all columns, for example of author names
BLANK = 2.5  # height of this space, in line heights
MOST_SPLITS = 2  # nested splits: three or four columns
MARGIN = 0.13  # share of a page's height that may contain its number
WIDE_MARGIN = 0.2  # share that may contain text repeated on several pages
LARGER = 1.12  # ratio of the size of a title or heading to that of the text
PAGE_NUMBER = re.compile(
    r"\W*(?:page|pp?\.)?\s*(?:\d{1,5}|[ivxl]{1,6})(?:\s*(?:/|of)\s*\d+)?\W*[쪽면]?\W*", re.IGNORECASE
)

Row = list[Fragment]  # fragments on one baseline, from the left


@dataclass(frozen=True, slots=True)
class Column:
    """Typical values of a column: line start, line end and line distance."""

    left: float
    right: float
    pitch: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line in reading order, its text without marks, the line above it, its column, the page from 0."""

    part: Fragment
    text: str
    above: Fragment | None
    column: Column
    page: int

    @property
    def size(self) -> float:
        """The font height, rounded to half points."""
        return round(self.part.size * 2) / 2

    @property
    def gap(self) -> float:
        """Distance from the line above, in usual distances; 1 for the first line of a column."""
        return (self.part.top - self.above.top) / self.column.pitch if self.above and self.column.pitch else 1

    @property
    def is_short(self) -> bool:
        """Whether the line ends well before the end of its column."""
        return self.part.right < self.column.right - 2.5 * self.part.size

    @property
    def indent(self) -> float:
        """Distance from the start of the column, in heights."""
        return (self.part.left - self.column.left) / max(self.part.size, 1)


def usual_size(pages: Sequence[Page]) -> float:
    """Return the most frequent font height, by characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for part in page.fragments:
            sizes[round(part.size * 2) / 2] += len(part.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def without_margins(pages: Sequence[Page], usual: float) -> list[Page]:
    """Drop page numbers, small text apart, and text at one position on several pages, ignoring digits."""
    seen = Counter(key for page in pages for key in {_key(part) for part in page.fragments})
    often = max(2, len(pages) / 5)

    def is_kept(part: Fragment, page: Page) -> bool:
        repeated = is_outer(part, page, WIDE_MARGIN) and seen[_key(part)] >= often
        number = is_outer(part, page) and PAGE_NUMBER.fullmatch(part.text)
        small = (
            is_outer(part, page)
            and part.size < usual / LARGER
            and not any(0 < abs(other.top - part.top) < BLANK * part.size for other in page.fragments)
        )
        return part.size > LARGER * usual or not (repeated or number or small)

    return [
        replace(page, fragments=[part for part in page.fragments if is_kept(part, page)]) for page in pages
    ]


def is_outer(part: Fragment, page: Page, share: float = MARGIN) -> bool:
    """Check whether a fragment is in the upper or lower margin of a page."""
    return part.bottom < share * page.height or part.top > (1 - share) * page.height


def _key(part: Fragment) -> tuple[str, int]:
    return re.sub(r"\d+|\s+", "", part.text), round((part.top + part.bottom) / 8)


def lines_of(fragments: Sequence[Fragment], number: int = 0) -> list[Line]:
    """Order the fragments of a page by columns; a line across several columns ends them."""
    lines: list[Line] = []
    for region in _regions(list(map(_near_joined, rows_of(_with_drop_caps(fragments)))), MOST_SPLITS):
        joined = [_joined(row) for row in region]
        pitches = Counter(round(below.top - above.top) for above, below in pairwise(joined))
        left, right = min(part.left for part in joined), max(part.right for part in joined)
        column = Column(left, right, pitches.most_common(1)[0][0] if pitches else 0.0)
        for part, above in zip(joined, [None, *joined], strict=False):
            lines.append(Line(part, part.text.replace(RAISED, ""), above, column, number))
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
    for cap in [
        part for part in fragments if part.size > 1.5 * usual and re.fullmatch(r"[^\W\d_]", part.text)
    ]:
        near = [
            part for part in kept if part.size < cap.size / 1.5 and -1 < part.left - cap.right < part.size
        ]
        beside = [part for part in near if cap.top - part.size < part.top < cap.bottom]
        if len(beside) > 1:
            first = min(beside, key=lambda part: part.top)
            kept = [part for part in kept if part is not cap and part is not first]
            kept.append(replace(first, text=cap.text + first.text, left=cap.left))
    return kept


def _near_joined(row: Row) -> Row:
    """Join the fragments of a row that are too close for a gutter."""
    joined = [row[0]]
    for part in row[1:]:
        near = part.left - joined[-1].right < WIDE_GAP * max(part.size, joined[-1].size)
        joined[-1:] = [_joined([joined[-1], part])] if near else [joined[-1], part]
    return joined


def _joined(row: Sequence[Fragment]) -> Fragment:
    whole = row[0]
    for part in row[1:]:
        gap, size = part.left - whole.right, max(whole.size, part.size)
        whole = replace(
            whole if whole.size >= part.size else part,
            text=whole.text + (" " if whole.spaced or gap > 0.12 * size else "") + part.text,
            left=whole.left,
            right=max(whole.right, part.right),
            weight=min(whole.weight, part.weight),
            spaced=part.spaced,
            broken=whole.broken or part.broken or gap > 2.2 * size,
        )
    return whole


def _regions(rows: Sequence[Row], splits: int) -> Iterator[Sequence[Row]]:
    gutter = _gutter(rows) if splits and len(rows) >= FEWEST else None
    if gutter is None:
        yield from [rows] if rows else []
        return
    for crosses, group in groupby(rows, lambda row: any(part.left < gutter < part.right for part in row)):
        for run in _apart(list(group)):
            for half in [run] if crosses else _halves(run, gutter):
                yield from _regions(half, splits - 1)


def _apart(rows: Sequence[Row]) -> list[list[Row]]:
    """Split a few rows, for example of author names, from the columns below a blank space."""
    parts: list[list[Row]] = [[]]
    bottom = rows[0][0].top
    for row in rows:
        far = min(part.top for part in row) - bottom > BLANK * max(part.size for part in row)
        if far and len(parts[-1]) <= FEW_ROWS:
            parts.append([])
        parts[-1].append(row)
        bottom = max(bottom, *(part.bottom for part in row))
    return parts


def _halves(rows: Sequence[Row], gutter: float) -> tuple[list[Row], list[Row]]:
    left = [[part for part in row if part.right <= gutter] for row in rows]
    right = [[part for part in row if part.left >= gutter] for row in rows]
    return [row for row in left if row], [row for row in right if row]


def _gutter(rows: Sequence[Row]) -> float | None:
    """Return the gutter between columns: the middle of the places with most lines on both sides."""
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    places = [left + (0.14 + 0.72 * step / (PLACES - 1)) * (right - left) for step in range(PLACES)]
    crossed = [
        {n for part in row for n in range(bisect_right(places, part.left), bisect_left(places, part.right))}
        for row in rows
    ]
    best, chosen = 0, list[float]()
    for number, place in enumerate(places):
        crossing = [number in numbers for numbers in crossed]
        if crossing.count(False) < max(FEWEST, best):
            continue
        runs = groupby(zip(crossing, rows, strict=True), itemgetter(0))
        beside = (_halves([row for _, row in run], place) for crosses, run in runs if not crosses)
        lines = sum(
            min(map(len, halves)) for halves in beside if _are_columns(halves, place - left, right - place)
        )
        if lines >= max(1, best):
            chosen = [*chosen, place] if lines == best else [place]
            best = lines
    return chosen[len(chosen) // 2] if chosen else None


def _are_columns(halves: Sequence[Sequence[Row]], *widths: float) -> bool:
    """Check for lines that fill their columns, unlike cells of a table or labels of a list."""
    if min(map(len, halves)) < FEWEST:
        return False
    for half, width in zip(halves, widths, strict=True):
        if sorted(row[-1].right - row[0].left for row in half)[len(half) // 2] < FILLED * width:
            return False
    return True
