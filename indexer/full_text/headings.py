"""Headings of a paper: numbered in one sequence, set in the style of these, or known by their words.

Formulas, cells of tables and items of lists are short, bold or numbered too. A document numbers its
headings in one sequence, from its first pages to its last and in one style. The sequence is found first;
headings without a number have its style.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.cleaning import is_reference_heading, kind_by_words
from indexer.full_text.heading_words import KEYWORDS, is_abstract_heading
from indexer.full_text.layout import Line
from indexer.full_text.placed import SHORT_OF_EDGE, PlacedLine, rounded, together

LARGER = 1.12  # than the text: the font of a heading
HEADING_CHARACTERS = 130
HEADING_WORDS = 16
MOST_LINES = 3  # of one heading
SAME_SIZE = 0.08
HANGING = 4.0  # heights: the second line of a numbered heading
CAPITALS = 0.7  # of the signs of a line in capitals
ROMAN = {numeral: value for value, numeral in enumerate("I II III IV V VI VII VIII IX X XI XII".split(), 1)}
FULLWIDTH_ROMAN = {chr(0x2160 + value): value + 1 for value in range(12)}
NUMERAL = r"[IVX]{1,4}|[Ⅰ-Ⅻ]"
KINDS = {
    "chapter": re.compile(
        rf"(?:제\s*(?P<a>\d{{1,2}}|{NUMERAL})\s*[장편부]|(?P<b>\d{{1,2}})\s*장(?=\s)|(?:chapter|part)\s+(?P<c>\d{{1,2}}|{NUMERAL})\b)"
        r"\s*[.:]?\s*(?P<name>.*)",
        re.IGNORECASE,
    ),
    "roman": re.compile(rf"(?P<a>{NUMERAL})(?:\s*[.)]\s*|\s+)(?P<name>\S.*)"),
    "arabic": re.compile(r"(?P<a>\d{1,2})(?:\s*[.)]\s*(?=\D)|\.?\s+)(?P<name>\D.*)"),
}
DEEPER = re.compile(
    r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+[.)]?\s+(?P<name>\D.*)|제\s*\d{1,2}\s*절\s*(?P<section>.*)"
)
LETTERED = re.compile(r"[A-H](?:[.)]\s*|\s+)(?P<name>[A-Z가-힣].*)")
APPENDIX = re.compile(
    r"(?:appendix|appendices|부\s*록|별\s*첨)(?:\s+[A-Z\d]{1,3})?(?:\s*[.:–-]\s*.*|\s+\S.*)?", re.IGNORECASE
)
CAPTION = re.compile(
    r"[(<\[]?\s*(?:fig(?:ure)?\.?|table|algorithm|listing|theorem|lemma|definition|proof|example|corollary|proposition|remark|claim"
    r"|assumption|equation|그림|표|사진|식|정의|정리)\s*[\d<(\[.:A-Z]",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"notes?|약\s*력|사\s*사|author information|additional information|biograph(?:y|ies)|curriculum vitae"
    r"|(?:table of )?contents|list of (?:tables|figures)|(?:표|그림)?\s*목\s*차",
    re.IGNORECASE,
)
MATHEMATICS = re.compile(r"[=∑∏∫≤≥∈→←↔⇒∀∃∂√±∞≈≠⊂∪∩∧∨⟨⟩{}\\^_|~@]|https?:")
WORD = re.compile(r"[^\W\d_]{3,}|[가-힣]{2,}")
LATIN_WORD = re.compile(r"[^\W\d_]+")
PAGE_NUMBER_BEHIND = re.compile(r"(?:[\s.·…]{2,}|[.·…]\s*|\s)(?:\d{1,3}|[ivxl]{1,5})$")
NUMBERED = re.compile(rf"\s*(?:\d{{1,2}}|{NUMERAL}|제\s*\d+)\s*[.)장절-]|\s*[A-Z]\.\s")
SENTENCE_END = re.compile(r"[.?!다:]['\"”’)\]]*$")
LEADERS = re.compile(r"(?:[.·…]\s?){4,}")
NOT_LAST = ".,;:-–"
# Weights of the members of a sequence.
A_LITTLE_APART = 1.15
SET_APART = 1.25  # usual distances of lines
SKIPPED = 1.2  # less for a number that is missing
DISTINCT_WEIGHT, APART_WEIGHT, SHORT_WEIGHT = 1.0, 0.5, 0.25
FULL_WEIGHT, FULL_CHARACTERS = 0.75, 30  # of a line without room at its end
LEAST_WEIGHT = 1.2  # of members in the mean
MOST_MISSING = 1.3  # numbers to a member
SPAN = 0.5  # of the longest sequence's span
ANY_STYLE = 0.45  # of its weight counts for a sequence in several styles
SPAN_OF_LINES = 0.1  # of a document, from a sequence's first member to its last
FEWEST_ALIKE = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `first` to `last` of a document are a heading; level 1 is that of its main parts."""

    first: int
    last: int
    level: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    index: int
    text: str
    style: tuple[float, bool, bool]  # size, bold, capitals
    distinct: bool
    weight: float


