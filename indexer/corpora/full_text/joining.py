"""Joining the lines of a paragraph, with words that were split at line ends.

English words are split at a hyphen, Korean words anywhere and without a mark. The rest of the document and the
parts of speech show how to join them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from indexer.analysis import Analyzer, make_analyzer
from indexer.corpora.full_text.layout import Line
from indexer.corpora.full_text.pages import RAISED, Fragment

HANGUL = re.compile("[가-힣]")
# A web address continues in the next line after these characters.
SPLIT_ADDRESS = re.compile(r"(?:https?://|www\.|doi|10\.\d{4,9}/)\S*[/._=?&-]$|^https?:$", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# Particles and endings never start a Korean word: a line that starts with one continues a word.
CONTINUATION = re.compile(
    r"(?:[을를은는의에와로다]|에서|에게|으로|까지|부터|보다|처럼|하였다|되었다|된다|한다|니다|하며|하고|되고|으며|지만)(?=[\s.,;:)\]]|$)"
)
CONTEXT = 12  # letters on each side of a line break, for the analyzer
# Sejong tags of morphemes attached to the previous word: particles, endings, suffixes, the copula, units.
BOUND_TAGS = ("J", "E", "XS", "VC", "NNB")
INVISIBLE = dict.fromkeys(map(ord, f"\u00ad\u200b\u200e\u200f\u202a\u202c\ufeff\ufffe{RAISED}"))


@dataclass(frozen=True, slots=True)
class Usage:
    """Words of a document, and its conventions at the ends of Korean lines."""

    words: frozenset[str] = frozenset()
    draws_spaces: bool = False  # spaces are drawn at line ends, except within a word
    splits_korean: bool = False  # words are split at line ends


def usage_of(lines: Sequence[Fragment]) -> Usage:
    """Collect the usage in all lines of a document."""
    words = {
        found.casefold()
        for line in lines
        for word in line.text.split()[1:-1]
        for found in WORD.findall(word)
    }
    ends = [
        (line, following)
        for line, following in pairwise(lines)
        if line.text and HANGUL.match(line.text[-1]) and HANGUL.match(following.text)
    ]
    spaced = sum(line.spaced for line, _ in ends)
    return Usage(
        words=frozenset(words),
        draws_spaces=spaced > max(1, len(ends) / 20),
        # With few lines, the absence of particles at line starts may be chance.
        splits_korean=0 < len(ends) < 10 or any(CONTINUATION.match(after.text) for _, after in ends),
    )


def join_lines(lines: Iterable[Line], usage: Usage) -> str:
    """Join consecutive lines."""
    joined, spaced = "", False
    for line in lines:
        joined = _join(joined, line.part.text.strip(), usage, spaced=spaced)
        spaced = line.part.spaced
    return readable(joined)


def readable(text: str) -> str:
    """Normalise a text: ligatures decomposed, NFC, no invisible characters, white space as single spaces."""
    text = re.sub("[\ufb00-\ufb06]", lambda found: unicodedata.normalize("NFKC", found[0]), text)
    text = re.sub("[\x00-\x1e]", " ", text.translate(INVISIBLE))
    return " ".join(unicodedata.normalize("NFC", text).split())


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, to compare differently formatted texts."""
    return "".join(filter(str.isalnum, text)).casefold()


def _join(text: str, following: str, usage: Usage, *, spaced: bool) -> str:
    if not text or not following:
        return text or following
    if SPLIT_ADDRESS.search(text.rsplit(None, 1)[-1]):
        return text + following
    if text[-1] in "-\u2010\u00ad":
        return _join_at_hyphen(text, following, usage)
    korean = HANGUL.match(text[-1]) or HANGUL.match(following)
    return f"{text} {following}" if spaced or not korean or _are_apart(text, following, usage) else text + following


def _join_at_hyphen(text: str, following: str, usage: Usage) -> str:
    head, tail = text.rsplit(None, 1)[-1][:-1], following.split(None, 1)[0]
    if not head:  # a dash
        return f"{text} {following}"
    first, last = WORD.match(tail), WORD.search(head[::-1])
    if text[-1] == "\u00ad":
        return text[:-1] + following
    if not (first and last and head[-1].isalpha() and tail[0].islower()):
        return text + following
    begun = last[0][::-1].casefold()
    if begun + first[0].casefold() in usage.words:
        return text[:-1] + following
    kept = f"{begun}-{first[0].casefold()}" in usage.words or "-" in head
    return (text if kept else text[:-1]) + following


def _are_apart(text: str, following: str, usage: Usage) -> bool:
    """Check whether a space belongs between two lines with Korean at the line break."""
    if usage.draws_spaces or CONTINUATION.match(following):
        return False  # no space was drawn, or a word continues
    if not usage.splits_korean:
        return True
    if not (HANGUL.match(following) and HANGUL.match(text[-1])):
        # 12명, 모형(model): units follow numbers, and brackets follow words, without a space.
        return not text[-1].isdecimal() and following[0] not in "([,.;:)"
    head, tail = text.rsplit(None, 1)[-1], following.split(None, 1)[0]
    if head + tail in usage.words:
        return False
    return (head in usage.words and tail in usage.words) or _allows_word_boundary(text, following)


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
    return left is not None and right is not None and not right.startswith(BOUND_TAGS) and left[:2] != "XP"
