"""Headings of a paper: numbered in one sequence, in one style, or with known words."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from indexer.corpora.cleaning import is_reference_heading, kind_by_words
from indexer.corpora.full_text.layout import LARGER, Line

HEADING_CHARACTERS = 130
APART = 1.2  # in usual line distances
MOST_LINES = 3  # of one heading
FEWEST_ALIKE = 3  # headings of one style
KEYWORD_WORDS = (
    r"key\s?words?(?: and phrases)?|index terms"
    r"|주\s*제\s*어|핵\s*심\s*(?:어|단어)|중심어|키워드|색\s*인\s*어|주요어"
)
ABSTRACT_WORDS = (
    r"abstract|summary|(?:(?:국\s*문|영\s*문|한\s*글|영어|논\s*문)\s*)?(?:초\s*록|요\s*약문?|요\s*지|개요)"
)
KEYWORDS = re.compile(KEYWORD_WORDS, re.IGNORECASE)
ABSTRACT = re.compile(rf"(?:{ABSTRACT_WORDS})(?:\(?abstract\)?)?", re.IGNORECASE)
CONTENTS = re.compile(
    r"(?:table\s*of\s*)?contents|list\s*of\s*(?:tables|figures)|(?:표|그림)?\s*목\s*차", re.IGNORECASE
)
ROMAN = {text: number for number, text in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}
ROMAN |= {chr(0x215F + value): value for value in ROMAN.values()}
VALUE = r"(?P<value>\d{1,2}|[IVX]{1,4}|[Ⅰ-Ⅻ])"
NUMBERS = {  # the kinds of numbers of headings; a kind wins over those after it
    "deep": re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+[.)]?\s+(?P<name>\D.*)"),
    "chapter": re.compile(rf"제\s*{VALUE}\s*[장편부]\s*[.:]?\s*(?P<name>.*)"),
    "장": re.compile(rf"{VALUE}\s*장\s+(?P<name>.*)"),
    "part": re.compile(rf"(?:chapter|part)\s+{VALUE}\b\s*[.:]?\s*(?P<name>.*)", re.IGNORECASE),
    "roman": re.compile(r"(?P<value>[IVX]{1,4}|[Ⅰ-Ⅻ])(?:\s*[.)]\s*|\s+)(?P<name>[^\Wa-z].*)"),
    "arabic": re.compile(r"(?P<value>\d{1,2})(?:\s*[.)]\s*|\s+)(?P<name>[\"“‘(‹]?[^\W\da-z].*)"),
}
LETTERS_APART = re.compile(
    r"((?:제?\s*[\dIVXⅠ-Ⅻ]{1,4}\s*[.)장절]\s*)?)((?:[가-힣]\s+){1,6}[가-힣]|(?:[A-Z]\s+){4,20}[A-Z])"
)
WORD = re.compile(r"[^\W\d_]{3,}|[가-힣]{2,}")

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
    known: bool
    kind: str
    value: int
    name: str


def together(text: str) -> str:
    """Join the letters of a letter-spaced heading: Ⅰ. 서 론, A B S T R A C T."""
    found = LETTERS_APART.fullmatch(text.strip())
    return found[1] + "".join(found[2].split()) if found else text.strip()


def number_of(text: str) -> tuple[str, int, str]:
    """Return the kind and value of a heading's number, and its name; ("", 0, text) without a number."""
    for kind, pattern in NUMBERS.items():
        if found := pattern.match(text):
            numeral = found.groupdict().get("value", "").upper()
            value = ROMAN.get(numeral) or int(numeral if numeral.isdecimal() else 0)
            return kind, value, found["name"].strip()
    return "", 0, text


def is_abstract_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract: 요 약, 국문초록, ‹국문초록 ›."""
    return ABSTRACT.fullmatch(re.sub(r"[^\w()]+", "", text)) is not None


def is_keyword_heading(text: str) -> bool:
    """Check whether a heading introduces keywords."""
    return KEYWORDS.fullmatch(text.strip(" :[]<>【】")) is not None


def is_front_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract, keywords, or a table of contents."""
    return (
        is_abstract_heading(text) or is_keyword_heading(text) or CONTENTS.fullmatch(text.strip()) is not None
    )


def is_known(text: str) -> bool:
    """Check whether a line is a heading by its words alone."""
    words = number_of(text)[2].rstrip(" :.")
    return kind_by_words(words) is not None or is_front_heading(words)


