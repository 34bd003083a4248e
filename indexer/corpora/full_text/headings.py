"""Detection of headings: numbered in one sequence, in the same style, or with known words.

Formulas, table cells and list items may also be short, bold or numbered. A document numbers its headings in
one sequence and style from its first pages to its last. This sequence is found first; headings without a
number have the same style.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from base.patterns import lazy_regex
from indexer.corpora.cleaning import APPENDIX_WORDS, is_reference_heading, kind_by_words
from indexer.corpora.full_text.heading_sequence import (
    DEEPER,
    LEAST_WEIGHT,
    LETTERED,
    NUMERAL,
    Candidate,
    main_sequence,
    name_of,
    number_of,
)
from indexer.corpora.full_text.heading_words import CONTENTS, KEYWORDS, is_abstract_heading
from indexer.corpora.full_text.lines.layout import Line
from indexer.corpora.full_text.lines.placed import (
    SENTENCE_END,
    SHORT_OF_EDGE,
    PlacedLine,
    rounded,
    same_size,
    together,
)

LARGER = 1.12  # minimal ratio of a heading's font size to the text's
HEADING_CHARACTERS = 130
HEADING_WORDS = 16
MOST_LINES = 3  # lines of one heading
SAME_SIZE = 0.08
HANGING = 4.0  # indentation, in heights, of the second line of a numbered heading
CAPITALS = 0.7  # share of letters in an all-capitals line
APPENDIX = lazy_regex(rf"(?:{APPENDIX_WORDS})(?:\s*[.:–-].*|\s+\S.*)?", re.IGNORECASE)
CAPTION = lazy_regex(
    r"[(<\[]?\s*(?:fig(?:ure)?\.?|table|algorithm|listing|theorem|lemma|definition|proof|example|corollary|proposition|remark|claim"
    r"|assumption|equation|그림|표|사진|식|정의|정리)\s*[\d<(\[.:A-Z]",
    re.IGNORECASE,
)
OTHERS = lazy_regex(
    r"notes?|약\s*력|사\s*사|author information|additional information|biograph(?:y|ies)|curriculum vitae",
    re.IGNORECASE,
)
MATHEMATICS = lazy_regex(r"[=∑∏∫≤≥∈→←↔⇒∀∃∂√±∞≈≠⊂∪∩∧∨⟨⟩{}\\^_|~@]|https?:")
WORD = lazy_regex(r"[^\W\d_]{3,}|[가-힣]{2,}")
LATIN_WORD = lazy_regex(r"[^\W\d_]+")
PAGE_NUMBER_BEHIND = lazy_regex(r"(?:[\s.·…]{2,}|[.·…]\s*|\s)(?:\d{1,3}|[ivxl]{1,5})$")
NUMBERED = lazy_regex(rf"\s*(?:\d{{1,2}}|{NUMERAL}|제\s*\d+)\s*[.)장절-]|\s*[A-Z]\.\s")
LEADERS = lazy_regex(r"(?:[.·…]\s?){4,}")
NOT_LAST = ".,;:-–"
# Thresholds and weights of sequence members.
A_LITTLE_APART = 1.15
SET_APART = 1.25  # in usual line distances
DISTINCT_WEIGHT, APART_WEIGHT, SHORT_WEIGHT = 1.0, 0.5, 0.25
FULL_WEIGHT, FULL_CHARACTERS = 0.75, 30  # of a line that fills its width
FEWEST_ALIKE = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in lines `first` to `last`; main parts have level 1."""

    first: int
    last: int
    level: int


def headings_of(placed: Sequence[PlacedLine], usual: float) -> list[Heading]:
    """Find the headings among the lines of a document; `usual` is the size of its text."""
    candidates = list(_candidates(placed, usual))
    sequence = main_sequence(candidates, len(placed))
    levels = _levels(candidates, sequence, placed)
    found: list[Heading] = []
    for index in sorted(levels):
        if found and index <= found[-1].last:
            continue
        found.append(Heading(index, _last_line(placed, index, levels), levels[index]))
    return found


