"""Texts compared: nearly equal, one within the other, or equal except for their figures.

Texts that share some marks are compared. Marks are long words, and pieces of the text's letters between
frequent letters; they are found quickly. Texts are compared by shingles: the eight letters from each
letter on (Broder, On the resemblance and containment of documents, SEQUENCES 1997).
"""

import re
from collections.abc import Set
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.corpora.normal_forms import REMEMBERED_TEXTS, normal_letters, normal_words, numbers_in
from indexer.corpora.papers import Language, language_of

# Five letters or more, none of them frequent. Of English, Korean, Japanese and Chinese one of eight is.
PIECE = re.compile("[^e이는의다에을고한のはにい的是在]{5,}")
LONG_WORD, LONG_ENGLISH_WORD = 4, 7  # letters
LETTERS = 8  # of a shingle
SAMPLED = np.uint64(4)  # one shingle of four
FACTOR = 0x9E3779B97F4A7C15  # an odd number without a pattern in its bits
BITS, HALF = 64, np.uint64(32)  # of a hash
EAST_ASIAN = 0x1100  # the first code point of Hangul, kana and Han
Hashes: TypeAlias = NDArray[np.uint64]
SAME_TEXT = 0.85  # least share of common words among the words of both texts (Jaccard)
FEWEST_WORDS = 20  # shorter texts ("No abstract available.") count only with the same DOI or title
# Least share of the shorter text's shingles in the longer one; least length of the shorter one, in letters
# and as share of the length of the longer one.
CONTAINED, LEAST_LENGTH, LENGTH_SHARE = 0.9, 120, 0.5
SHARED_MARKS = 0.6  # least share of the marks of one text in the other, for a comparison of shingles
# Least shares of common words in the shorter and the longer text, if the records claim the same DOI or title.
SHORTER_SHARE, LONGER_SHARE = 0.8, 0.3
Likeness: TypeAlias = Literal["same", "alike", "other"]


class Shingles(NamedTuple):
    """A sample of the hashes of a text's shingles, which represents the text in comparisons.

    Args:
        length: the number of letters; Hangul, kana and Han count twice, since a letter there says more.
        sample: hashes that are divisible by four.
    """

    length: int
    sample: frozenset[int]

    def share_in(self, other: "Shingles") -> float:
        """Return the share of the shingles that another text has, too; 0 for a text without shingles."""
        return len(self.sample & other.sample) / len(self.sample) if self.sample else 0.0


@lru_cache(maxsize=REMEMBERED_TEXTS)
def marks_of(text: str) -> frozenset[str]:
    """Return the long words at the beginning of a text, and the pieces between its frequent letters."""
    long = (word for word in normal_words(text) if len(word) >= LONG_WORD)
    words = (word for word in long if len(word) >= LONG_ENGLISH_WORD or not word.isascii())
    return frozenset(chain(words, PIECE.findall(normal_letters(text))))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def shingles_of(text: str) -> Shingles:
    """Return the shingles of the beginning of a text."""
    codes = np.frombuffer(normal_letters(text).encode("utf-32-le"), np.uint32).astype(np.uint64)
    length = len(codes) + int(np.count_nonzero(codes >= EAST_ASIAN))
    hashes = _hashes(codes)
    return Shingles(length, frozenset(hashes[hashes % SAMPLED == 0].tolist()))


def _hashes(codes: Hashes) -> Hashes:
    """Return the polynomial hash of each eight adjacent letters, built from two, then from four."""
    hashes, letters = codes, 1
    while letters < LETTERS:
        factor = np.uint64(pow(FACTOR, letters, 1 << BITS))
        hashes = hashes[:-letters] * factor + hashes[letters:]
        letters *= 2
    return ((hashes ^ (hashes >> HALF)) * np.uint64(FACTOR)) >> HALF


class Text(NamedTuple):
    """A text with its distinct words, its marks, and its title."""

    text: str
    words: frozenset[str]
    marks: frozenset[str]
    title: str

    @classmethod
    def of(cls, text: str, title: str) -> Self:
        """Find the words and marks of a text."""
        return cls(text, normal_words(text), marks_of(text), title)

    @property
    def language(self) -> Language:
        """The language of the text; one that quotes another language is still compared by its words."""
        return known_language(self.text)

    def likeness(self, other: "Text") -> Likeness:
        """Compare texts: "same"; "alike" if they differ only in their numbers; or "other".

        Texts are the same if they are nearly equal, or if one nearly contains the other and is at most
        twice as long. They are "other" if each has a word of its title that the other lacks: such texts are
        made by one template, or one of them is forged. They are "alike" if each has a number that the other
        lacks, or has it before another word; if one contains the other, numbers in their titles count too.
        """
        nearly_equal = self._has_words_of(other)
        if not (nearly_equal or self._contains(other)) or self._differs_in_title(other):
            return "other"
        agree = self.has_numbers_of(other) and (
            nearly_equal or _agree(numbers_in(self.title), numbers_in(other.title))
        )
        return "same" if agree else "alike"

    def has_numbers_of(self, other: "Text") -> bool:
        """Check whether one text has all numbers of the other, each before the same word."""
        return _agree(numbers_in(self.text), numbers_in(other.text))

    def is_version_of(self, other: "Text") -> bool:
        """Check whether one text nearly contains the other, and is not several times longer.

        They are not if each has a number that the other lacks.
        """
        shared, sizes = len(self.words & other.words), (len(self.words), len(other.words))
        if not shared or shared < SHORTER_SHARE * min(sizes) or shared < LONGER_SHARE * max(sizes):
            return False
        return _agree(*({number for number, _ in numbers_in(text)} for text in (self.text, other.text)))

    def _has_words_of(self, other: "Text") -> bool:
        shared, sizes = len(self.words & other.words), (len(self.words), len(other.words))
        return min(sizes) >= FEWEST_WORDS and shared >= SAME_TEXT * (sum(sizes) - shared)

    def _contains(self, other: "Text") -> bool:
        """Check whether one text nearly contains the other, regardless of the spaces between words."""
        shared, sizes = len(self.marks & other.marks), (len(self.marks), len(other.marks))
        if not shared or shared < SHARED_MARKS * min(sizes):
            return False
        shorter, longer = shingles_of(self.text), shingles_of(other.text)
        if shorter.length > longer.length:
            shorter, longer = longer, shorter
        if shorter.length < max(LEAST_LENGTH, LENGTH_SHARE * longer.length):
            return False
        return shorter.share_in(longer) >= CONTAINED

    def _differs_in_title(self, other: "Text") -> bool:
        """Check whether each has a word of its title that the other lacks."""
        return _has_of_its_own(self, other) and _has_of_its_own(other, self)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def known_language(text: str) -> Language:
    """Return the language of a text, computed once for all texts that it is compared with."""
    return language_of(text)


def _has_of_its_own(one: Text, other: Text) -> bool:
    lacking = (one.words - other.words) & normal_words(one.title)
    letters = normal_letters(other.text) if lacking else ""
    return any(word not in letters for word in lacking)


def _agree(numbers: Set[object], others: Set[object]) -> bool:
    return numbers <= others or others <= numbers
