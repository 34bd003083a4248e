"""Candidates with their features, read from the forward index."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from retriever.engines import NumberedRows
from retriever.engines.term_statistics import TermStatistics
from retriever.order.bm25 import Scale, Scores
from retriever.order.features import base_scores, neighbour_shares, patterns_of
from retriever.order.feedback import Feedback, feedback_terms
from retriever.order.patterns import TokenPlaces, tokens_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept


@dataclass(frozen=True, slots=True)
class Measure:
    """Inputs of the features: the question, and statistics of its first candidates.

    Args:
        question, concepts, statistics: of the question.
        scale: of the first candidates' BM25.
        feedback: terms of the best of them.
    """

    question: AnalysedQuestion
    concepts: Sequence[Concept]
    statistics: TermStatistics
    scale: Scale
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """Features of n candidates: one array for each, of length n.

    Args:
        base: BM25 by concepts, as a share of the question's importance (0 to about 2).
        feedback: BM25 by feedback terms, as a share of their strengths.
        neighbours: share of the question's neighbouring words that are neighbours in the passage.
        language, same_title: as `PassageRows` has them.
        shares_word: whether the text contains a word of letters of the question, or a counterpart.
    """

    base: Scores
    feedback: Scores
    neighbours: Scores
    language: NDArray[np.int64]
    same_title: NDArray[np.int64]
    shares_word: NDArray[np.bool_]

    @property
    def features(self) -> dict[str, Scores]:
        """The features that have weights, by name."""
        return {"base": self.base, "feedback": self.feedback, "neighbours": self.neighbours}

    def joined(self, other: Self) -> Self:
        """Return these candidates, followed by others."""
        names = [field.name for field in fields(self)]
        return type(self)(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


def question_places(
    question: AnalysedQuestion,
    concepts: Sequence[Concept],
    read: NumberedRows,
    others: Iterable[str] = (),
) -> TokenPlaces:
    """Return the places of the tokens of a question, of its concepts, and of `others` in passages."""
    asked = [token[0] for token in question.tokens]
    return TokenPlaces.of(read, [*asked, *sorted(tokens_of(patterns_of(concepts))), *others])


def measure_first(
    question: AnalysedQuestion,
    concepts: Sequence[Concept],
    statistics: TermStatistics,
    read: NumberedRows,
    title_weight: float,
) -> tuple[Measure, CandidateFeatures, TokenPlaces]:
    """Measure the first candidates; return also the `Measure` for further ones, and the tokens' places.

    The scale and the feedback terms come from these candidates.
    """
    places = question_places(question, concepts, read)
    scale = Scale.of(read.rows.length, title_weight)
    base = base_scores(concepts, places.count(patterns_of(concepts)), scale, statistics)
    feedback = feedback_terms(read, base, statistics.passages, question.excluded_tokens)
    by = Measure(question, concepts, statistics, scale, feedback)
    return by, _measured(by, read, places, TokenPlaces.of(read, feedback.strengths), base), places


def measure(by: Measure, read: NumberedRows) -> CandidateFeatures:
    """Measure further candidates in the same way as the first ones."""
    places = question_places(by.question, by.concepts, read, by.feedback.strengths)
    base = base_scores(by.concepts, places.count(patterns_of(by.concepts)), by.scale, by.statistics)
    return _measured(by, read, places, places, base)


def _measured(
    by: Measure, read: NumberedRows, places: TokenPlaces, terms: TokenPlaces, base: Scores
) -> CandidateFeatures:
    """Measure candidates by the places of the question's tokens and of the feedback `terms`."""
    words = {token for concept in by.concepts for token in concept.tokens if any(map(str.isalpha, token))}
    columns = [column for token, column in places.column.items() if token in words]
    return CandidateFeatures(
        base=base,
        feedback=by.feedback.scores(terms, by.scale),
        neighbours=neighbour_shares(by.question, by.concepts, places),
        language=read.rows.language,
        same_title=read.rows.same_title,
        shares_word=np.asarray((places.texts[:, columns] > 0).any(axis=1)),
    )
