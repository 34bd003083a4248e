"""Reading order: the fragments of a page as regions of lines, column by column."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

# Possible gutter positions, as a share of the width.
PLACES = (0.14, 0.86)
GUTTER_CHOICES = 49
NARROW = 0.3  # share of the width; narrower columns are margin notes
NOTE_CHARACTERS = 6
FILLED = 0.4  # minimal median share of a column's width filled by its lines
FEWEST = 3  # minimal lines of a column
# Gap between words, in line heights, that may separate columns.
WIDE_GAP = 0.9
BLANK = 2.5  # blank space across all columns, in line heights
BROKEN = 2.2  # gap between cells in heights; also after a label of this many characters
LABEL_CHARACTERS = 6
MOST_SPLITS = 2  # nested splits: three or four columns
# Distance of fragments, in line heights, that are joined without a space.
NO_SPACE = 0.12
GLUED = 0.5  # the same for parts of a word in two font sizes, such as small capitals


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one baseline with its position in points from the left and top of the page.

    `spaced`: a space was drawn at its end. `glued`: its last word continues in the next fragment. `broken`:
    it has a wide gap, as between table cells.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    bold: bool = False
    spaced: bool = False
    glued: bool = False
    broken: bool = False

    @property
    def size(self) -> float:
        """The font height."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """The vertical middle."""
        return (self.top + self.bottom) / 2


Region = list[Line]  # lines of one column, from its top
Row = list[Line]  # fragments on one baseline, from the left


def regions_of(fragments: Sequence[Line], splits: int = MOST_SPLITS) -> list[Region]:
    """Order the fragments of a page by columns; a line across both columns ends them."""
    rows = [_near_joined(row) for row in rows_of(fragments)]
    return [[_joined(row) for row in region] for region in _regions(rows, splits)]


def _regions(rows: Sequence[Row], splits: int) -> list[list[Row]]:
    gutter = _gutter(rows) if splits and len(rows) >= FEWEST else None
    if gutter is None:
        return [list(rows)] if rows else []
    regions: list[list[Row]] = []
    for crosses, group in groupby(rows, lambda row: _crosses(row, gutter)):
        together = list(group)
        for run in [together] if crosses else _apart(together):
            for part in [run] if crosses else _halves(run, gutter):
                regions += _regions(part, splits - 1)
    return regions


def _apart(rows: Sequence[Row]) -> list[list[Row]]:
    """Split rows at blank space across all columns, for example below author names."""
    parts: list[list[Row]] = []
    bottom = 0.0
    for row in rows:
        if not parts or min(line.top for line in row) - bottom > BLANK * max(line.size for line in row):
            parts.append([])
        parts[-1].append(row)
        bottom = max(bottom, *(line.bottom for line in row))
    return parts


def _halves(rows: Sequence[Row], gutter: float) -> list[list[Row]]:
    left = [[line for line in row if line.right <= gutter] for row in rows]
    right = [[line for line in row if line.left >= gutter] for row in rows]
    return [[row for row in half if row] for half in (left, right)]


def _crosses(row: Row, place: float) -> bool:
    return any(line.left < place < line.right for line in row)


def _gutter(rows: Sequence[Row]) -> float | None:
    """Return the gutter between columns: the middle of the places with most lines on both sides."""
    left = min(row[0].left for row in rows)
    right = max(line.right for row in rows for line in row)
    if right <= left:
        return None
    first, last = (left + share * (right - left) for share in PLACES)
    places = [first + step * (last - first) / (GUTTER_CHOICES - 1) for step in range(GUTTER_CHOICES)]
    crossed = [_crossed(row, places) for row in rows]
    best, best_places = 0, list[float]()
    for number, place in enumerate(places):
        crosses = [places_of_row >> number & 1 for places_of_row in crossed]
        if len(rows) - sum(crosses) < max(FEWEST, best):
            continue
        score = 0
        for across, group in groupby(zip(crosses, rows, strict=True), itemgetter(0)):
            if not across:
                score += _lines_beside([row for _, row in group], place, left, right)
        if score > best:
            best, best_places = score, [place]
        elif score == best and best_places:
            best_places.append(place)
    return best_places[len(best_places) // 2] if best_places else None


def _crossed(row: Row, places: Sequence[float]) -> int:
    """Return the places crossed by lines of a row, as bits of a number."""
    bits = 0
    for line in row:
        first, end = bisect_right(places, line.left), bisect_left(places, line.right)
        bits |= (1 << max(first, end)) - (1 << first)
    return bits


def _lines_beside(rows: Sequence[Row], place: float, left: float, right: float) -> int:
    """Return the number of lines of the shorter column, 0 for non-columns such as table cells or labels."""
    before, behind = _halves(rows, place)
    fewer = min(len(before), len(behind))
    if fewer < FEWEST:
        return 0
    widths = place - left, right - place
    if min(map(_filled, (before, behind), widths)) < FILLED:
        return 0
    if min(widths) < NARROW * (right - left):  # margin notes, not on the baselines of the text
        narrow, wide = (before, behind) if widths[0] < widths[1] else (behind, before)
        baselines = {round(line.bottom) for row in wide for line in row}
        level = sum(round(row[0].bottom) in baselines for row in narrow)
        letters = sum(len(line.text) for row in narrow for line in row)
        if 2 * level > len(narrow) or letters < NOTE_CHARACTERS * len(narrow):
            return 0
    return fewer


def _filled(rows: Sequence[Row], width: float) -> float:
    """Return the median share of a column's width that its lines fill."""
    return sorted(row[-1].right - row[0].left for row in rows)[len(rows) // 2] / width


def rows_of(fragments: Sequence[Line]) -> list[Row]:
    """Return the rows of fragments on one baseline, from top to bottom."""
    rows: list[Row] = []
    tallest: Line | None = None  # tallest fragment of the last row
    for fragment in sorted(fragments, key=lambda line: (line.middle, line.left)):
        if tallest and _same_row(tallest, fragment):
            rows[-1].append(fragment)
            tallest = max(tallest, fragment, key=lambda line: line.size)
        else:
            rows.append([fragment])
            tallest = fragment
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _near_joined(row: Row) -> Row:
    """Join the fragments of a row that are too close for a gutter."""
    joined = [row[0]]
    for line in row[1:]:
        if line.left - joined[-1].right < WIDE_GAP * max(line.size, joined[-1].size):
            joined[-1] = _joined([joined[-1], line])
        else:
            joined.append(line)
    return joined


def lines_of(fragments: Sequence[Line]) -> list[Line]:
    """Join fragments on one baseline into lines, from top to bottom."""
    return [_joined(row) for row in rows_of(fragments)]


def _same_row(tallest: Line, fragment: Line) -> bool:
    shared = min(tallest.bottom, fragment.bottom) - max(tallest.top, fragment.top)
    return shared > min(tallest.size, fragment.size) / 2


def _joined(row: Sequence[Line]) -> Line:
    whole = row[0]
    for fragment in row[1:]:
        gap = fragment.left - whole.right
        size = max(whole.size, fragment.size)
        apart = whole.spaced or gap > (GLUED if whole.glued else NO_SPACE) * size
        whole = replace(
            whole if whole.size >= fragment.size else fragment,
            text=f"{whole.text} {fragment.text}" if apart else whole.text + fragment.text,
            left=whole.left,
            right=max(whole.right, fragment.right),
            bold=whole.bold and fragment.bold,
            spaced=fragment.spaced,
            glued=fragment.glued,
            broken=whole.broken
            or fragment.broken
            or (gap > BROKEN * size and len(whole.text) > LABEL_CHARACTERS),
        )
    return whole
