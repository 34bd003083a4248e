"""Candidates with their scores, and the parts of each score."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from indexer.corpora.papers import Language
from indexer.forward.rows import LANGUAGES
from retriever.order.bm25 import Scores
from retriever.order.weights import SAME_TITLE_WEIGHT

LOWEST_OF_OTHER = 4  # rank to which the best paper in the other language is lifted
DECIMALS = 9  # of scores; sums of features differ by less between engines

FOUNDED = {"base", "bridge", "title in passage"}  # a search shows only passages with one of these parts

Part = tuple[float, float]  # a value and its weight


@dataclass(frozen=True)  # without slots, for cached properties
class ScoredCandidates:
    """Candidates and their scores.

    Args:
        ids: passage_ids.
        parts: values of each part of the scores, and their weight.
    """

    ids: tuple[str, ...]
    parts: Mapping[str, tuple[Scores, float]]

    @cached_property
    def scores(self) -> Scores:
        """The sum of the parts, each times its weight."""
        total = np.zeros(len(self.ids))
        for values, weight in self.parts.values():
            total += values * weight
        return np.round(total, DECIMALS)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The place of each passage_id."""
        return {passage_id: row for row, passage_id in enumerate(self.ids)}

    @cached_property
    def founded(self) -> Mapping[str, bool]:
        """Whether each passage scores for words of the question, or by a second search."""
        held = np.zeros(len(self.ids), np.bool_)
        for name in FOUNDED & self.parts.keys():
            held |= self.parts[name][0] > 0
        return dict(zip(self.ids, held.tolist(), strict=True))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The rows by score, then passage_id."""
        scores = self.scores.tolist()
        return tuple(sorted(range(len(self.ids)), key=lambda row: (-scores[row], self.ids[row])))

    def __contains__(self, passage_id: str) -> bool:
        return passage_id in self.row

    def score_of(self, passage_id: str) -> float:
        """Return the score of a passage."""
        return float(self.scores[self.row[passage_id]])

    def parts_of(self, passage_id: str) -> dict[str, Part]:
        """Return the parts of a passage's score that are not 0, by name."""
        row = self.row[passage_id]
        return {
            name: (float(values[row]), weight) for name, (values, weight) in self.parts.items() if values[row]
        }

    def with_part(self, name: str, values: Scores, weight: float) -> Self:
        """Return the candidates with a further part of their scores."""
        return replace(self, parts={**self.parts, name: (values, weight)})


def with_mean_of_title(scored: ScoredCandidates, same_title: NDArray[np.int64]) -> ScoredCandidates:
    """Add a part of the mean score of each title, since passages of one title have one subject.

    `same_title` is equal for passages of equal titles, 0 without a title.
    """
    _, titles, counts = np.unique(same_title, return_inverse=True, return_counts=True)
    shared = (counts[titles] > 1) & (same_title > 0)
    if not shared.any():
        return scored
    means = np.bincount(titles, scored.scores) / counts
    return scored.with_part(
        "same title", np.where(shared, means[titles] - scored.scores, 0.0), SAME_TITLE_WEIGHT
    )


def with_other_language(
    scored: ScoredCandidates,
    language: Language,
    languages: NDArray[np.int64],
    shares_word: NDArray[np.bool_],
) -> ScoredCandidates:
    """Lift the best candidate in the other language to the fourth rank.

    If no word of a question has a counterpart, papers in the other language match only by words that both
    languages share (names, abbreviations), which BM25 hardly counts. Only a candidate that contains such a
    word is lifted, and not above one that ties with the third.
    """
    ranked = scored.order
    if len(ranked) < LOWEST_OF_OTHER or language not in {"ko", "en"}:
        return scored
    other = (languages == LANGUAGES.index("en" if language == "ko" else "ko")) & shares_word
    best = next((rank for rank, row in enumerate(ranked) if other[row]), 0)
    if best < LOWEST_OF_OTHER:
        return scored
    scores = scored.scores
    above = scores[ranked[LOWEST_OF_OTHER - 2]]
    below = next((scores[row] for row in ranked[LOWEST_OF_OTHER - 1 : best] if scores[row] < above), None)
    if below is None:
        return scored
    lift = np.zeros(len(ranked))
    lift[ranked[best]] = (above + below) / 2 - scores[ranked[best]]
    return scored.with_part("other language", lift, 1.0)
