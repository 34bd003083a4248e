"""Joining the lines of a paragraph, with words that were split at line ends.

English words are split at a hyphen: the rest of the document shows whether it is part of the word. Korean
words are split anywhere and without a mark: a drawn space or the parts of speech show where a word ends.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from functools import cache
from typing import TYPE_CHECKING

from indexer.analysis.tokens import lowercase
from indexer.corpora.full_text.layout import Line
from indexer.corpora.full_text.pages import RAISED, Fragment

if TYPE_CHECKING:
    from indexer.analysis.korean import KoreanAnalyzer

HANGUL = re.compile("[가-힣]")
# A web address continues in the next line after these characters.
SPLIT_ADDRESS = re.compile(r"(?:https?://|www\.|doi|10\.\d{4,9}/)\S*[/._=?&-]$|^https?:$", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
CONTEXT = 12  # letters on each side of a line break, for the analyzer
# Sejong tags of morphemes attached to the previous word: particles, endings, suffixes, the copula, units.
BOUND_TAGS = ("J", "E", "XS", "VC", "NNB")
INVISIBLE = dict.fromkeys(map(ord, f"\u00ad\u200b\u200e\u200f\u202a\u202c\ufeff\ufffe{RAISED}"))


def words_of(lines: Sequence[Fragment]) -> frozenset[str]:
    """Collect the words within the lines of a document."""
    inner = (word for line in lines for word in line.text.split()[1:-1])
    return frozenset(found.casefold() for word in inner for found in WORD.findall(word))


def join_lines(lines: Iterable[Line], words: Set[str]) -> str:
    """Join consecutive lines of a document with some words."""
    joined, spaced = "", False
    for line in lines:
        joined = _join(joined, line.part.text.strip(), words, spaced=spaced)
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


def _join(text: str, following: str, words: Set[str], *, spaced: bool) -> str:
    if not text or not following:
        return text or following
    last = text.rsplit(None, 1)[-1]
    if SPLIT_ADDRESS.search(last):
        return text + following
    if last[-1] in "-\u2010\u00ad" and len(last) > 1:  # otherwise a dash
        return (text if _keeps_hyphen(last, following.split(None, 1)[0], words) else text[:-1]) + following
    korean = HANGUL.match(text[-1]) or HANGUL.match(following)
    apart = spaced or not korean or _are_apart(text, following)
    return text + (" " if apart else "") + following


def _keeps_hyphen(head: str, tail: str, words: Set[str]) -> bool:
    begun, goes_on = re.search(r"[^\W\d_]+(?=.$)", head), WORD.match(tail)
    if head[-1] == "\u00ad":
        return False
    if not (begun and goes_on and tail[0].islower()):
        return True
    first, last = begun[0].casefold(), goes_on[0].casefold()
    return f"{first}-{last}" in words or "-" in head[:-1]


@cache
def _analyzer() -> "KoreanAnalyzer":
    from indexer.analysis.korean import KoreanAnalyzer

    return KoreanAnalyzer("korean", "none", None, lowercase)


def _are_apart(text: str, following: str) -> bool:
    """Check whether a space belongs at a line break in Korean: there is a word boundary in the joined texts.

    The spacing of two nouns is unknown; the terms are the same either way.
    """
    if not (HANGUL.match(following) and HANGUL.match(text[-1])):
        # 12명, 모형(model): units follow numbers, and brackets follow words, without a space.
        return not text[-1].isdecimal() and following[0] not in "([,.;:)"
    before = text[-CONTEXT:]
    tagged = _analyzer().tagged_words(before + following[:CONTEXT])
    left = next((tag for tag, _, end in tagged if end == len(before)), None)
    right = next((tag for tag, start, _ in tagged if start == len(before)), None)
    return left is not None and right is not None and not right.startswith(BOUND_TAGS) and left[:2] != "XP"