def headings_of(lines: Sequence[Line], usual: float) -> list[Heading]:
    """Find the headings among the lines of a document; `usual` is the size of its text."""
    levels = _levels(_candidates(lines, usual), lines)
    found: list[Heading] = []
    for index in sorted(levels):
        if not found or index > found[-1].last:
            found.append(Heading(index, _last_line(lines, index, levels), levels[index]))
    return found


def _style_of(line: Line) -> Style:
    signs = "".join(line.text.split())
    return line.size, line.part.bold, sum(map(str.isupper, signs)) > max(3, 0.7 * len(signs))


def _candidates(lines: Sequence[Line], usual: float) -> list[_Candidate]:
    is_bold = sum(line.part.bold for line in lines) > len(lines) / 2  # the text
    found = []
    in_list = False
    for index, line in enumerate(lines):
        text = together(line.text)
        if not text or len(text) > HEADING_CHARACTERS or line.part.broken:
            continue
        known, (kind, value, name), style = is_known(text), number_of(text), _style_of(line)
        distinct = style[0] > LARGER * usual or style[1] > is_bold or style[2]
        if not known and not (WORD.search(name) and (kind or (distinct and text[-1] not in ".,;:-–"))):
            continue
        if known or distinct:
            in_list = is_reference_heading(text) or (in_list and not known and not kind)
        if known or distinct or not in_list:  # unless it is a numbered entry
            found.append(_Candidate(index, text, style, distinct, known, kind, value, name))
    return found


def _main_sequence(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the numbered headings of main parts: the widest sequence 1, 2, 3 … of one kind and style.

    Of kinds that span half of the widest sequence, the first one of `NUMBERS` counts.
    """
    groups: dict[tuple[str, Any], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        styles: tuple[Any, ...] = candidate.style[:2], candidate.style[1], None
        for style in styles if candidate.value else ():
            groups[candidate.kind, style].append(candidate)
    widest: dict[str, tuple[int, list[_Candidate]]] = {}
    for (kind, _), members in groups.items():
        sequence = _longest(members)
        width = sequence[-1].index - sequence[0].index
        if len(sequence) >= FEWEST_ALIKE and width > widest.get(kind, (0,))[0]:
            widest[kind] = width, sequence
    most = max((width for width, _ in widest.values()), default=0)
    spanning = (kind for kind in NUMBERS if kind in widest and widest[kind][0] * 2 >= most)
    return next((widest[kind][1] for kind in spanning), [])


def _longest(members: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the longest sequence of numbers from 1 or 2."""
    best: dict[int, list[_Candidate]] = {}
    for member in members:
        chain = [*best.get(member.value - 1, ()), member]
        begins = len(chain) > 1 or member.value in (1, 2)
        if begins and len(chain) >= len(best.get(member.value, ())):
            best[member.value] = chain
    return max(best.values(), key=len, default=[members[0]])


def _levels(candidates: Sequence[_Candidate], lines: Sequence[Line]) -> dict[int, int]:
    """Return the level of each line that is a heading: 1 for main parts, 2 for others."""
    sequence = _main_sequence(candidates)
    main = {member.index for member in sequence}
    styles = {member.style for member in sequence if member.distinct}
    if not sequence:  # the largest style of several headings
        counted = Counter(candidate.style for candidate in candidates if candidate.distinct)
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


def _level(candidate: _Candidate, styles: set[Style], *, has_numbers: bool) -> int:
    if candidate.text[0].islower():
        return 0
    closing = is_abstract_heading(candidate.text) or kind_by_words(candidate.name) != "kept"
    if candidate.known and candidate.kind != "deep" and (closing or not has_numbers):
        return 1
    if not candidate.distinct:
        return 0
    return 1 if candidate.style in styles and not (candidate.kind and has_numbers) else 2


def _last_line(lines: Sequence[Line], first: int, levels: Container[int]) -> int:
    """Return the last line of the heading that starts at line `first`: lines of one style."""
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(lines))):
        line, above = lines[index], lines[index - 1]
        after = lines[index + 1] if index + 1 < len(lines) else None
        ends = index in levels or after is None or after.above is not line.part or after.gap > line.gap * 1.1
        same = line.above is above.part and _style_of(line)[:2] == _style_of(above)[:2]
        if not same or not ends or is_known(together(above.text)) or number_of(together(line.text))[0]:
            break
        last = index
    return last
