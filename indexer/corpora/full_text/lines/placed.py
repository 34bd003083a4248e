"""Lines of a document in reading order, each with its column."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat

from indexer.corpora.full_text.lines.layout import Line, Region

WIDE_PITCH = 1.35  # relative line distance at the start of a paragraph
SENTENCE_END = re.compile(r"[.?!:;。다]['\"”’)\]]*$")
SHORT_OF_EDGE = 2.5  # in line heights: the last line of a paragraph
LETTERS_APART = re.compile(
    r"(?P<number>(?:(?:\d{1,2}|[IVXⅠ-Ⅻ]{1,4})\s*[.)]|제\s*\d{1,2}\s*[장절])\s*)?(?P<name>(?:[가-힣]\s+){1,6}[가-힣]|(?:[A-Z]\s+){4,20}[A-Z])"
)


@dataclass(slots=True)
class Column:
    """Typical values of a region: line start, line end and line distance."""

    left: float
    right: float
    pitch: float


@dataclass(slots=True)
class PlacedLine:
    """A line, the line above it in its column, the column, and the page, counted from 0."""

    line: Line
    above: Line | None
    column: Column
    page: int = 0

    @property
    def gap(self) -> float:
        """Distance from the line above, in usual distances; 1 for the first line of a column."""
        return (
            (self.line.top - self.above.top) / self.column.pitch if self.above and self.column.pitch else 1.0
        )


def usual_size(lines: Sequence[Line]) -> float:
    """Return the most frequent font height, by characters."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[rounded(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def same_size(size: float, other: float, tolerance: float) -> bool:
    """Check whether two heights differ by at most a share of the larger one."""
    return abs(size - other) <= tolerance * max(size, other)


def rounded(size: float) -> float:
    """Round a height to half points."""
    return round(size * 2) / 2


def placed_lines(regions: Sequence[Region], page: int = 0) -> Iterator[PlacedLine]:
    """Yield the lines of all regions of a page, each with its column."""
    for region in regions:
        pitches = Counter(round(below.top - line.top) for line, below in pairwise(region))
        column = Column(
            min(line.left for line in region),
            max(line.right for line in region),
            pitches.most_common(1)[0][0] if pitches else 0.0,
        )
        yield from map(PlacedLine, region, [None, *region], repeat(column), repeat(page))


def together(text: str) -> str:
    """Join the letters of a letter-spaced heading: Ⅰ. 서 론, A B S T R A C T."""
    found = LETTERS_APART.fullmatch(text.strip())
    return (found["number"] or "") + "".join(found["name"].split()) if found else text.strip()
