"""The generated corpus: words drawn by Zipf's law, reproducibly.

The probability of the word of rank r is proportional to 1 / r. Words are their ranks in base 36, so no
analysis is involved. Documents are drawn in blocks with separate generators, so that the first N documents
are the same in every larger corpus.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

SEED = 20_240_607
VOCABULARY = 1_000_000
DOCUMENT_TOKENS = 60
TITLE_TOKENS = 5
BLOCK = 10_000
QUESTION_TERMS = 10
YEARS = range(1990, 2025)
JOURNALS = 200
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
# Streams of random numbers, separate from those of the blocks.
QUESTION_STREAM, WARM_UP_STREAM = 1_000_000_000, 1_000_000_001

Ranks = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Document:
    """A document; its first words are its title."""

    number: int
    words: tuple[str, ...]
    year: int
    journal: str

    @property
    def title(self) -> tuple[str, ...]:
        """The words of the title."""
        return self.words[:TITLE_TOKENS]


def documents(count: int) -> Iterator[Document]:
    """Yield the first `count` documents of the corpus."""
    for first in range(0, count, BLOCK):
        random = np.random.default_rng((SEED, first // BLOCK))
        ranks = draw(random, (BLOCK, DOCUMENT_TOKENS)).tolist()
        years = random.integers(YEARS.start, YEARS.stop, BLOCK).tolist()
        journals = random.integers(JOURNALS, size=BLOCK).tolist()
        for offset in range(min(BLOCK, count - first)):
            words = tuple(map(word, ranks[offset]))
            yield Document(first + offset, words, years[offset], f"Journal {journals[offset]}")


def questions(count: int, stream: int = QUESTION_STREAM) -> list[tuple[str, ...]]:
    """Return questions of ten distinct words drawn like the text, rarest (highest rank) first."""
    random = np.random.default_rng((SEED, stream))
    asked = []
    for _ in range(count):
        terms: set[int] = set()
        while len(terms) < QUESTION_TERMS:
            terms.add(int(draw(random, (1,))[0]))
        asked.append(tuple(word(rank) for rank in sorted(terms, reverse=True)))
    return asked


def draw(random: np.random.Generator, shape: tuple[int, ...]) -> Ranks:
    """Draw ranks from 1, with probabilities proportional to their reciprocals."""
    cumulative = _cumulative()
    places: Ranks = np.searchsorted(cumulative, random.random(shape) * cumulative[-1], side="right")
    return places + 1


@cache
def _cumulative() -> NDArray[np.float64]:
    return np.cumsum(1.0 / np.arange(1, VOCABULARY + 1))


@cache
def word(rank: int) -> str:
    """Format a rank in base 36."""
    text = ""
    while rank:
        rank, digit = divmod(rank, len(DIGITS))
        text = DIGITS[digit] + text
    return text