def is_wordy(text: str) -> bool:
    """Check for words, rather than a formula, a caption or a table row."""
    if MATHEMATICS.search(text) or CAPTION.match(text) or text[0] in "(*†‡•·-–—":
        return False
    text = name_of(text)
    if not WORD.search(text):
        return False
    tokens = text.split()
    single = sum(len(token.strip(".,:()")) <= 1 for token in tokens)
    plain = sum(character.isalnum() or character in " .,:;()-–—/&'’‘\"“”?!*+" for character in text)
    return single <= len(tokens) / 2 and plain >= 0.9 * len(text)


def is_known(text: str) -> bool:
    """Check whether a line is a heading by its words alone."""
    words = name_of(text).rstrip(" :.")
    return (
        kind_by_words(words) is not None
        or any(pattern.fullmatch(words) for pattern in (OTHERS, CONTENTS, KEYWORDS))
        or is_abstract_heading(words)
    )


def _candidates(placed: Sequence[PlacedLine], usual: float) -> Iterator[Candidate]:
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
            yield Candidate(index, text, style, distinct, weight)


def _style(line: Line) -> tuple[float, bool, bool]:
    letters = list(filter(str.isalpha, line.text))
    signs = sum(not sign.isspace() for sign in line.text)
    capitals = len(letters) > 3 and all(map(str.isupper, letters)) and len(letters) > CAPITALS * signs  # noqa: PLR2004
    return rounded(line.size), line.bold, capitals


def _is_in_contents(text: str, texts: Counter[str]) -> bool:
    """Check for a table-of-contents line: it ends with a page number and occurs elsewhere without it."""
    if LEADERS.search(text):
        return True
    found = PAGE_NUMBER_BEHIND.search(text)
    return found is not None and "".join(text[: found.start()].split()).casefold() in texts


def _levels(
    candidates: Sequence[Candidate], sequence: Sequence[Candidate], placed: Sequence[PlacedLine]
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
        if level == 1 or (level and not in_list):  # no headings within a reference list
            seen.add(candidate.text)
            levels[candidate.index] = level
            in_list = is_reference_heading(candidate.text)
    return levels


def _level(
    candidate: Candidate,
    main: set[int],
    styles: set[tuple[float, bool, bool]],
    largest: float,
    item: PlacedLine,
    sequence: Sequence[Candidate],
) -> int:
    """Return 1 for a main heading, 2 for another heading, 0 otherwise."""
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


def _main_styles(candidates: Sequence[Candidate]) -> set[tuple[float, bool, bool]]:
    """Return the styles of headings with known words, otherwise the largest style of several candidates."""
    distinct = [candidate for candidate in candidates if candidate.distinct]
    known = [candidate.style for candidate in distinct if kind_by_words(candidate.text) is not None]
    if known:
        return {max(known)}
    counted = Counter(candidate.style for candidate in distinct)
    several = [style for style, count in counted.items() if count >= FEWEST_ALIKE]
    return {max(several)} if several else set()


def _last_line(placed: Sequence[PlacedLine], first: int, levels: dict[int, int]) -> int:
    """Return the last line of the heading that starts at line `first`."""
    style = _style(placed[first].line)[:2]
    text = together(placed[first].line.text)
    if kind_by_words(text) is not None:
        return first
    last = first
    for index in range(first + 1, min(first + MOST_LINES, len(placed))):
        item, above = placed[index], placed[index - 1].line
        if item.above is not above or item.line.bold != style[1]:
            break
        if not same_size(item.line.size, style[0], SAME_SIZE) or not _is_full(above, item):
            break
        if NUMBERED.match(item.line.text) or is_known(together(item.line.text)):
            break
        if not _ends_block(placed, index, levels):
            break
        last = index
    return last


def _is_full(above: Line, item: PlacedLine) -> bool:
    """Check for a continued heading: the line is full, both are centred, or the second is indented."""
    first_word = item.line.text.split()[0]
    wide = len(first_word) * (item.line.right - item.line.left) / max(len(item.line.text), 1)
    narrow = item.line.right < item.column.right - item.line.size
    centred = narrow and abs(above.left + above.right - item.line.left - item.line.right) < item.line.size
    hanging = narrow and item.line.size < item.line.left - above.left < HANGING * item.line.size
    return centred or hanging or above.right + wide > item.column.right - item.line.size


def _ends_block(placed: Sequence[PlacedLine], index: int, levels: dict[int, int]) -> bool:
    """Check whether a line ends the block separated from the text below, including the line above it."""
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
