"""Headings on the pages of a paper: numbered in one sequence, in one style, or with known words."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from base.patterns import lazy_regex
from indexer.corpora.full_text.layout import LARGER, Line
from indexer.corpora.headings import Kind, Number, kind_of, number_of, together

HEADING_CHARACTERS = 130
MOST_LINES = 3  # of one heading
FEWEST_ALIKE = 3  # headings of one style
MAIN_KINDS = ("chapter", "roman", "arabic")  # of numbers
WORD = lazy_regex(r"[^\W\d_]{3,}|[가-힣]{2,}")

Style: TypeAlias = tuple[float, bool, bool]  # size, bold, capitals


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in lines `first` to `last`; main parts have level 1."""

    first: int
    last: int
    level: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    index: int
    text: str
    style: Style
    distinct: bool  # from the text
    known: Kind | None
    number: Number


def headings_of(lines: Sequence[Line], usual: float) -> list[Heading]:
    """Find the headings among the lines of a document; `usual` is the size of its text."""
    levels = _levels(list(_candidates(lines, usual)), lines)
    found: list[Heading] = []
    for index in sorted(levels):
        if not found or index > found[-1].last:
            found.append(Heading(index, _last_line(lines, index, levels), levels[index]))
    return found


def _style_of(line: Line) -> Style:
    signs = "".join(line.text.split())
    return line.size, line.part.bold, sum(map(str.isupper, signs)) > max(3, 0.7 * len(signs))


def _candidates(lines: Sequence[Line], usual: float) -> Iterator[_Candidate]:
    is_bold = sum(line.part.bold for line in lines) > len(lines) / 2  # the text
    in_list = False
    for index, line in enumerate(lines):
        text = together(line.text)
        if not text or len(text) > HEADING_CHARACTERS or line.part.broken or text[0].islower():
            continue
        known, number, style = kind_of(text), number_of(text), _style_of(line)
        number = Number("", 0, text) if number.kind == "letter" else number  # or an initial
        distinct = style[0] > LARGER * usual or style[1] > is_bold or style[2]
        ends_well = number.kind or (distinct and text[-1] not in ".,;:-–")
        if not known and not (WORD.search(number.name) and not number.name[0].islower() and ends_well):
            continue
        if known or distinct:
            in_list = known == "references" or (in_list and not known and not number.kind)
        if known or distinct or not in_list:  # unless it is a numbered entry
            yield _Candidate(index, text, style, distinct, known, number)


def _main_sequence(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the numbered headings of main parts: the widest sequence 1, 2, 3 … of one kind and style.

    Of kinds that span half of the widest sequence, the first one of `MAIN_KINDS` counts.
    """
    groups: defaultdict[tuple[str, object], list[_Candidate]] = defaultdict(list)
    for each in candidates:
        for style in (each.style[:2], each.style[1], None) if each.number.value else ():
            groups[each.number.kind, style].append(each)
    widest: dict[str, tuple[int, list[_Candidate]]] = {}
    for (kind, _), members in groups.items():
        sequence = _longest(members)
        width = sequence[-1].index - sequence[0].index if sequence else 0
        if len(sequence) >= FEWEST_ALIKE and width > widest.get(kind, (0,))[0]:
            widest[kind] = width, sequence
    most = max((width for width, _ in widest.values()), default=0)
    spanning = (kind for kind in MAIN_KINDS if kind in widest and widest[kind][0] * 2 >= most)
    return next((widest[kind][1] for kind in spanning), [])


def _longest(members: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the longest sequence of numbers from 1 or 2."""
    best: dict[int, list[_Candidate]] = {}
    for member in members:
        value = member.number.value
        chain = [*best.get(value - 1, ()), member]
        begins = len(chain) > 1 or value in (1, 2)
        if begins and len(chain) >= len(best.get(value, ())):
            best[value] = chain
    return max(best.values(), key=len, default=[])


def _levels(candidates: Sequence[_Candidate], lines: Sequence[Line]) -> dict[int, int]:
    """Return the level of each line that is a heading: 1 for main parts, 2 for others."""
    sequence = _main_sequence(candidates)
    main = {each.index for each in sequence}
    styles = {each.style for each in sequence if each.distinct}
    if not sequence:  # the largest style of several headings
        counted = Counter(each.style for each in candidates if each.distinct)
        frequent = [style for style, n in counted.items() if n >= FEWEST_ALIKE]
        styles = {max(frequent or counted, default=(0.0, False, False))}
    first = min(main or {each.index for each in candidates if each.known}, default=0)
    levels: dict[int, int] = {}
    seen: set[str] = set()
    for each in candidates:
        is_running = each.text in seen and not each.known and lines[each.index].above is None
        if is_running or not (each.known or each.index >= first):  # a header; titles and names
            continue
        level = 1 if each.index in main else _level(each, styles, has_numbers=bool(main))
        if level:
            levels[each.index] = level
            seen.add(each.text)
    return levels


def _level(candidate: _Candidate, styles: Collection[Style], *, has_numbers: bool) -> int:
    known, kind = candidate.known, candidate.number.kind
    if known and kind != "deep" and (known != "kept" or not has_numbers):
        return 1
    if not candidate.distinct:
        return 0
    return 1 if candidate.style in styles and not (kind and has_numbers) else 2


def _last_line(lines: Sequence[Line], first: int, levels: Collection[int]) -> int:
    """Return the last line of the heading that starts at line `first`: lines of one style."""
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(lines))):
        line, above = lines[index], lines[index - 1]
        after = lines[index + 1] if index + 1 < len(lines) else None
        ends = index in levels or after is None or after.above is not line.part or after.gap > line.gap * 1.1
        same = line.above is above.part and _style_of(line)[:2] == _style_of(above)[:2]
        if not same or not ends or kind_of(above.text) or number_of(line.text).kind:
            break
        last = index
    return last
