"""Joining the lines of a paragraph, with words that were split at line ends.

English words are split at a hyphen, Korean words anywhere and without a mark. The rest of the document shows
how to join them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from indexer.analysis import Analyzer, make_analyzer
from indexer.corpora.full_text.lines.layout import Line

HYPHENS = "-\u2010\u00ad"
SOFT_HYPHEN = "\u00ad"
HANGUL = re.compile("[가-힣]")
# A web address continues in the next line after these characters.
SPLIT_ADDRESS = re.compile(r"(?:https?://|www\.|doi|10\.\d{4,9}/)\S*[/._=?&-]$|^https?:$", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Particles and endings never start a Korean word: a line that starts with one continues a word.
CONTINUATION = re.compile(
    r"(?:을|를|은|는|의|에|에서|에게|으로|로|와|까지|부터|보다|처럼|라고|라는|였다|었다|았다|하였다|되었다|된다|한다|니다"
    r"|하며|하고|되고|으며|였으며|였고|지만|다|들의|들을|들은|들이|성을|성이|적인|적으로)(?=[\s.,;:)\]]|$)"
)
# Number of lines ending within a sentence that determines the document's convention.
ENOUGH_LINES = 10
SPACED_SHARE = 0.05
CONTEXT = 12  # letters on each side of a line break, for the analyzer
# Sejong tags of morphemes attached to the previous word: particles, endings, suffixes, the copula, units.
BOUND_TAGS = ("J", "E", "XS", "VC", "NNB")
PREFIX_TAG = "XP"
STEM = 2  # distinctive letters of a Korean word


@dataclass(frozen=True, slots=True)
class Usage:
    """Words of a document, and its conventions at line ends."""

    words: frozenset[str] = frozenset()
    beginnings: frozenset[str] = frozenset()  # beginnings of Korean words
    draws_spaces: bool = False  # spaces are drawn at line ends, except within a word
    parts_korean: bool = False  # words are split at line ends


def usage_of(lines: Sequence[Line]) -> Usage:
    """Collect the usage in all lines of a document."""
    inner = [line.text.split()[1:-1] for line in lines]
    words = frozenset(found.casefold() for line in inner for word in line for found in WORD.findall(word))
    korean = {word for word in words if HANGUL.match(word)}
    ends = [
        (line, following)
        for line, following in pairwise(lines)
        if line.text and following.text and HANGUL.match(line.text[-1]) and HANGUL.match(following.text)
    ]
    spaced = sum(line.spaced for line, _ in ends)
    return Usage(
        words=words,
        beginnings=frozenset(word[:end] for word in korean for end in range(1, len(word) + 1)),
        draws_spaces=spaced > SPACED_SHARE * len(ends) and spaced > 1,
        # With few lines, the absence of particles at line starts may be chance.
        parts_korean=any(CONTINUATION.match(following.text) for _, following in ends)
        or 0 < len(ends) < ENOUGH_LINES,
    )


def join_lines(lines: Iterable[Line], usage: Usage) -> str:
    """Join consecutive lines."""
    joined, spaced = "", False
    for line in lines:
        joined = _join(joined, line.text.strip(), usage, spaced=spaced)
        spaced = line.spaced
    return readable(joined)


def readable(text: str) -> str:
    """Normalise a text: ligatures and width variants decomposed, NFC, white space as single spaces."""
    text = "".join(_plain(character) for character in text)
    return " ".join(unicodedata.normalize("NFC", text).split())


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, to compare differently formatted texts."""
    return "".join(filter(str.isalnum, text)).casefold()


def _plain(character: str) -> str:
    if character < "\x80":
        return max(character, " ")
    if "\ufb00" <= character <= "\ufb06":  # Latin ligatures
        return unicodedata.normalize("NFKC", character)
    return "" if character in "\u00ad\u200b\ufeff\ufffe" else character


def _join(text: str, following: str, usage: Usage, *, spaced: bool) -> str:
    if not text or not following:
        return text or following
    if SPLIT_ADDRESS.search(text.rsplit(None, 1)[-1]):
        return text + following
    if text[-1] in HYPHENS:
        return _join_at_hyphen(text, following, usage)
    korean = HANGUL.match(text[-1]) or HANGUL.match(following)
    apart = spaced or not korean or _are_apart(text, following, usage)
    return f"{text} {following}" if apart else text + following


def _join_at_hyphen(text: str, following: str, usage: Usage) -> str:
    head, tail = text.rsplit(None, 1)[-1][:-1], following.split(None, 1)[0]
    if not head:  # a dash
        return f"{text} {following}"
    if text[-1] == SOFT_HYPHEN:
        return text[:-1] + following
    first, last = WORD.match(tail), WORD.search(head[::-1])
    if not (first and last and head[-1].isalpha() and tail[0].islower()):
        return text + following
    begun = last[0][::-1].casefold()
    if begun + first[0].casefold() in usage.words:
        return text[:-1] + following
    kept = f"{begun}-{first[0].casefold()}" in usage.words or "-" in head
    return text + following if kept else text[:-1] + following


def _are_apart(text: str, following: str, usage: Usage) -> bool:
    """Check whether a space belongs between two lines with Korean at the line break."""
    if usage.draws_spaces or CONTINUATION.match(following):
        return False  # no space was drawn, or a word continues
    if not usage.parts_korean:
        return True
    if not (HANGUL.match(following) and HANGUL.match(text[-1])):
        # 12명, 모형(model): units follow numbers, and brackets follow words, without a space.
        return not text[-1].isdecimal() and following[0] not in "([,.;:)]"
    head, tail = text.rsplit(None, 1)[-1], following.split(None, 1)[0]
    begun = re.search("[가-힣]+$", head)
    goes_on = re.match("[가-힣]+", tail)
    head, tail = (begun[0] if begun else ""), (goes_on[0] if goes_on else "")
    whole = (head + tail)[: len(head) + STEM]
    known_whole = len(whole) > STEM and whole in usage.beginnings
    known_parts = head in usage.words and tail[:STEM] in usage.beginnings
    return known_parts if known_whole != known_parts else _allows_word_boundary(text, following)


@cache
def _analyzer() -> Analyzer:
    return make_analyzer("korean", "none")


def _allows_word_boundary(text: str, following: str) -> bool:
    """Check whether the analysis of the joined texts has a word boundary at the line break.

    The spacing of two nouns is unknown; the terms are the same either way.
    """
    before = text[-CONTEXT:]
    tagged = _analyzer().tagged_words(before + following[:CONTEXT])
    left = next((tag for tag, _, end in tagged if end == len(before)), None)
    right = next((tag for tag, start, _ in tagged if start == len(before)), None)
    if left is None or right is None:
        return False  # in the middle of a word
    return not right.startswith(BOUND_TAGS) and not left.startswith(PREFIX_TAG)
