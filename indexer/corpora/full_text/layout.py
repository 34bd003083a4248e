"""Reading order: the fragments of a page as lines, column by column, without headers and footers."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import itemgetter

from indexer.corpora.full_text.pages import RAISED, WIDE_GAP, Fragment, Page

PLACES = [0.14 + 0.015 * step for step in range(49)]  # of gutters, as shares of the width
NARROW = 0.3  # share of the width; narrower columns are margin notes
FILLED = 0.4  # minimal median share of a column's width filled by its lines
FEWEST = 3  # lines of a column
BLANK = 2.5  # blank space across all columns, in line heights
FEW_ROWS = 8  # above such a space
CELL_GAP = 2.2  # gap between cells of a table, in line heights
NO_SPACE = 0.12  # gap within a word, in line heights
MOST_SPLITS = 2  # nested splits: three or four columns
MARGIN = 0.13  # share of a page's height that may contain its number
WIDE_MARGIN = 0.2  # share that may contain text repeated on several pages
DROP_CAP = 1.7  # in heights of the text beside it
LARGER = 1.12  # ratio of the size of a title or heading to that of the text
PAGE_NUMBER = re.compile(
    r"\W*(?:p(?:age|p?\.)\s*)?(?:\d{1,5}|[ivxl]{1,6})(?:\s*(?:/|of)\s*\d{1,5})?\s*(?:쪽|면)?\W*", re.IGNORECASE
)

Row = list[Fragment]  # fragments on one baseline, from the left


@dataclass(slots=True)
class Column:
    """Typical values of a column: line start, line end and line distance."""

    left: float
    right: float
    pitch: float


@dataclass(slots=True)
class Line:
    """A line in reading order, the line above it in its column, the column, and the page from 0."""

    part: Fragment
    above: Fragment | None
    column: Column
    page: int

    @property
    def text(self) -> str:
        """The text without marks."""
        return plain(self.part.text)

    @property
    def size(self) -> float:
        """The font height, rounded to half points."""
        return rounded(self.part.size)

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


def plain(text: str) -> str:
    """Return a text without the separators of raised marks."""
    return text.replace(RAISED, "")


def rounded(size: float) -> float:
    """Round a height to half points."""
    return round(size * 2) / 2


def usual_size(pages: Sequence[Page]) -> float:
    """Return the most frequent font height, by characters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for fragment in page.fragments:
            sizes[rounded(fragment.size)] += len(fragment.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def lines_of(fragments: Sequence[Fragment], number: int = 0) -> list[Line]:
    """Order the fragments of a page by columns; a line across several columns ends them."""
    rows = [_near_joined(row) for row in rows_of(_with_drop_caps(fragments))]
    lines: list[Line] = []
    for region in _regions(rows, MOST_SPLITS):
        joined = [_joined(row) for row in region]
        pitches = Counter(round(below.top - above.top) for above, below in pairwise(joined))
        column = Column(
            min(line.left for line in joined),
            max(line.right for line in joined),
            pitches.most_common(1)[0][0] if pitches else 0.0,
        )
        lines += [
            Line(line, above, column, number) for line, above in zip(joined, [None, *joined], strict=False)
        ]
    return lines


def rows_of(fragments: Sequence[Fragment]) -> list[Row]:
    """Return the rows of fragments on one baseline, from top to bottom."""
    rows: list[Row] = []
    tallest: Fragment | None = None  # of the last row
    for fragment in sorted(fragments, key=lambda part: (part.top + part.bottom, part.left)):
        shared = min(tallest.bottom, fragment.bottom) - max(tallest.top, fragment.top) if tallest else 0
        if tallest and shared > min(tallest.size, fragment.size) / 2:
            rows[-1].append(fragment)
            tallest = max(tallest, fragment, key=lambda part: part.size)
        else:
            rows.append([fragment])
            tallest = fragment
    return [sorted(row, key=lambda part: part.left) for row in rows]


def _with_drop_caps(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Join each large first letter of a paragraph with the first line beside it."""
    kept = list(fragments)
    for cap in [part for part in fragments if len(part.text) == 1 and part.text.isalpha()]:
        beside = [
            part
            for part in kept
            if cap.size > DROP_CAP * part.size
            and -1 < part.left - cap.right < part.size
            and cap.top - part.size < part.top < cap.bottom
        ]
        if beside and len(beside) > 1:
            first = min(beside, key=lambda part: part.top)
            kept = [part for part in kept if part is not cap and part is not first]
            kept.append(replace(first, text=cap.text + first.text, left=cap.left))
    return kept


def _near_joined(row: Row) -> Row:
    """Join the fragments of a row that are too close for a gutter."""
    joined = [row[0]]
    for part in row[1:]:
        if part.left - joined[-1].right < WIDE_GAP * max(part.size, joined[-1].size):
            joined[-1] = _joined([joined[-1], part])
        else:
            joined.append(part)
    return joined


def _joined(row: Sequence[Fragment]) -> Fragment:
    whole = row[0]
    for part in row[1:]:
        gap, size = part.left - whole.right, max(whole.size, part.size)
        whole = replace(
            whole if whole.size >= part.size else part,
            text=f"{whole.text} {part.text}" if whole.spaced or gap > NO_SPACE * size else whole.text + part.text,
            left=whole.left,
            right=max(whole.right, part.right),
            weight=min(whole.weight, part.weight),
            spaced=part.spaced,
            broken=whole.broken or part.broken or (gap > CELL_GAP * size and len(whole.text) > 6),
        )
    return whole


def _regions(rows: Sequence[Row], splits: int) -> Iterator[list[Row]]:
    gutter = _gutter(rows) if splits and len(rows) >= FEWEST else None
    if gutter is None:
        if rows:
            yield list(rows)
        return
    for crosses, group in groupby(rows, lambda row: _crosses(row, gutter)):
        together = list(group)
        for run in [together] if crosses else _apart(together):
            for part in [run] if crosses else _halves(run, gutter):
                yield from _regions(part, splits - 1)


def _apart(rows: Sequence[Row]) -> list[list[Row]]:
    """Split a few rows, for example of author names, from the columns below a blank space."""
    parts: list[list[Row]] = []
    bottom = 0.0
    for row in rows:
        far = min(part.top for part in row) - bottom > BLANK * max(part.size for part in row)
        if not parts or (far and len(parts[-1]) <= FEW_ROWS):
            parts.append([])
        parts[-1].append(row)
        bottom = max(bottom, *(part.bottom for part in row))
    return parts


def _halves(rows: Sequence[Row], gutter: float) -> list[list[Row]]:
    left = [[part for part in row if part.right <= gutter] for row in rows]
    right = [[part for part in row if part.left >= gutter] for row in rows]
    return [[row for row in half if row] for half in (left, right)]


def _crosses(row: Row, place: float) -> bool:
    return any(part.left < place < part.right for part in row)


def _gutter(rows: Sequence[Row]) -> float | None:
    """Return the gutter between columns: the middle of the places with most lines on both sides."""
    left = min(row[0].left for row in rows)
    right = max(part.right for row in rows for part in row)
    places = [left + share * (right - left) for share in PLACES]
    crossed = [_crossed(row, places) for row in rows]
    best, best_places = 0, list[float]()
    for number, place in enumerate(places):
        crosses = [bits >> number & 1 for bits in crossed]
        if len(rows) - sum(crosses) < max(FEWEST, best):
            continue
        score = sum(
            _lines_beside([row for _, row in group], place, left, right)
            for across, group in groupby(zip(crosses, rows, strict=True), itemgetter(0))
            if not across
        )
        if score > best:
            best, best_places = score, []
        if score == best and score:
            best_places.append(place)
    return best_places[len(best_places) // 2] if best_places else None


def _crossed(row: Row, places: Sequence[float]) -> int:
    """Return the places crossed by the fragments of a row, as bits of a number."""
    bits = 0
    for part in row:
        first, end = bisect_right(places, part.left), bisect_left(places, part.right)
        bits |= (1 << max(first, end)) - (1 << first)
    return bits


def _lines_beside(rows: Sequence[Row], place: float, left: float, right: float) -> int:
    """Return the number of lines of the shorter column, 0 for table cells or labels."""
    halves = _halves(rows, place)
    fewer = min(map(len, halves))
    widths = place - left, right - place
    if fewer < FEWEST or min(map(_filled, halves, widths)) < FILLED:
        return 0
    if min(widths) < NARROW * (right - left):  # margin notes are not on the baselines of the text
        narrow, wide = halves if widths[0] < widths[1] else halves[::-1]
        baselines = {round(part.bottom) for row in wide for part in row}
        if 2 * sum(round(row[0].bottom) in baselines for row in narrow) > len(narrow):
            return 0
    return fewer


def _filled(rows: Sequence[Row], width: float) -> float:
    """Return the median share of a column's width that its lines fill."""
    return sorted(row[-1].right - row[0].left for row in rows)[len(rows) // 2] / max(width, 1)


def without_margins(pages: Sequence[Page], usual: float) -> list[list[Fragment]]:
    """Drop page numbers, and text at the same position on several pages, ignoring digits."""
    outer = [[part for part in page.fragments if is_outer(part, page, WIDE_MARGIN)] for page in pages]
    seen = Counter(key for parts in outer for key in set(map(_key, parts)))
    often = max(2, len(pages) / 5)
    kept = []
    for page, parts in zip(pages, outer, strict=True):
        dropped = {
            id(part)
            for part in parts
            if part.size <= LARGER * usual
            and (seen[_key(part)] >= often or (PAGE_NUMBER.fullmatch(part.text) and is_outer(part, page)))
        }
        kept.append([part for part in page.fragments if id(part) not in dropped])
    return kept


def is_outer(part: Fragment, page: Page, share: float = MARGIN) -> bool:
    """Check whether a fragment is in the upper or lower margin of a page."""
    return part.bottom < share * page.height or part.top > (1 - share) * page.height


def _key(part: Fragment) -> tuple[str, int]:
    return re.sub(r"\d+|\s+", "", part.text), round((part.top + part.bottom) / 8)