def headings_of(placed: Sequence[PlacedLine], usual: float) -> list[Heading]:
    """Find the headings among the lines of a document; `usual` is the size of its text."""
    candidates = list(_candidates(placed, usual))
    sequence = _main_sequence(candidates, placed)
    levels = _levels(candidates, sequence, placed)
    found: list[Heading] = []
    for index in sorted(levels):
        if found and index <= found[-1].last:
            continue
        found.append(Heading(index, _last_line(placed, index, levels), levels[index]))
    return found


def is_wordy(text: str) -> bool:
    """Return whether a text reads as words, and not as a formula, a caption or the row of a table."""
    if MATHEMATICS.search(text) or CAPTION.match(text) or text[0] in "(*†‡•·-–—":
        return False
    text = _name_of(text)
    if not WORD.search(text):
        return False
    tokens = text.split()
    single = sum(len(token.strip(".,:()")) <= 1 for token in tokens)
    plain = sum(character.isalnum() or character in " .,:;()-–—/&'’‘\"“”?!*+" for character in text)
    return single <= len(tokens) / 2 and plain >= 0.9 * len(text)


def is_known(text: str) -> bool:
    """Return whether a line is a heading by its words alone."""
    words = _name_of(text).rstrip(" :.")
    return (
        kind_by_words(words) is not None
        or any(pattern.fullmatch(words) for pattern in (OTHERS, KEYWORDS))
        or is_abstract_heading(words)
    )


def _candidates(placed: Sequence[PlacedLine], usual: float) -> Iterator[_Candidate]:
    bold_text = sum(item.line.bold for item in placed) > len(placed) / 2
    texts = Counter("".join(together(item.line.text).split()).casefold() for item in placed)
    in_list = False
    for index, item in enumerate(placed):
        text = together(item.line.text)
        if (
            not text
            or len(text) > HEADING_CHARACTERS
            or len(text.split()) > HEADING_WORDS
            or item.line.broken
        ):
            continue
        if not (is_known(text) or is_wordy(text)) or _is_in_contents(text, texts):
            continue
        if text[-1] in NOT_LAST and not (number_of(text) or is_known(text)):
            continue
        style = _style(item.line)
        larger = rounded(item.line.size) > LARGER * usual
        distinct = larger or (item.line.bold and not bold_text) or style[2]
        if is_known(text) or (distinct and number_of(text)):
            in_list = is_reference_heading(text)
        if in_list and not distinct and not is_known(text):
            continue
        short = item.line.right < item.column.right - SHORT_OF_EDGE * item.line.size
        weight = (
            1
            + DISTINCT_WEIGHT * distinct
            + APART_WEIGHT * (item.gap > SET_APART or item.above is None)
            + SHORT_WEIGHT * short
            - (FULL_WEIGHT if not short and not larger and len(text) > FULL_CHARACTERS else 0)
        )
        if distinct or weight > 1 or number_of(text) or is_known(text):
            yield _Candidate(index, text, style, distinct, weight)


def _name_of(text: str) -> str:
    """Return a heading without its number."""
    for pattern in (*KINDS.values(), DEEPER, LETTERED):
        if found := pattern.match(text):
            groups = found.groupdict()
            return (groups["name"] or groups.get("section") or text).strip()
    return text


def _style(line: Line) -> tuple[float, bool, bool]:
    letters = list(filter(str.isalpha, line.text))
    signs = sum(not sign.isspace() for sign in line.text)
    capitals = len(letters) > 3 and all(map(str.isupper, letters)) and len(letters) > CAPITALS * signs  # noqa: PLR2004
    return rounded(line.size), line.bold, capitals


