"""BM25 of patterns in passages, with the average length of a question's first candidates.

    score = idf · (k1 + 1) · (t / (t + k1 · (1 − b + b · length / average))
                              + title weight · h / (h + k1 · title length / 2))

t counts the pattern in the text, h in the title. The score of a title depends on its own length, not on an
average: a word is a larger part of a shorter title.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.files.schema import BM25_B
from retriever.order.patterns import Counts, Occurrences
from retriever.queries.boolean import Pattern

K1 = 0.9  # lower than in the engine's queries (1.2): a repeated word adds less
SHORT_TITLE = 2  # words
MOST_OF_IDF = K1 + 1  # the highest score in a text, as a multiple of the idf

Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scale:
    """The average length that scores are relative to, the weight of a title, and BM25's b."""

    length: float
    title_weight: float
    b: float = BM25_B

    @classmethod
    def of(cls, lengths: Counts, title_weight: float) -> "Scale":
        """Return the scale of passages of these lengths."""
        return cls(float(lengths.mean()) if lengths.any() else 1.0, title_weight)

    def scores(self, found: Occurrences, idf: Mapping[Pattern, float]) -> Scores:
        """Return the score of each passage (row) for each pattern (column of `found`)."""
        of_columns = np.array([idf[pattern] for pattern in found.columns])
        return self.of_counts(found.texts, found.titles, found.lengths, found.title_lengths, of_columns)

    def of_counts(
        self, texts: Counts, titles: Counts, lengths: Counts, title_lengths: Counts, idf: Scores
    ) -> Scores:
        """Return the score of each passage (row) for each column of the counts; `idf` is by column."""
        norms = K1 * (1 - self.b + self.b * lengths / self.length)
        saturated = texts / (texts + norms[:, None])
        if self.title_weight and titles.any():
            title_norms = np.maximum(K1 * title_lengths / SHORT_TITLE, K1 / SHORT_TITLE)
            saturated += self.title_weight * titles / (titles + title_norms[:, None])
        return np.asarray(saturated * (idf * (K1 + 1)))
