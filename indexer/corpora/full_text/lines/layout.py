"""Reading order: what stands on a page as regions of lines, one column after the other."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

# Where a gutter may be, as a share of the width of what it parts.
PLACES = (0.14, 0.86)
GUTTER_CHOICES = 49
NARROW = 0.3  # of the width: notes in a margin
NOTE_CHARACTERS = 6
FILLED = 0.4  # of a column's width, by the lines of a column in the median
FEWEST = 3  # lines of a column
# Words that are further from each other than this, in heights of the line, may belong to two columns.
WIDE_GAP = 0.9
BLANK = 2.5  # heights of a line that all columns leave blank
BROKEN = 2.2  # heights: the gap between cells, but also behind a label of so many characters
LABEL_CHARACTERS = 6
MOST_SPLITS = 2  # in each other: three or four columns
# Fragments of one line nearer to each other than this, in heights of the line, stand without a space.
NO_SPACE = 0.12
GLUED = 0.5  # the same of parts of a word in type of two sizes: small capitals


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one baseline and where it stands: points from the page's left and from its top.

    `spaced`: a space was drawn at its end. `glued`: its last word continues in the next fragment. `broken`:
    it has a wide gap, like cells of a table.
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
        """The height of the font."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Half of its height."""
        return (self.top + self.bottom) / 2


Region = list[Line]  # lines of one column, from its top
Row = list[Line]  # fragments on one baseline, from the left


def regions_of(fragments: Sequence[Line], splits: int = MOST_SPLITS) -> list[Region]:
    """Order the fragments of a page by columns; a line across two columns ends both."""
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
    """Split rows where all columns are blank: names above the columns of the text."""
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
    """Return where a page is parted into columns: the middle of the places with most lines on both sides."""
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
    """Return the places that lines of a row go across, as the bits of a number."""
    bits = 0
    for line in row:
        first, end = bisect_right(places, line.left), bisect_left(places, line.right)
        bits |= (1 << max(first, end)) - (1 << first)
    return bits


def _lines_beside(rows: Sequence[Row], place: float, left: float, right: float) -> int:
    """Return the lines of the shorter column, 0 where the rows are no columns: cells of a table, labels."""
    before, behind = _halves(rows, place)
    fewer = min(len(before), len(behind))
    if fewer < FEWEST:
        return 0
    widths = place - left, right - place
    if min(map(_filled, (before, behind), widths)) < FILLED:
        return 0
    if min(widths) < NARROW * (right - left):  # notes in a margin, which are not on the baselines of the text
        narrow, wide = (before, behind) if widths[0] < widths[1] else (behind, before)
        baselines = {round(line.bottom) for row in wide for line in row}
        level = sum(round(row[0].bottom) in baselines for row in narrow)
        letters = sum(len(line.text) for row in narrow for line in row)
        if 2 * level > len(narrow) or letters < NOTE_CHARACTERS * len(narrow):
            return 0
    return fewer


def _filled(rows: Sequence[Row], width: float) -> float:
    """Return the share of a column's width that its lines fill in the median."""
    return sorted(row[-1].right - row[0].left for row in rows)[len(rows) // 2] / width


def rows_of(fragments: Sequence[Line]) -> list[Row]:
    """Return the rows of fragments on one baseline, from top to bottom."""
    rows: list[Row] = []
    tallest: Line | None = None  # of the last row
    for fragment in sorted(fragments, key=lambda line: (line.middle, line.left)):
        if tallest and _same_row(tallest, fragment):
            rows[-1].append(fragment)
            tallest = max(tallest, fragment, key=lambda line: line.size)
        else:
            rows.append([fragment])
            tallest = fragment
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _near_joined(row: Row) -> Row:
    """Join the fragments of a row between which no gutter can be."""
    joined = [row[0]]
    for line in row[1:]:
        if line.left - joined[-1].right < WIDE_GAP * max(line.size, joined[-1].size):
            joined[-1] = _joined([joined[-1], line])
        else:
            joined.append(line)
    return joined


def lines_of(fragments: Sequence[Line]) -> list[Line]:
    """Put together what stands on one baseline, from top to bottom."""
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