def _is_in_contents(text: str, texts: Counter[str]) -> bool:
    """Tell a line of a table of contents: it ends with a page number, and stands elsewhere without it."""
    if LEADERS.search(text):
        return True
    found = PAGE_NUMBER_BEHIND.search(text)
    return found is not None and "".join(text[: found.start()].split()).casefold() in texts


def number_of(text: str) -> tuple[str, int] | None:
    """Return the kind and the number that a heading begins with."""
    for kind, pattern in KINDS.items():
        if found := pattern.match(text):
            numeral = next(found[group] for group in "abc" if found.groupdict().get(group))
            numeral = numeral.upper()
            number = (
                ROMAN.get(numeral)
                or FULLWIDTH_ROMAN.get(numeral)
                or (int(numeral) if numeral.isdecimal() else 0)
            )
            name = found["name"].strip()
            if number and (
                kind == "chapter"
                or (name and (name[0].isupper() or not name[0].isascii() or name[0] in '"“‘(‹'))
            ):
                return kind, number
    return None


def _main_sequence(candidates: Sequence[_Candidate], placed: Sequence[PlacedLine]) -> list[_Candidate]:
    """Return the candidates that number a document's main parts; none where it numbers nothing."""
    by_kind: dict[str, list[tuple[int, _Candidate]]] = defaultdict(list)
    for candidate in candidates:
        if (numbered := number_of(candidate.text)) and not DEEPER.match(candidate.text):
            by_kind[numbered[0]].append((numbered[1], candidate))
    sequences = [_best_sequence(by_kind[kind], len(placed)) for kind in KINDS if kind in by_kind]
    spans = [sequence[-1].index - sequence[0].index if sequence else 0 for sequence in sequences]
    longest = max(spans, default=0)
    return next(
        (
            sequence
            for sequence, span in zip(sequences, spans, strict=True)
            if sequence and span >= SPAN * longest
        ),
        [],
    )


def _best_sequence(numbered: Sequence[tuple[int, _Candidate]], lines: int) -> list[_Candidate]:
    """Return the heaviest sequence of one style, or of any style where they differ (text read by OCR)."""
    styles: dict[object, list[tuple[int, _Candidate]]] = defaultdict(list)
    for number, candidate in numbered:
        styles[candidate.style[:2]].append((number, candidate))
        styles[None].append((number, candidate))
    best: tuple[float, list[_Candidate]] = (0.0, [])
    for style, members in styles.items():
        weight, sequence = _heaviest(members)
        if len(sequence) < (2 if all(member.distinct for member in sequence) else 3):
            continue
        last = max(number for number, member in members if member is sequence[-1])
        if last > MOST_MISSING * len(sequence) + 1:
            continue
        if (
            weight < LEAST_WEIGHT * len(sequence)
            or sequence[-1].index - sequence[0].index < SPAN_OF_LINES * lines
        ):
            continue
        span = sequence[-1].index - sequence[0].index
        weight *= span / lines * (ANY_STYLE if style is None else 1)
        best = max(best, (weight, sequence), key=lambda found: found[0])
    return best[1]


def _heaviest(members: Sequence[tuple[int, _Candidate]]) -> tuple[float, list[_Candidate]]:
    """Return the weight and the members of the heaviest sequence 1, 2, 3 …; a number may be missing."""
    best: dict[int, tuple[float, int]] = {}  # the number a sequence ends with: its weight, its last member
    before: list[int | None] = []
    for place, (number, candidate) in enumerate(members):
        choices: list[tuple[float, int | None]] = [(0.0 if number == 1 else -SKIPPED * (number - 1), None)]
        for step, cost in ((1, 0.0), (2, SKIPPED)):
            if found := best.get(number - step):
                choices.append((found[0] - cost, found[1]))
        weight, last = max(choices, key=lambda choice: choice[0])
        before.append(last)
        weight += candidate.weight
        if number not in best or weight >= best[number][0]:
            best[number] = weight, place
    weight, last = max(best.values(), default=(0.0, None))
    sequence: list[_Candidate] = []
    while last is not None:
        sequence.append(members[last][1])
        last = before[last]
    return weight, sequence[::-1]


