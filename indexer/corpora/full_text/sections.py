"""Sections of a paper: headings, and the paragraphs below them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from indexer.corpora.full_text.heading_words import KEYWORD_HEADINGS, is_abstract_heading
from indexer.corpora.full_text.headings import headings_of
from indexer.corpora.full_text.lines.joining import Usage, join_lines
from indexer.corpora.full_text.lines.layout import Line
from indexer.corpora.full_text.lines.placed import (
    SENTENCE_END,
    SHORT_OF_EDGE,
    WIDE_PITCH,
    PlacedLine,
    together,
    usual_size,
)

INDENTATION = 0.7  # in line heights
INLINE_HEADING = re.compile(
    rf"(?P<name>abstract|summary|(?:(?:국문|영문|한글|영어)\s*)?(?:초\s*록|요\s*약)|{KEYWORD_HEADINGS})"
    r"\s*[-–—:：.]+\s*(?P<text>\S.*)",
    re.IGNORECASE,
)
# An abstract on the line of its heading, without a separator.
RUN_IN_ABSTRACT = re.compile(
    r"(?P<name>Abstract|ABSTRACT|(?:(?:국문|영문|한글)\s*)?(?:초\s*록|요\s*약))\s+(?P<text>[A-Z가-힣“\"].{30,})"
)
FRONT_PAGES = 3


@dataclass(slots=True)
class Section:
    """A heading ('' before the first one), its level from 1, and the lines below it.

    `kind` is "abstract", "summary" for a final part, or ''.
    """

    heading: str
    level: int = 1
    lines: list[PlacedLine] = field(default_factory=list)
    kind: str = ""


def sections_of(placed: Sequence[PlacedLine], usage: Usage) -> list[Section]:
    """Split the lines of a paper at its headings."""
    headings = {
        heading.first: heading for heading in headings_of(placed, usual_size([item.line for item in placed]))
    }
    sections = [Section("")]
    last = -1
    for index, item in enumerate(placed):
        if index <= last:
            continue
        if found := INLINE_HEADING.fullmatch(item.line.text) or _run_in(item, placed[0], sections):
            first = replace(item, line=replace(item.line, text=found["text"]))
            sections.append(Section(together(found["name"]), 1, [first]))
        elif heading := headings.get(index):
            last = heading.last
            lines = [placed[number].line for number in range(index, last + 1)]
            sections.append(Section(together(join_lines(lines, usage)), heading.level))
        else:
            sections[-1].lines.append(item)
    return sections


def _run_in(item: PlacedLine, first: PlacedLine, sections: Sequence[Section]) -> re.Match[str] | None:
    """Match the first abstract of a document's first pages on the line of its heading."""
    if item.page >= first.page + FRONT_PAGES or any(is_abstract_heading(part.heading) for part in sections):
        return None
    return RUN_IN_ABSTRACT.fullmatch(item.line.text)


def paragraphs(lines: Sequence[PlacedLine], usage: Usage) -> list[str]:
    """Join the lines of a section into paragraphs, also across columns."""
    groups: list[list[Line]] = []
    for item in lines:
        if not groups or _begins_paragraph(item, groups[-1][-1]):
            groups.append([])
        groups[-1].append(item.line)
    return [text for group in groups if (text := join_lines(group, usage))]


def _begins_paragraph(item: PlacedLine, last: Line) -> bool:
    if not SENTENCE_END.search(last.text):
        # Figure text or a formula, far apart.
        return item.above is last and item.gap > 2 * WIDE_PITCH
    indented = item.line.left > item.column.left + INDENTATION * item.line.size
    if item.above is not last:
        return indented
    after_indented = last.left > item.column.left + INDENTATION * last.size
    short = last.right < item.column.right - SHORT_OF_EDGE * last.size
    return short or item.gap > WIDE_PITCH or (indented and not after_indented)
