"""Where the entries of a reference list begin: by their numbers, their indentation, or their authors."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexer.full_text.layout import Line
from indexer.full_text.sections import SHORT_OF_EDGE, WIDE_PITCH, PlacedLine

LABEL = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\[(?P<square>\d{1,4})\]|\((?P<round>\d{1,3})\)|(?P<plain>\d{1,4})[.)](?=\s))\s*"
)
BULLET = re.compile(r"\s*[-*•]\s+")
HANGING = 0.5  # heights of a line
END_CHARACTERS = 200
MOST_LEFT_OUT = 5  # numbers of a list, one after the other
# Kim, J.; J. Kim; Kim J; van der Berg, K.; 홍길동, / 홍길동·김철수 / 홍길동(2020) / 한국정보학회 (2020)
AUTHOR = re.compile(
    r"(?:(?:van|von|de|der|den|la|le|di)\s+)*[A-Z][\w'’-]+,?\s+(?:[A-Z]\.?[\s,&(]|[A-Z]\.-?[A-Z]|[A-Z][\w'’-]+[.,&(\s])"
    r"|(?:[A-Z]\.[\s-]?){1,3}\s?[A-Z][\w'’-]+"
    r"|[가-힣]{2,4}\s?(?:[,·ㆍ(.]|외\b|and\b)|[가-힣]{3,15}\s?\(\s?(?:19|20)\d\d"
)
ENTRY_END = re.compile(r"[.)\]”\"」』]$|10\.\d{4,9}/\S+$|https?://\S+$|\d$")


@dataclass(frozen=True, slots=True)
class EntryLine:
    """A line of a reference list as it stands among the others."""

    text: str
    indented: bool  # from the edge of the list
    apart: bool  # from the line above
    after_short: bool  # the line above ends long before the edge


def entries_of(lines: Sequence[PlacedLine]) -> list[list[Line]]:
    """Part the lines of a reference list on pages."""
    seen = [
        EntryLine(
            item.line.text,
            indented=item.line.left > item.column.left + HANGING * item.line.size,
            apart=item.gap > WIDE_PITCH,
            after_short=item.above is not None
            and item.above.right < item.column.right - SHORT_OF_EDGE * item.line.size,
        )
        for item in lines
    ]
    entries: list[list[Line]] = []
    for item, begins in zip(lines, beginnings(seen), strict=True):
        if begins or not entries:
            entries.append([])
        entries[-1].append(item.line)
    return entries


def entries_in(lines: Iterable[str]) -> list[str]:
    """Part the lines of a reference list in a text: each entry a line, a block, numbered or indented."""
    seen: list[EntryLine] = []
    blank = False
    for line in lines:
        if line.strip():
            indented = line[0].isspace() and not BULLET.match(line)
            seen.append(EntryLine(line.strip(), indented=indented, apart=blank, after_short=not indented))
        blank = not line.strip()
    entries: list[list[str]] = []
    for entry_line, begins in zip(seen, beginnings(seen), strict=True):
        if begins or not entries:
            entries.append([])
        entries[-1].append(entry_line.text)
    joined = map(" ".join, entries)
    return [entry[found.end() :] if (found := BULLET.match(entry)) else entry for entry in joined]


def beginnings(lines: Sequence[EntryLine]) -> list[bool]:
    """Tell of each line of a list whether an entry begins with it."""
    numbered = _numbered(lines)
    if sum(numbered) > 1 or (numbered[:1] == [True]):
        return numbered
    bulleted = [BULLET.match(line.text) is not None for line in lines]
    if sum(bulleted) > 1:
        return bulleted
    indented = sum(line.indented for line in lines)
    at_edge = [not line.indented for line in lines]
    # A hanging indentation: most entries go on in an indented line.
    if indented and indented >= sum(at_edge) / 3:
        return at_edge
    if sum(line.apart for line in lines) > len(lines) / 8:
        return [number == 0 or line.apart for number, line in enumerate(lines)]
    before = ["", *(line.text[-END_CHARACTERS:] for line in lines)]
    return [
        AUTHOR.match(line.text) is not None
        and (number == 0 or line.after_short or ENTRY_END.search(before[number]) is not None)
        for number, line in enumerate(lines)
    ]


def _numbered(lines: Sequence[EntryLine]) -> list[bool]:
    """Tell which lines begin with the next number; those of another kind than the first are none."""
    last, kind = 0, None
    found = []
    for line in lines:
        label = LABEL.match(line.text)
        here = label.lastgroup if label else None
        number = int(label[here]) if label and here else 0
        begins = last < number <= last + MOST_LEFT_OUT and kind in (None, here)
        if begins:
            last, kind = number, here
        found.append(begins)
    return found
