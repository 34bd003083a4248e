"""Headings of a paper: numbered in one sequence, in one style, or with known words."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from base.patterns import lazy_regex
from indexer.corpora.cleaning import is_reference_heading, kind_by_words
from indexer.corpora.full_text.layout import LARGER, Line

HEADING_CHARACTERS = 130
HEADING_WORDS = 16
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
OTHERS = re.compile(r"notes?|약\s*력|사\s*사|author information|biograph(?:y|ies)", re.IGNORECASE)
NO_WORDS = lazy_regex(
    r"[=∑∏∫≤≥∈→←↔⇒∀∃∂√±∞≈≠⊂∪∩∧∨⟨⟩{}\\^_|~@]|https?:|^[(*†‡•·–—-]"
    r"|^\W*(?:fig(?:ure)?\.?|table|algorithm|theorem|lemma|definition|그림|표|사진|식)\s*[\d<(\[.:A-Z]",
    re.IGNORECASE,
)
ROMAN = {text: number for number, text in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}
ROMAN |= {chr(0x215F + value): value for value in ROMAN.values()}
VALUE = r"(?P<value>\d{1,2}|[IVX]{1,4}|[Ⅰ-Ⅻ])"
NUMBERS = {  # the kinds of numbers of headings; a kind that spans the document wins over kinds below it
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
SENTENCE_END = re.compile(r"[.?!:;。다]['\"”’)\]]*$")

Style: TypeAlias = tuple[float, int, bool]  # size, weight, capitals


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
    apart: bool
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
    return kind_by_words(words) is not None or is_front_heading(words) or OTHERS.fullmatch(words) is not None


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
    return line.size, line.part.weight, sum(map(str.isupper, signs)) > max(3, 0.7 * len(signs))


def _candidates(lines: Sequence[Line], usual: float) -> list[_Candidate]:
    usual_weight = Counter(line.part.weight for line in lines).most_common(1)[0][0] if lines else 0
    found = []
    in_list = False
    for index, line in enumerate(lines):
        text = together(line.text)
        if (
            not text
            or len(text) > HEADING_CHARACTERS
            or len(text.split()) > HEADING_WORDS
            or line.part.broken
        ):
            continue
        known, (kind, value, name), style = is_known(text), number_of(text), _style_of(line)
        distinct = style[0] > LARGER * usual or style[1] > usual_weight or style[2]
        wordy = re.search(r"[^\W\d_]{3,}|[가-힣]{2,}", name) and not NO_WORDS.search(text)
        if not known and not (wordy and (kind or (distinct and text[-1] not in ".,;:-–"))):
            continue
        if known or distinct:
            in_list = is_reference_heading(text) or (in_list and not known and not kind)
        if known or distinct or not in_list:  # unless it is a numbered entry
            apart = line.gap > APART or line.above is None
            found.append(_Candidate(index, text, style, distinct, apart, known, kind, value, name))
    return found


def _main_sequence(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the numbered headings of main parts: the heaviest sequence 1, 2, 3 … of one kind and style."""
    groups: dict[tuple[str, Any], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        styles: tuple[Any, ...] = candidate.style[:2], candidate.style[1], None
        for style in styles if candidate.value else ():
            groups[candidate.kind, style].append(candidate)
    best: dict[str, tuple[float, list[_Candidate]]] = {}
    for (kind, style), members in groups.items():
        sequence = _heaviest(members)
        weight = _weight(sequence) * _span(sequence) * (0.5 if style is None else 1)
        if len(sequence) >= FEWEST_ALIKE and weight > best.get(kind, (0.0, []))[0]:
            best[kind] = weight, sequence
    widest = max((_span(sequence) for _, sequence in best.values()), default=0)
    kinds = (kind for kind in NUMBERS if kind in best and _span(best[kind][1]) * 2 >= widest)
    return best[kind][1] if (kind := next(kinds, "")) else []


def _span(sequence: Sequence[_Candidate]) -> int:
    return sequence[-1].index - sequence[0].index


def _weight(sequence: Sequence[_Candidate]) -> float:
    return sum(1 + member.distinct + member.apart / 2 for member in sequence)


def _heaviest(members: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the heaviest sequence of numbers from 1 or 2; one number may be missing between two others."""
    best: dict[int, list[_Candidate]] = {}
    for member in members:
        before = max(best.get(member.value - 1, []), best.get(member.value - 2, []), key=_weight)
        chain = [*before, member]
        if (before or member.value in (1, 2)) and _weight(chain) >= _weight(best.get(member.value, [])):
            best[member.value] = chain
    return max(best.values(), key=_weight, default=[members[0]])


def _levels(candidates: Sequence[_Candidate], lines: Sequence[Line]) -> dict[int, int]:
    """Return the level of each line that is a heading: 1 for main parts, 2 for others."""
    sequence = _main_sequence(candidates)
    main = {member.index for member in sequence}
    styles = {member.style for member in sequence if member.distinct}
    if not sequence:  # the largest style of several headings
        counted = Counter(candidate.style for candidate in candidates if candidate.distinct)
        styles = {max((style for style, n in counted.items() if n >= FEWEST_ALIKE), default=(0.0, 0, False))}
    levels: dict[int, int] = {}
    seen: set[str] = set()
    for candidate in candidates:
        if candidate.text in seen and not candidate.known and lines[candidate.index].above is None:
            continue  # a running header
        level = 1 if candidate.index in main else _level(candidate, styles, main, lines[candidate.index])
        if level:
            levels[candidate.index] = level
            seen.add(candidate.text)
    return levels


def _level(candidate: _Candidate, styles: set[Style], main: set[int], line: Line) -> int:
    text, kind = candidate.text, candidate.kind
    closing = is_abstract_heading(text) or kind_by_words(candidate.name) != "kept"
    alone = (
        candidate.distinct or candidate.apart or SENTENCE_END.search(line.above.text if line.above else "")
    )
    known = candidate.known and (alone or is_abstract_heading(text) or is_reference_heading(text))
    if text[0].islower() or (not known and candidate.index < min(main, default=0)):
        return 0  # titles and names
    if known and kind != "deep" and (closing or not main):
        return 1
    if not candidate.distinct:
        return 2 if candidate.apart and kind and (main or kind == "deep") else 0
    larger = not main and candidate.style[0] > max(size for size, *_ in styles)
    return 1 if (candidate.style in styles or larger) and not (kind and main) and kind != "deep" else 2


def _last_line(lines: Sequence[Line], first: int, levels: Container[int]) -> int:
    """Return the last line of the heading that starts at line `first`: lines of one style."""
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(lines))):
        line, above = lines[index], lines[index - 1]
        after = lines[index + 1] if index + 1 < len(lines) else None
        ends = index in levels or after is None or after.above is not line.part or after.gap > line.gap * 1.1
        same = line.above is above.part and _style_of(line)[:2] == _style_of(above)[:2]
        text = together(line.text)
        whole = is_known(together(above.text)) or is_known(text) or number_of(text)[0]
        if not same or line.gap >= 2 * APART or not ends or whole:
            break
        last = index
    return last
