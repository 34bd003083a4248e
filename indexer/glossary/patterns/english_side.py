"""English terms before a Korean bracket: Asian dust (황사), LLM(대규모 언어 모델)."""

import math
import re
from dataclasses import dataclass

from base.patterns import lazy_regex
from indexer.analysis.tokens import Analyzer
from indexer.glossary.pairs import BRACKET, HANGUL
from indexer.glossary.patterns.english_forms import QUOTES
from indexer.glossary.patterns.english_terms import (
    SHORTEST_ABBREVIATION,
    english_words,
    is_abbreviation,
    is_english_term,
)
from indexer.glossary.patterns.korean_context import CLEAR_ENDING
from indexer.glossary.patterns.korean_side import LETTERS_PER_SYLLABLE, fits_initials, sounds_alike
from indexer.glossary.transliteration import sounds_like

WINDOW = 120
LONGEST_INSIDE = 60
MOST_KOREAN_WORDS = 6
MOST_ENGLISH_WORDS = 8
# One or two words are accepted for a Korean term of any length.
FEWEST_WORDS = 2
# Share of the expected length if a preposition before may have shortened the term: struggle for existence.
COMPLETE = 0.7
JOINING = frozenset("of for from in to".split())
KOREAN_TERM = lazy_regex(r"[가-힣A-Za-z0-9][가-힣A-Za-z0-9 -]*[가-힣]|[가-힣]")
NO_TERM_ENDING = lazy_regex(
    ".*(?:다|요|음|함|는|를|을|에서|으로|에게|까지|부터|하여|하고|같은|등|및|약|의|년|월|일|명|개|원)"
)
RUN = lazy_regex(r"[A-Za-zÀ-ÖØ-öø-ſ0-9][A-Za-zÀ-ÖØ-öø-ſ0-9'’&. –-]*$")
NAME_LINKS = frozenset("of the and for in de la von van der".split())
BORDER_WORDS = frozenset(
    "a an the of for and or in on to with by at from as into over under among between through during than "
    "that which who is are was were be been has have had called named term terms word words its their his "
    "her our this these those two three four five six seven eight nine ten many some most all each every "
    "both other such like via per not we they it he she also only one using used about against after "
    "before".split()
)
VERB_LIKE = lazy_regex(r".{2,}(?:ed|ly)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EnglishSide:
    """A Korean term in a bracket and the English term before it; `sure` if one paper suffices."""

    korean: str
    english: str
    sure: bool


def english_side(before: str, inside: str, analyzer: Analyzer) -> EnglishSide | None:
    """Return the English term before a Korean bracket; None if there is none."""
    korean, _, more = inside[: LONGEST_INSIDE + 1].partition(",")
    korean = korean.strip(QUOTES)
    if len(korean) > LONGEST_INSIDE or not _is_korean_term(korean) or HANGUL.search(more):
        return None
    words = _words(before)
    if not words or words[-1].lower() in BORDER_WORDS:
        return None
    in_korean = HANGUL.search(BRACKET.sub("", before[-WINDOW:])) is not None
    if is_abbreviation(words[-1]) and in_korean:
        taken = words[-1:]
        fits = fits_initials(len(korean.replace(" ", "")), words[-1])
        sure = fits and "의 " not in korean and len(words[-1]) > SHORTEST_ABBREVIATION
    else:
        taken, sure = _taken(words, korean, analyzer)
        if in_korean:  # a bracket in Korean text may also be a comment
            sure = _is_transcribed(korean, taken)
    english = " ".join(taken).strip(QUOTES)
    return EnglishSide(korean, english, sure) if is_english_term(english) else None


def _words(before: str) -> list[str]:
    """Return the Latin words before a bracket, without a truncated word or one joined to Hangul."""
    window = before[-WINDOW:].rstrip(QUOTES)
    run = RUN.search(window)
    if run is None:
        return []
    words = run.group().split()
    cut = len(before) > WINDOW if run.start() == 0 else HANGUL.match(window[run.start() - 1])
    return words[1:] if cut else words


def _taken(words: list[str], korean: str, analyzer: Analyzer) -> tuple[list[str], bool]:
    """Return the words of the term (a transcribed word, a name or a phrase), and whether it is sure."""
    if sounds_alike(korean, words[-1]):
        return words[-1:], True
    name = _name(words)
    return (name, True) if name else _phrase(words, korean, analyzer)


def _is_transcribed(korean: str, english: list[str]) -> bool:
    """Check whether each Korean word sounds like an English one: 조지 뷰캠프, George D. Beauchamp."""
    return all(any(sounds_like(word, name) for name in english) for word in korean.split())


def _is_korean_term(korean: str) -> bool:
    words = korean.split()
    return (
        0 < len(words) <= MOST_KOREAN_WORDS
        and KOREAN_TERM.fullmatch(korean) is not None
        and not any(map(CLEAR_ENDING.fullmatch, words))
        and NO_TERM_ENDING.fullmatch(words[-1]) is None
        and not words[0][0].isdecimal()
    )


def _phrase(words: list[str], korean: str, analyzer: Analyzer) -> tuple[list[str], bool]:
    """Return the words after the last boundary; if they are too many, the last ones by the Korean length."""
    span: list[str] = []
    border = ""
    for word in reversed(words):
        if word.lower() in BORDER_WORDS or word[0].isdecimal() or (span and VERB_LIKE.fullmatch(word)):
            border = word.lower()
            break
        span.insert(0, word)
    expected = sum(len(word) for word in korean.split()) * LETTERS_PER_SYLLABLE
    morphemes = len({token[1] for token in analyzer.analyze(korean)})
    if len(english_words(" ".join(span))) <= max(FEWEST_WORDS, morphemes):
        return span, border not in JOINING or _letters(span) >= COMPLETE * expected
    starts = range(len(span))
    best = min(starts, key=lambda start: abs(math.log((_letters(span[start:]) + 1) / (expected + 1))))
    return span[best:], False


def _letters(words: list[str]) -> int:
    return sum(letter.isalpha() for word in words for letter in word)


def _name(words: list[str]) -> list[str]:
    """Return the capitalised words at the end, with the lower-case words between them."""
    taken: list[str] = []
    pending: list[str] = []
    for word in reversed(words):
        if word[0].isupper() and word.lower() not in BORDER_WORDS:
            taken = [word, *pending, *taken]
            pending = []
        elif taken and word.lower() in NAME_LINKS:
            pending.insert(0, word)
        else:
            break
    begins_sentence = len(taken) == 1 and len(words) == 1
    return [] if begins_sentence or len(taken) > MOST_ENGLISH_WORDS else taken
