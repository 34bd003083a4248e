"""Splitting of a reference list into entries: by numbers, indentation, or authors."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from base.patterns import lazy_regex
from indexer.corpora.full_text.lines.layout import Line
from indexer.corpora.full_text.lines.placed import SHORT_OF_EDGE, WIDE_PITCH, PlacedLine, same_size

LABEL = lazy_regex(
    r"\s*(?:[-*•]\s+)?(?:\[(?P<square>\d{1,4})\]|\((?P<round>\d{1,3})\)|(?P<plain>\d{1,4})[.)](?=\s))\s*"
)
NAMED_LABEL = lazy_regex(r"\[[^\W\d_][^\[\]]{1,80}\d\d[a-z]?\]")  # [Kim20], [Kim and Lee, 2020]
MOST_ENTRY_LINES = 10
BULLET = lazy_regex(r"\s*[-*•]\s+")
HANGING = 0.5  # indentation in line heights
END_CHARACTERS = 200
FAR = 2.5  # in usual line distances
SAME_SIZE = 0.08
ENTRIES_BEFORE = 3  # minimal lines of a list
AFTER_LIST = lazy_regex(
    r"e-?mail(?: address)?(?:es)?\s*:|(?:author )?(?:affiliations?|biograph(?:y|ies)|information)\s*:?$"
    r"|manuscript received|저자\s*소개",
    re.IGNORECASE,
)
# Entries and their second lines may also start with these: Department of Health (2010).
POSSIBLY_AFTER_LIST = lazy_regex(
    r"corresponding author|for instructions on|received\b.*\d{4}|department of\b(?!.*(?:19|20)\d\d)",
    re.IGNORECASE,
)
MOST_LEFT_OUT = 5  # consecutive missing numbers of a list
# Kim, J.; J. Kim; Kim J; van der Berg, K.; 홍길동, / 홍길동·김철수 / 홍길동(2020) / 한국정보학회 (2020)
AUTHOR = lazy_regex(
    r"(?:(?:van|von|de|der|den|la|le|di)\s+)*[A-Z][\w'’-]+,?\s+(?:[A-Z]\.?[\s,&(]|[A-Z]\.-?[A-Z]|[A-Z][\w'’-]+[.,&(\s])"
    r"|(?:[A-Z]\.[\s-]?){1,3}\s?[A-Z][\w'’-]+"
    r"|[가-힣]{2,4}\s?(?:[,·ㆍ(.]|외\b|and\b)|[가-힣]{3,15}\s?\(\s?(?:19|20)\d\d"
)
ENTRY_END = lazy_regex(r"[.)\]”\"」』]$|10\.\d{4,9}/\S+$|https?://\S+$|\d$")


@dataclass(frozen=True, slots=True)
class EntryLine:
    """A line of a reference list with its layout relative to the others."""

    text: str
    indented: bool  # relative to the edge of the list
    apart: bool  # far from the line above
    after_short: bool  # the line above ends well before the edge
    first: bool = False  # first line of its column


def list_end(lines: Sequence[PlacedLine]) -> int:
    """Return the number of lines of a list below its heading; addresses or tables may follow it."""
    size = sorted(item.line.size for item in lines)[len(lines) // 2] if lines else 0.0
    other = [not same_size(item.line.size, size, SAME_SIZE) or item.line.broken for item in lines]
    begins = [any(p.match(item.line.text) for p in (LABEL, NAMED_LABEL, AUTHOR)) for item in lines]
    starts = list(accumulate(reversed(begins)))[::-1]  # number of entry starts from each line to the end
    for number in range(ENTRIES_BEFORE, len(lines)):
        text = lines[number].line.text
        over = _is_over(starts[number], len(lines) - number)
        apart = lines[number].gap > FAR or lines[number].above is None
        perhaps = POSSIBLY_AFTER_LIST.match(text) and (over or other[number] or lines[number].gap > FAR)
        if AFTER_LIST.match(text) or perhaps or (apart and over and all(other[number : number + 2])):
            return number
    return len(lines)


def _is_over(starts: int, lines: int) -> bool:
    """Check whether lines have too few entry starts for a list, which may continue after a figure."""
    return starts <= max(1, lines / MOST_ENTRY_LINES)


def entries_of(lines: Sequence[PlacedLine]) -> list[list[Line]]:
    """Split the lines of a reference list on pages into entries."""
    gaps = sorted(item.line.top - item.above.top for item in lines if item.above)
    usual = gaps[len(gaps) // 4] if gaps else 0.0
    seen = [
        EntryLine(
            item.line.text,
            indented=item.line.left > item.column.left + HANGING * item.line.size,
            apart=item.above is not None and item.line.top - item.above.top > WIDE_PITCH * usual,
            after_short=item.above is not None
            and item.above.right < item.column.right - SHORT_OF_EDGE * item.line.size,
            first=item.above is None,
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
    """Split the lines of a reference list in a text: each entry is a line, a block, numbered or indented."""
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
    """Return for each line of a list whether it starts an entry."""
    numbered = _numbered(lines)
    if sum(numbered) > 1 or (numbered[:1] == [True]):
        return numbered
    named = [NAMED_LABEL.match(line.text) is not None for line in lines]
    if sum(named) > max(1, len(lines) / MOST_ENTRY_LINES):
        return named
    bulleted = [BULLET.match(line.text) is not None for line in lines]
    if sum(bulleted) > 1:
        return bulleted
    apart = sum(line.apart for line in lines)
    before = ["", *(line.text[-END_CHARACTERS:] for line in lines)]
    authors = [AUTHOR.match(line.text) is not None for line in lines]
    ended = [number == 0 or ENTRY_END.search(before[number]) is not None for number in range(len(lines))]
    if apart > max(1, len(lines) / 8):
        indented = 2 * sum(line.apart and line.indented for line in lines) > apart
        others = sum(line.indented == indented for line in lines if not line.apart)
        hangs = 2 * others < len(lines) - apart
        return [
            number == 0
            or line.apart
            or (line.first and (line.indented == indented if hangs else authors[number] and ended[number]))
            for number, line in enumerate(lines)
        ]
    inner = [number for number, line in enumerate(lines) if line.indented]
    edge = [number for number, line in enumerate(lines) if not line.indented]
    # Hanging indentation: most entries continue with an indented line; otherwise their first lines are
    # indented.
    if inner and len(inner) >= len(edge) / 4:
        shares = [sum(authors[number] for number in place) / max(len(place), 1) for place in (edge, inner)]
        starts = set(edge) if shares[0] >= shares[1] or len(edge) < len(lines) / 8 else set(inner)
        return [number in starts for number in range(len(lines))]
    return [
        authors[number] and (number == 0 or line.after_short or ended[number])
        for number, line in enumerate(lines)
    ]


def _numbered(lines: Sequence[EntryLine]) -> list[bool]:
    """Return which lines start with the next number in the format of the first number."""
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
