"""Marks and shingles of a text, by which copies are found whatever became of its words.

Marks are long words, and pieces of the text's letters between frequent letters. They are quickly found, and
texts that have some in common are compared. They are compared by shingles, pieces of eight letters that begin
at every letter (Broder, On the resemblance and containment of documents, SEQUENCES 1997).
"""

import re
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.corpora.normal_forms import REMEMBERED_TEXTS, normal_letters, normal_words

# Five letters or more, none of them frequent. Of English, Korean, Japanese and Chinese one of eight is.
PIECE = re.compile("[^e이는의다에을고한のはにい的是在]{5,}")
LONG_WORD, LONG_ENGLISH_WORD = 4, 7  # letters
LETTERS = 8  # of a shingle
SAMPLED = np.uint64(4)  # one shingle of four
FACTOR = 0x9E3779B97F4A7C15  # an odd number without a pattern in its bits
BITS, HALF = 64, np.uint64(32)  # of a hash
EAST_ASIAN = 0x1100  # Hangul, kana and Han begin here

Hashes: TypeAlias = NDArray[np.uint64]


class Shingles(NamedTuple):
    """A sample of the hashes of a text's shingles, which is as like that of another text as the texts are.

    Args:
        length: the number of letters; those of Hangul, kana and Han count twice, since they say more.
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
    """Return the hash of each eight letters in a row, a polynomial of them; first of two, then of four."""
    hashes, letters = codes, 1
    while letters < LETTERS:
        factor = np.uint64(pow(FACTOR, letters, 1 << BITS))
        hashes = hashes[:-letters] * factor + hashes[letters:]
        letters *= 2
    return ((hashes ^ (hashes >> HALF)) * np.uint64(FACTOR)) >> HALF
