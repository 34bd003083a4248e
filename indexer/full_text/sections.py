"""Headings and the paragraphs below them, told by their words, their fonts and their places."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from indexer.cleaning import HEADING_CHARACTERS, heading_kind, is_reference_heading, kind_by_words
from indexer.full_text.joining import Usage, join_lines
from indexer.full_text.layout import Line, Region

LARGER = 1.12  # than the text: the font of a heading
HEADING_WORDS = 14
WIDE_PITCH = 1.35  # of the usual distance of lines: a paragraph begins
INDENTATION = 0.7  # of the height of a line
SHORT_OF_EDGE = 2.5  # heights of a line: the last one of a paragraph
SENTENCE_END = re.compile(r"[.?!:;。]['\"”’)\]]*$")
LETTERS_APART = re.compile(r"(?:[가-힣]\s+){1,6}[가-힣]|(?:[A-Z]\s+){4,20}[A-Z]")
KEYWORD_HEADINGS = r"key\s?words?(?: and phrases)?|index terms|주제어|핵심어|중심어|키워드|색인어"
INLINE_HEADING = re.compile(
    rf"(?P<name>abstract|summary|(?:국문\s*|영문\s*)?(?:초\s*록|요\s*약)|{KEYWORD_HEADINGS})"
    r"\s*[-–—:：.]+\s*(?P<text>\S.*)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Column:
    """What is usual in a region: where its lines begin and end, and how far they are apart."""

    left: float
    right: float
    pitch: float


@dataclass(slots=True)
class PlacedLine:
    """A line, the line above it in its column, and the column."""

    line: Line
    above: Line | None
    column: Column

    @property
    def gap(self) -> float:
        """How far it is from the line above, in usual distances; the first line of a column is at one."""
        return (
            (self.line.top - self.above.top) / self.column.pitch if self.above and self.column.pitch else 1.0
        )


@dataclass(slots=True)
class Section:
    """A heading ('' before the first one) and the lines below it."""

    heading: str
    lines: list[PlacedLine] = field(default_factory=list)


def usual_size(lines: Sequence[Line]) -> float:
    """Return the height of the font that most characters have."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[rounded(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def rounded(size: float) -> float:
    """Return a height to the half point."""
    return round(size * 2) / 2


def placed_lines(regions: Sequence[Region]) -> Iterator[PlacedLine]:
    """Yield the lines of all regions, each with its column."""
    for region in regions:
        pitches = Counter(round(below.top - line.top) for line, below in pairwise(region))
        column = Column(
            min(line.left for line in region),
            max(line.right for line in region),
            pitches.most_common(1)[0][0] if pitches else 0.0,
        )
        yield from map(PlacedLine, region, [None, *region], [column] * len(region))


def sections_of(placed: Sequence[PlacedLine], usage: Usage) -> list[Section]:
    """Part the lines of a paper at its headings."""
    usual = usual_size([item.line for item in placed])
    bold = sum(item.line.bold for item in placed) > len(placed) / 2
    sections = [Section("")]
    heading: list[Line] = []
    for item in placed:
        if found := INLINE_HEADING.fullmatch(item.line.text):
            first = replace(item, line=replace(item.line, text=found["text"]))
            sections.append(Section(together(found["name"]), [first]))
            continue
        in_list = is_reference_heading(sections[-1].heading)
        distinct = rounded(item.line.size) > LARGER * usual or (item.line.bold and not bold)
        if not _is_heading(item, distinct=distinct, in_list=in_list):
            sections[-1].lines.append(item)
        elif heading and not sections[-1].lines and item.above is heading[-1] and _goes_on(heading[-1], item):
            heading.append(item.line)
            sections[-1].heading = join_lines(heading, usage)
        else:
            heading = [item.line]
            sections.append(Section(together(join_lines(heading, usage))))
    return sections


def _is_heading(item: PlacedLine, *, distinct: bool, in_list: bool) -> bool:
    text = together(item.line.text)
    if len(text) > HEADING_CHARACTERS or not any(map(str.isalpha, text)):
        return False
    if kind_by_words(text) is not None:
        return True
    words = len(text.split()) <= HEADING_WORDS and text[-1] not in ".,;-" and not text[0].islower()
    if distinct and words:
        return True
    # What is numbered and stands alone: neither the entry of a list nor a line that begins with a number.
    alone = item.line.right < item.column.right - SHORT_OF_EDGE * item.line.size and item.gap > 1
    return alone and words and not in_list and heading_kind(text) is not None


def _goes_on(last: Line, item: PlacedLine) -> bool:
    same = last.bold == item.line.bold and rounded(last.size) == rounded(item.line.size)
    return same and kind_by_words(last.text) is None and heading_kind(item.line.text) is None


def together(text: str) -> str:
    """Return a heading with its letters together where they were set apart: 서 론, A B S T R A C T."""
    return "".join(text.split()) if LETTERS_APART.fullmatch(text.strip()) else text.strip()


def paragraphs(lines: Sequence[PlacedLine], usage: Usage) -> list[str]:
    """Join the lines of a section into paragraphs, which may go on in the next column."""
    groups: list[list[Line]] = []
    for item in lines:
        if not groups or _begins_paragraph(item, groups[-1][-1]):
            groups.append([])
        groups[-1].append(item.line)
    return [text for group in groups if (text := join_lines(group, usage))]


def _begins_paragraph(item: PlacedLine, last: Line) -> bool:
    if not SENTENCE_END.search(last.text):
        # A figure's text, a formula: set apart by much.
        return item.above is last and item.gap > 2 * WIDE_PITCH
    indented = item.line.left > item.column.left + INDENTATION * item.line.size
    if item.above is not last:
        return indented
    after_indented = last.left > item.column.left + INDENTATION * last.size
    short = last.right < item.column.right - SHORT_OF_EDGE * last.size
    return short or item.gap > WIDE_PITCH or (indented and not after_indented)
