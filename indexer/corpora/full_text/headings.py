"""Headings of a paper: numbered in one sequence, in one style, or with known words."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from base.patterns import lazy_regex
from indexer.corpora.cleaning import APPENDIX_WORDS, is_reference_heading, kind_by_words
from indexer.corpora.full_text.layout import LARGER, Line

HEADING_CHARACTERS = 130
HEADING_WORDS = 16
APART = 1.2  # in usual line distances
MOST_LINES = 3  # of one heading
KEYWORD_WORDS = r"key\s?words?(?: and phrases)?|index terms|주\s*제\s*어|핵\s*심\s*(?:어|단어)|중심어|키워드|색\s*인\s*어|주요어"
ABSTRACT_WORDS = r"(?:(?:국\s*문|영\s*문|한\s*글|영어|논\s*문)\s*)?(?:초\s*록|요\s*약(?:문)?|요\s*지|개요)|abstract|summary"
KEYWORDS = re.compile(KEYWORD_WORDS, re.IGNORECASE)
ABSTRACT = re.compile(rf"(?:{ABSTRACT_WORDS})(?:\(?abstract\)?)?", re.IGNORECASE)
SUMMARY = re.compile(r"summary|(?:논문)?(?:요약|요지|개요)", re.IGNORECASE)  # also of a final part
CONTENTS = re.compile(r"(?:table\s*of\s*)?contents|list\s*of\s*(?:tables|figures)|(?:표|그림)?\s*목\s*차", re.IGNORECASE)
OTHERS = lazy_regex(r"notes?|약\s*력|사\s*사|author information|biograph(?:y|ies)|curriculum vitae", re.IGNORECASE)
APPENDIX = lazy_regex(rf"(?:{APPENDIX_WORDS})(?:\s*[.:–-].*|\s+\S.*)?", re.IGNORECASE)
CAPTION = lazy_regex(
    r"\W*(?:fig(?:ure)?\.?|table|algorithm|listing|theorem|lemma|definition|proof|example|corollary|proposition|remark"
    r"|equation|그림|표|사진|식|정의|정리)\s*[\d<(\[.:A-Z]",
    re.IGNORECASE,
)
FORMULA = lazy_regex(r"[=∑∏∫≤≥∈→←↔⇒∀∃∂√±∞≈≠⊂∪∩∧∨⟨⟩{}\\^_|~@]|https?:")
NUMERALS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV".split()
ROMAN = {text: value for value, text in enumerate(NUMERALS, 1)} | {chr(0x215F + n): n for n in range(1, 13)}
VALUE = r"\d{1,2}|[IVX]{1,4}|[Ⅰ-Ⅻ]"
NUMBERS = {
    "deep": re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+[.)]?\s+(?P<name>\D.*)|제\s*\d{1,2}\s*절\s*(?P<section>.*)"),
    "chapter": re.compile(
        rf"(?:제\s*(?P<a>{VALUE})\s*[장편부]|(?P<b>\d{{1,2}})\s*장(?=\s)|(?:chapter|part)\s+(?P<c>{VALUE})\b)\s*[.:]?\s*(?P<name>.*)",
        re.IGNORECASE,
    ),
    "roman": re.compile(r"(?P<a>[IVX]{1,4}|[Ⅰ-Ⅻ])(?:\s*[.)]\s*|\s+)(?P<name>[^\Wa-z].*)"),
    "arabic": re.compile(r"(?P<a>\d{1,2})(?:\s*[.)]\s*|\s+)(?P<name>[\"“‘(‹]?[^\W\da-z].*)"),
    "letter": re.compile(r"[A-H](?:[.)]\s*|\s+)(?P<name>[A-Z가-힣].*)"),
}
LETTERS_APART = re.compile(r"(?P<number>.{0,3}\d{0,2}[IVXⅠ-Ⅻ]{0,4}\s*[.)장절]\s*|)(?P<name>(?:[가-힣]\s+){1,6}[가-힣]|(?:[A-Z]\s+){4,20}[A-Z])")
LEADERS = lazy_regex(r"(?:[.·…]\s?){4,}")
PAGE_BEHIND = lazy_regex(r"[\s.·…]+(?:\d{1,3}|[ivxl]{1,5})$")
SENTENCE_END = re.compile(r"[.?!:;。다]['\"”’)\]]*$")
BRACKETS = re.compile(r"[\s‹›<>〈〉《》\[\]【】〔〕:.·|-]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in lines `first` to `last`; main parts have level 1."""

    first: int
    last: int
    level: int


@dataclass(slots=True)
class _Candidate:
    index: int
    text: str
    style: tuple[float, int, bool]  # size, weight, capitals
    distinct: bool
    apart: bool
    kind: str = ""
    value: int = 0
    name: str = ""
    known: bool = field(default=False)


def together(text: str) -> str:
    """Join the letters of a letter-spaced heading: Ⅰ. 서 론, A B S T R A C T."""
    found = LETTERS_APART.fullmatch(text.strip())
    return found["number"] + "".join(found["name"].split()) if found else text.strip()


