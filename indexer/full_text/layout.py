"""Reading order: what stands on a page as regions of lines, one column after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

# Where a gutter may be, as a share of the width of what it parts.
MIDDLE = (0.3, 0.7)
GUTTER_CHOICES = 41
ROW = 4.0  # points
FEWEST = 3  # lines of a column beside which others go across
MOST_SPLITS = 2  # in each other: three or four columns
# Fragments of one line nearer to each other than this, in heights of the line, stand without a space.
NO_SPACE = 0.12


@dataclass(frozen=True, slots=True)
class Line:
    """Text on one baseline and where it stands: points from the page's left and from its top.

    `spaced` tells that a space was drawn at its end.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    bold: bool = False
    spaced: bool = False

    @property
    def size(self) -> float:
        """The height of the font."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Half of its height."""
        return (self.top + self.bottom) / 2


Region = list[Line]  # lines of one column, from its top


def regions_of(fragments: Sequence[Line], splits: int = MOST_SPLITS) -> list[Region]:
    """Order the fragments of lines of a page: what goes over both columns parts what is above and below."""
    gutter = _gutter(fragments) if splits else None
    if gutter is None:
        return [lines_of(fragments)] if fragments else []
    regions: list[Region] = []
    spanning: list[Line] = []
    columns: list[Line] = []

    def end_columns() -> None:
        left = [line for line in columns if line.right <= gutter]
        right = [line for line in columns if line.right > gutter]
        regions.extend(regions_of(left, splits - 1) + regions_of(right, splits - 1))
        columns.clear()

    for fragment in sorted(fragments, key=lambda line: (line.middle, line.left)):
        if fragment.left < gutter < fragment.right:
            end_columns()
            spanning.append(fragment)
            continue
        if spanning:
            regions.append(lines_of(spanning))
            spanning = []
        columns.append(fragment)
    end_columns()
    return [*regions, lines_of(spanning)] if spanning else regions


def _gutter(fragments: Sequence[Line]) -> float | None:
    """Return where the page is parted into columns: more lines on each side than half of those across."""
    if not fragments:
        return None
    left, right = min(line.left for line in fragments), max(line.right for line in fragments)
    first, last = (left + share * (right - left) for share in MIDDLE)
    # Rows are counted: a line with wide gaps is many fragments.
    rows = [(round(line.middle / ROW), line) for line in fragments]
    best, best_places = 0.0, list[float]()
    for step in range(GUTTER_CHOICES):
        place = first + step * (last - first) / (GUTTER_CHOICES - 1)
        before = len({row for row, line in rows if line.right <= place})
        behind = len({row for row, line in rows if line.left >= place})
        across = len({row for row, line in rows if line.left < place < line.right})
        if min(before, behind) < FEWEST and (across or max(before, behind) < 2 * FEWEST):
            continue  # lines with wide gaps
        score = min(before, behind) - across / 2
        if score > best:
            best, best_places = score, [place]
        elif score == best and best_places:
            best_places.append(place)
    return best_places[len(best_places) // 2] if best_places else None


def lines_of(fragments: Sequence[Line]) -> list[Line]:
    """Put together what stands on one baseline, from top to bottom."""
    rows: list[list[Line]] = []
    for fragment in sorted(fragments, key=lambda line: (line.middle, line.left)):
        if rows and _same_row(rows[-1], fragment):
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
    return [_joined(sorted(row, key=lambda line: line.left)) for row in rows]


def _same_row(row: Sequence[Line], fragment: Line) -> bool:
    tallest = max(row, key=lambda line: line.size)
    shared = min(tallest.bottom, fragment.bottom) - max(tallest.top, fragment.top)
    return shared > min(tallest.size, fragment.size) / 2


def _joined(row: Sequence[Line]) -> Line:
    whole = row[0]
    for fragment in row[1:]:
        gap = fragment.left - whole.right
        apart = whole.spaced or gap > NO_SPACE * max(whole.size, fragment.size)
        whole = replace(
            whole if whole.size >= fragment.size else fragment,
            text=f"{whole.text} {fragment.text}" if apart else whole.text + fragment.text,
            left=whole.left,
            right=max(whole.right, fragment.right),
            bold=whole.bold and fragment.bold,
            spaced=fragment.spaced,
        )
    return whole