def _levels(
    candidates: Sequence[_Candidate], sequence: Sequence[_Candidate], placed: Sequence[PlacedLine]
) -> dict[int, int]:
    main = {candidate.index for candidate in sequence}
    if sequence:
        styles = {candidate.style for candidate in sequence if candidate.distinct}
    else:
        styles = _main_styles(candidates)
    largest = max((style[0] for style in styles), default=0.0)
    levels: dict[int, int] = {}
    seen: set[str] = set()
    in_list = False
    for candidate in candidates:
        level = _level(candidate, main, styles, largest, placed[candidate.index], sequence)
        if candidate.text in seen and not is_known(candidate.text) and placed[candidate.index].above is None:
            continue  # a running header
        if level == 1 or (level and not in_list):  # entries of a reference list have no headings
            seen.add(candidate.text)
            levels[candidate.index] = level
            in_list = is_reference_heading(candidate.text)
    return levels


def _level(
    candidate: _Candidate,
    main: set[int],
    styles: set[tuple[float, bool, bool]],
    largest: float,
    item: PlacedLine,
    sequence: Sequence[_Candidate],
) -> int:
    """Return 1 for a main heading, 2 for another one, 0 for none."""
    text = candidate.text
    if candidate.index in main:
        return 1
    begins = sequence[0].index if sequence else 0
    ends = sequence[-1].index if sequence else 0
    starts_well = not text[0].islower()
    alone = (
        candidate.distinct
        or item.gap > A_LITTLE_APART
        or item.above is None
        or SENTENCE_END.search(item.above.text)
    )
    known = (
        is_known(text) and starts_well and (alone or is_abstract_heading(text) or is_reference_heading(text))
    )
    if not known and candidate.index < begins:
        return 0  # titles and names
    numbered = number_of(text) is not None
    appendix = APPENDIX.fullmatch(text) and starts_well and (candidate.distinct or item.gap > 1)
    below = DEEPER.match(text) or (LETTERED.match(text) and candidate.index < ends)
    if appendix or (known and not below and not (numbered and sequence)):
        return 1
    if DEEPER.match(text):
        return 2 if candidate.distinct or candidate.weight > 1 else 0
    if not candidate.distinct or not starts_well:
        return 2 if numbered and candidate.weight >= LEAST_WEIGHT and sequence else 0
    if candidate.style in styles or (not sequence and candidate.style[0] > largest > 0):
        if numbered and sequence:
            return 2
        return 2 if below else 1
    return 2


def _main_styles(candidates: Sequence[_Candidate]) -> set[tuple[float, bool, bool]]:
    """Return the style of the headings known by their words, else the largest that several have."""
    distinct = [candidate for candidate in candidates if candidate.distinct]
    known = [candidate.style for candidate in distinct if kind_by_words(candidate.text) is not None]
    if known:
        return {max(known)}
    counted = Counter(candidate.style for candidate in distinct)
    several = [style for style, count in counted.items() if count >= FEWEST_ALIKE]
    return {max(several)} if several else set()


def _last_line(placed: Sequence[PlacedLine], first: int, levels: dict[int, int]) -> int:
    """Return the last line of the heading that begins with a line."""
    style = _style(placed[first].line)[:2]
    text = together(placed[first].line.text)
    if kind_by_words(text) is not None:
        return first
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(placed))):
        item, above = placed[index], placed[index - 1].line
        if item.above is not above or item.line.bold != style[1]:
            break
        if abs(item.line.size - style[0]) > SAME_SIZE * style[0] or not _is_full(above, item):
            break
        if NUMBERED.match(item.line.text) or is_known(together(item.line.text)):
            break
        if not _ends_block(placed, index, levels):
            break
        last = index
    return last


def _is_full(above: Line, item: PlacedLine) -> bool:
    """Return whether a line has no room for the next one's first word, or both are centred, or it hangs."""
    first_word = item.line.text.split()[0]
    wide = len(first_word) * (item.line.right - item.line.left) / max(len(item.line.text), 1)
    narrow = item.line.right < item.column.right - item.line.size
    centred = narrow and abs(above.left + above.right - item.line.left - item.line.right) < item.line.size
    hanging = narrow and item.line.size < item.line.left - above.left < HANGING * item.line.size
    return centred or hanging or above.right + wide > item.column.right - item.line.size


def _ends_block(placed: Sequence[PlacedLine], index: int, levels: dict[int, int]) -> bool:
    """Return whether a line ends what is set apart from the text below it, with the line above it."""
    item = placed[index]
    if (
        len(item.line.text) > HEADING_CHARACTERS
        or item.line.top - placed[index - 1].line.top > 2.2 * item.line.size
    ):
        return False
    if index in levels:
        return True  # it looks like a heading itself
    following = placed[index + 1] if index + 1 < len(placed) else None
    return following is None or following.above is not item.line or following.gap > max(item.gap, 1) * 1.1