def number_of(text: str) -> tuple[str, int, str]:
    """Return the kind and value of a heading's number, and its name; ("", 0, text) without a number."""
    for kind, pattern in NUMBERS.items():
        if found := pattern.match(text):
            groups = found.groupdict()
            numeral = next((groups[key] for key in "abc" if groups.get(key)), "").upper()
            value = ROMAN.get(numeral, int(numeral) if numeral.isdecimal() else 0)
            if value or kind in ("deep", "letter"):
                return kind, value, (groups["name"] or groups.get("section") or text).strip()
    return "", 0, text


def is_abstract_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract: 요 약, 국문초록, ‹국문초록 ›."""
    return ABSTRACT.fullmatch(BRACKETS.sub("", text)) is not None


def is_summary_heading(text: str) -> bool:
    """Check whether the heading of an abstract may also be that of a final part: Summary, 요 약."""
    return SUMMARY.fullmatch(BRACKETS.sub("", text)) is not None


def is_keyword_heading(text: str) -> bool:
    """Check whether a heading introduces keywords."""
    return KEYWORDS.fullmatch(text.strip(" :[]<>【】")) is not None


def is_front_heading(text: str) -> bool:
    """Check whether a heading introduces an abstract, keywords, or a table of contents."""
    return is_abstract_heading(text) or is_keyword_heading(text) or CONTENTS.fullmatch(text.strip()) is not None


def is_known(text: str) -> bool:
    """Check whether a line is a heading by its words alone."""
    words = number_of(text)[2].rstrip(" :.")
    return kind_by_words(words) is not None or is_front_heading(words) or OTHERS.fullmatch(words) is not None


def is_wordy(text: str) -> bool:
    """Check for words, rather than a formula, a caption or a table row."""
    name = number_of(text)[2]
    tokens = name.split()
    single = sum(len(token.strip(".,:()")) <= 1 for token in tokens)
    signs = sum(not (sign.isalnum() or sign in " .,:;()-–—/&'’‘\"“”?!*+") for sign in text)
    letters = re.search(r"[^\W\d_]{3,}|[가-힣]{2,}", name)
    odd = FORMULA.search(text) or CAPTION.match(text) or text[0] in "(*†‡•·-–—"
    return bool(letters) and not odd and single <= len(tokens) / 2 and signs <= len(text) / 10


def headings_of(lines: Sequence[Line], usual: float) -> list[Heading]:
    """Find the headings among the lines of a document; `usual` is the size of its text."""
    candidates = _candidates(lines, usual)
    levels = _levels(candidates, _main_sequence(candidates, len(lines)), lines)
    found: list[Heading] = []
    for index in sorted(levels):
        if not found or index > found[-1].last:
            found.append(Heading(index, _last_line(lines, index, levels), levels[index]))
    return found


def _candidates(lines: Sequence[Line], usual: float) -> list[_Candidate]:
    usual_weight = Counter(line.part.weight for line in lines).most_common(1)[0][0] if lines else 0
    texts = Counter("".join(together(line.text).split()).casefold() for line in lines)
    found = []
    in_list = False
    for index, line in enumerate(lines):
        text = together(line.text)
        if not text or len(text) > HEADING_CHARACTERS or len(text.split()) > HEADING_WORDS or line.part.broken:
            continue
        known = is_known(text)
        kind, value, name = number_of(text)
        style = _style(line)
        distinct = style[0] > LARGER * usual or style[1] > usual_weight or style[2]
        if not (known or ((distinct or kind) and is_wordy(text) and (kind or text[-1] not in ".,;:-–"))):
            continue
        if _is_in_contents(text, texts):
            continue
        apart = line.gap > APART or line.above is None
        if known or (distinct and kind):
            in_list = is_reference_heading(text)
        if in_list and not distinct and not known:
            continue  # a numbered entry
        found.append(_Candidate(index, text, style, distinct, apart, kind, value, name, known))
    return found


def _style(line: Line) -> tuple[float, int, bool]:
    signs = "".join(line.text.split())
    capitals = line.text.isupper() and sum(map(str.isalpha, signs)) > max(3, 0.7 * len(signs))
    return line.size, line.part.weight, capitals


def _is_in_contents(text: str, texts: Mapping[str, int]) -> bool:
    """Check for a table-of-contents line: it ends with a page number and occurs elsewhere without it."""
    found = PAGE_BEHIND.search(text)
    return bool(LEADERS.search(text)) or (found is not None and "".join(text[: found.start()].split()).casefold() in texts)


def _main_sequence(candidates: Sequence[_Candidate], lines: int) -> list[_Candidate]:
    """Return the numbered headings of the main parts: the heaviest sequence 1, 2, 3 … of one kind and style.

    A kind that spans the document wins over kinds below it: chapters, Roman numerals, Arabic numerals.
    """
    groups: dict[tuple[str, object], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.value:
            groups[candidate.kind, candidate.style[:2]].append(candidate)
            groups[candidate.kind, candidate.style[1]].append(candidate)
            groups[candidate.kind, None].append(candidate)
    best: dict[str, tuple[float, list[_Candidate]]] = {}
    for (kind, style), members in groups.items():
        sequence = _heaviest(members)
        span = sequence[-1].index - sequence[0].index
        distinct = all(member.distinct for member in sequence)
        if len(sequence) >= (2 if distinct else 3) and span > lines / 10 and _weight(sequence) > 1.2 * len(sequence):
            weight = _weight(sequence) * span * (0.5 if style is None else 1)
            best[kind] = max(best.get(kind, (0.0, [])), (weight, sequence), key=lambda found: found[0])
    spans = {kind: sequence[-1].index - sequence[0].index for kind, (_, sequence) in best.items()}
    wide = [kind for kind in NUMBERS if spans.get(kind, 0) >= max(spans.values(), default=1) / 2]
    sequence = best[wide[0]][1] if wide else []
    missing = [
        candidate
        for before, after in pairwise(sequence)
        for candidate in candidates
        if before.index < candidate.index < after.index and before.value < candidate.value < after.value
        if candidate.kind == before.kind and candidate.distinct
    ]
    return [*sequence, *missing]


def _weight(sequence: Sequence[_Candidate]) -> float:
    return sum(1 + member.distinct + member.apart / 2 for member in sequence)


def _heaviest(members: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the heaviest sequence of numbers from 1 or 2; one number may be missing between two others."""
    best: dict[int, list[_Candidate]] = {}
    for member in members:
        before = max((best.get(member.value - 1, []), best.get(member.value - 2, [])), key=_weight)
        chain = [*before, member]
        if (before or member.value <= 2) and _weight(chain) >= _weight(best.get(member.value, [])):
            best[member.value] = chain
    return max(best.values(), key=_weight, default=[members[0]])


