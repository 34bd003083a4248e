"""Korean terms before a bracket.

`korean_context` returns the words that may be part of the term. The term starts at the word that sounds like
the first English word; otherwise its number of syllables is estimated from the length of the English. A
keyword of the paper takes precedence.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from indexer.analysis.tokens import Analyzer
from indexer.glossary.loanwords import foreignness
from indexer.glossary.pairs import HANGUL
from indexer.glossary.patterns.english_terms import (
    FUNCTION_WORDS,
    content_words,
    english_words,
    is_abbreviation,
    is_proper,
)
from indexer.glossary.patterns.korean_context import (
    BORDER,
    CLOSING,
    MOST_WORDS,
    Words,
    ends_as_noun,
    span_before,
    words_before,
)
from indexer.glossary.transliteration import SOUNDS_ALIKE, SOUNDS_MUCH_ALIKE, SOUNDS_THE_SAME, sounds_like

LONGEST_QUOTED = 40
# Measured on lists of keywords in both languages.
LETTERS_PER_SYLLABLE = 3.4
LETTERS_PER_SPOKEN_SYLLABLE = 2.2  # of a transcribed name
SYLLABLES_PER_INITIAL = 2
SAME_NUMBER = 0.1  # bonus for equal numbers of words, in the log ratio of lengths
CLEARLY_BETTER = 0.1  # advantage of a longer term, in the log ratio, that makes a shorter one doubtful
COMPLETE = 0.6  # share of the expected syllables if the previous word may be part of the term
PLAUSIBLE = 0.4  # share of the expected syllables otherwise
QUOTED = 2.5  # largest ratio, either way, of a quoted term's syllables to the expected number
SHORTEST_FOR_INITIALS, LONGEST_FOR_INITIALS = 0.75, 1.5
LONGEST_FOR_ONE_SYLLABLE = 7
NATIVE = -20  # foreignness of a word that sounds like an abbreviation by chance (고려, COLA)


@dataclass(frozen=True, slots=True)
class KoreanSide:
    """Candidates for the term, likeliest first; `sure` if one paper suffices."""

    candidates: tuple[str, ...]
    sure: bool = True


def korean_side(
    before: str, after: str, english: str, analyzer: Analyzer, keywords: Collection[str] = ()
) -> KoreanSide | None:
    """Return the Korean term that `english`, in a bracket between `before` and `after`, translates.

    `keywords` are the Korean keywords of the paper, without spaces.
    """
    before = before.rstrip()
    if not before:
        return None
    if before[-1] in CLOSING:
        return _quoted(_inside_quotes(before), english, analyzer)
    span = span_before(before)
    text = span.text
    if not HANGUL.search(text[-1:]):
        return None
    starts = [found.start() for found in re.finditer(r"\S+", text)][-MOST_WORDS:]
    for start in starts:
        if text[start:].replace(" ", "") in keywords:
            return KoreanSide((text[start:],))
    if span.border and span.border == CLOSING.get(after[:1]):  # the bracket is within the quotes of a title
        return _quoted(text, english, analyzer) if len(starts) < MOST_WORDS else None
    words = words_before(text, english, analyzer)
    side = _best_start(text, words, english) if words else None
    is_rest = side is not None and side.candidates[0] == text and (span.broken or span.border == "&")
    return replace(side, sure=False) if side and is_rest and not sounds_alike(text, english) else side


def fits_initials(syllables: int, abbreviation: str, *, shortest: float = SHORTEST_FOR_INITIALS) -> bool:
    """Check whether the syllables of a Korean term fit the letters of an abbreviation."""
    expected = SYLLABLES_PER_INITIAL * sum(letter.isalpha() for letter in abbreviation)
    return shortest * expected <= syllables <= LONGEST_FOR_INITIALS * expected


def sounds_alike(korean: str, english: str) -> bool:
    """Check whether a term transcribes the English: 산살바도르, San Salvador."""
    korean = korean.replace(" ", "")
    alike = sounds_like(korean, "".join(english_words(english)), SOUNDS_THE_SAME)
    return alike and not (is_abbreviation(english) and foreignness(korean) < NATIVE)


def _inside_quotes(before: str) -> str:
    opened = before.rfind(CLOSING[before[-1]], 0, len(before) - 1)
    text = before[opened + 1 : -1].strip()
    return text if opened >= 0 and not BORDER.search(text) else ""


def _quoted(text: str, english: str, analyzer: Analyzer) -> KoreanSide | None:
    """Return a title or a quoted term as a whole, if its length fits the English."""
    if not 1 < len(text) <= LONGEST_QUOTED or not HANGUL.search(text):
        return None
    if sounds_alike(text, english):
        return KoreanSide((text,))
    syllables = len(text.replace(" ", ""))
    if is_abbreviation(english):
        plausible = fits_initials(syllables, english)
    else:
        plausible = 1 / QUOTED <= syllables / _expected_syllables(english) <= QUOTED
    return KoreanSide((text,)) if plausible and ends_as_noun(text, analyzer) else None


def _expected_syllables(english: str) -> float:
    letters = sum(letter.isalpha() for letter in english)
    return letters * SYLLABLES_PER_INITIAL if is_abbreviation(english) else letters / LETTERS_PER_SYLLABLE


def _best_start(text: str, words: Words, english: str) -> KoreanSide:
    """Choose the first word of the term by the length and the sound of the English."""
    short = is_abbreviation(english)
    targets = content_words(english)
    limit = sum(letter.isalpha() for letter in english) if short else len(english_words(english))
    surfaces = words.surfaces[: limit + 1]
    expected = _expected_syllables(english)
    costs = list(_costs(surfaces, [] if short else targets, expected))
    alike = _starts_by_sound(surfaces, targets, limit)
    if alike:
        size = len(targets) + _spoken(surfaces, english)
        best = min(alike, key=lambda index: (abs(index + 1 - size), costs[index]))
        if not sounds_like(surfaces[best], targets[0]) and best + 1 < size <= len(surfaces):
            best = size - 1  # 브이 페스티벌, V Festival
    else:
        best = min(range(len(costs[:limit])), key=lambda index: (costs[index], -index))
    while best + 1 < len(words.surfaces) and _shares_name(words.surfaces[best + 1], targets):
        best += 1
    term = text[words.starts[best] :]
    if sounds_alike(term, english):
        return KoreanSide((term,))
    rivals = [index for index in range(len(costs)) if index != best]
    candidates = (term, *(text[words.starts[index] :] for index in rivals))
    if alike and not short:
        sure = not _is_name_in_part(words, best, targets)
    else:
        sure = _is_sure(words, best, len(term.replace(" ", "")), english, expected)
        sure = sure and not (_is_cut_off(words, best, targets) and not short)
        sure = sure and min(costs[best:]) > costs[best] - CLEARLY_BETTER
    return KoreanSide(candidates, sure)


def _costs(surfaces: Sequence[str], targets: Sequence[str], expected: float) -> Iterator[float]:
    """Yield the deviation of each start's length from the expected one, without transcribed words."""
    syllables = 0
    unmatched = list(targets)
    for count, surface in enumerate(surfaces, 1):
        match = next((target for target in unmatched if sounds_like(surface, target)), None)
        if match is None:
            syllables += len(surface)
        else:
            unmatched.remove(match)
            expected -= len(match) / LETTERS_PER_SYLLABLE
        yield abs(math.log((syllables + 1) / (expected + 1))) - (SAME_NUMBER if count == len(targets) else 0)