def _levels(candidates: Sequence[_Candidate], sequence: Sequence[_Candidate], lines: Sequence[Line]) -> dict[int, int]:
    main = {member.index for member in sequence}
    begin, end = (sequence[0].index, max(main)) if sequence else (0, 0)
    styles = {member.style for member in sequence if member.distinct} if sequence else _main_styles(candidates)
    levels: dict[int, int] = {}
    seen: set[str] = set()
    in_list = False
    for candidate in candidates:
        level = 1 if candidate.index in main else _level(candidate, styles, begin, end, lines[candidate.index])
        if candidate.text in seen and not candidate.known and lines[candidate.index].above is None:
            continue  # a running header
        if level == 1 or (level and not in_list):  # no lesser headings within a reference list
            seen.add(candidate.text)
            levels[candidate.index] = level
            in_list = is_reference_heading(candidate.text)
    return levels


def _level(candidate: _Candidate, styles: set[tuple[float, int, bool]], begin: int, end: int, line: Line) -> int:
    """Return 1 for a main heading, 2 for another heading, 0 otherwise."""
    text, numbered = candidate.text, end > 0
    if text[0].islower():
        return 0
    front = is_abstract_heading(text) or is_reference_heading(text)
    alone = candidate.distinct or candidate.apart or (line.above and SENTENCE_END.search(line.above.text))
    known = candidate.known and (alone or front)
    if not known and candidate.index < begin:
        return 0  # titles and names
    appendix = APPENDIX.fullmatch(text) and (candidate.distinct or line.gap > 1)
    closing = front or kind_by_words(candidate.name) != "kept"
    if appendix or (known and candidate.kind not in ("deep", "letter") and (closing or not numbered)):
        return 1
    if not candidate.distinct:
        return 2 if candidate.kind and candidate.apart and (numbered or candidate.kind == "deep") else 0
    largest = max((style[0] for style in styles), default=0.0)
    main = candidate.style in styles or (not numbered and candidate.style[0] > largest > 0)
    below = candidate.kind and numbered and not (candidate.kind == "letter" and candidate.index > end)
    return 1 if main and candidate.kind != "deep" and not below else 2


def _main_styles(candidates: Sequence[_Candidate]) -> set[tuple[float, int, bool]]:
    """Return the style of headings with known words, otherwise the largest style of several candidates."""
    distinct = [candidate for candidate in candidates if candidate.distinct]
    known = [candidate.style for candidate in distinct if kind_by_words(candidate.text) is not None]
    counted = Counter(candidate.style for candidate in distinct)
    several = [style for style, count in counted.items() if count >= 3]
    return {max(known or several)} if known or several else set()


def _last_line(lines: Sequence[Line], first: int, levels: Mapping[int, int]) -> int:
    """Return the last line of the heading that starts at line `first`: full or centred lines of one style."""
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(lines))):
        line, above = lines[index], lines[index - 1]
        text = together(line.text)
        part, other = line.part, above.part
        centred = abs(part.left + part.right - other.left - other.right) < part.size and line.is_short
        hanging = line.is_short and part.size < part.left - other.left < 4 * part.size
        if line.above is not other or _style(line)[:2] != _style(above)[:2] or line.gap > 2:
            break
        if not (centred or hanging or not above.is_short) or is_known(together(above.text)) or is_known(text):
            break
        following = lines[index + 1] if index + 1 < len(lines) else None
        ends = index in levels or following is None or following.above is not part or following.gap > line.gap * 1.1
        if number_of(text)[0] or not ends or not text or len(text) > HEADING_CHARACTERS:
            break
        last = index
    return last