def _starts_by_sound(surfaces: Sequence[str], targets: Sequence[str], limit: int) -> list[int]:
    """Return the words that sound like the first English word, or like any word of a name."""
    proper = is_proper(targets)
    alike = [
        index
        for index, surface in enumerate(surfaces)
        if sounds_like(surface, targets[0], SOUNDS_ALIKE if proper or index < limit else SOUNDS_MUCH_ALIKE)
    ]
    if proper and not alike:
        alike = [
            index
            for index, surface in enumerate(surfaces[:limit])
            if any(sounds_like(surface, target) for target in targets)
        ]
    return alike


def _spoken(surfaces: Sequence[str], english: str) -> int:
    """Return the number of English function words that are transcribed: 오브, of."""
    grammar = [word for word in english_words(english) if word in FUNCTION_WORDS]
    return sum(any(sounds_like(surface, word) for surface in surfaces) for word in grammar)


def _shares_name(surface: str, targets: Sequence[str]) -> bool:
    """Check whether a word shares a Latin word or a number with the English: SGLT2, K, 제2형 and 2."""
    written = {found.lower() for found in re.findall(r"[A-Za-z][A-Za-z0-9]*|\d+", surface)}
    return not written.isdisjoint(target.lower().strip(".") for target in targets)


def _is_name_in_part(words: Words, best: int, targets: Sequence[str]) -> bool:
    """Check whether a term transcribes only some words of the English: 다윈 (Charles Darwin)."""
    surfaces = words.surfaces[: best + 1]
    if len(surfaces) >= len(targets):
        return False
    alike = all(any(sounds_like(surface, target) for target in targets) for surface in surfaces)
    spoken = sum(map(len, targets)) / LETTERS_PER_SPOKEN_SYLLABLE
    short = sum(map(len, surfaces)) < COMPLETE * spoken
    return alike and (short or sum(words.morphemes[: best + 1]) < len(targets))


def _is_cut_off(words: Words, best: int, targets: Sequence[str]) -> bool:
    """Check whether a term has fewer parts than the English, and the previous word may be one of them.

    Examples: 대역 of 보호 대역 (guard band), 흐름 of 교통의 흐름 (traffic flow).
    """
    preceded = best + 1 < len(words.surfaces) or words.behind == "joined"
    return preceded and sum(words.morphemes[: best + 1]) < len(targets)


def _is_sure(words: Words, best: int, syllables: int, english: str, expected: float) -> bool:
    if is_abbreviation(english):
        return best == len(words.starts) - 1 and fits_initials(
            syllables, english, shortest=1.0 if words.behind == "modifier" else SHORTEST_FOR_INITIALS
        )
    if len(english_words(english)) > 1:
        cut_off = words.behind != "" and best == len(words.starts) - 1
        return syllables >= (COMPLETE if cut_off else PLAUSIBLE) * expected
    if any(letter.isupper() for letter in english[1:]):  # OpenDocument: a name, hardly a translation
        return False
    return syllables > 1 or (len(words.starts) == 1 and len(english) <= LONGEST_FOR_ONE_SYLLABLE)
