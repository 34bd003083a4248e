"""The likelihood that the evidence answers a question, which decides whether an answer declines.

A logistic regression over a question and the best passages. It was fitted on training questions, each once
with its relevant passages in the index and once without, and on questions outside the scope of their corpus
(`python -m tools.fitting likelihood`).
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from base.logistic import likelihood
from retriever.engines import NumberedRows
from retriever.formula import Scores, TokenPlaces, bm25
from retriever.terms import SearchTerms, View

EVIDENCE = 5  # passages of an answer's evidence; the weights were fitted with five
LEAST_SHARE = 0.1  # added to the score before its logarithm is taken
# Answers decline below this likelihood. It answers 92 % of the plain questions for tuning that are in scope,
# and declines 94 % of the others.
THRESHOLD = 0.27
WEIGHTS: Mapping[str, float] = {
    "bias": -3.699,
    "score": 1.518,
    "words": 1.215,
    "coverage": 2.013,
    "title": 1.745,
}


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """Features of a question and its first five passages; of several views, the highest value.

    A view is the question, or the keywords of one language. A word that the index does not contain counts as
    the rarest one.

    Args:
        score: logarithm of the first passage's BM25 by a view's words, relative to their importance.
        words: logarithm of the number of the question's words, since passages that answer a long question
            hold a smaller share of it.
        coverage: highest share of a view that a passage holds.
        title: share of a view that the title of the first passage holds.
    """

    score: float = math.log(LEAST_SHARE)
    words: float = 0.0
    coverage: float = 0.0
    title: float = 0.0


def answerability_features(terms: SearchTerms, read: NumberedRows) -> AnswerabilityFeatures:
    """Compute the features of a question and its first passages, best first; the first `EVIDENCE` count."""
    views = terms.views
    if not read.ids or not views:
        return AnswerabilityFeatures()
    places = TokenPlaces.of(read, terms.formula.tokens)
    first = bm25(places, terms.formula.statistics)[0]
    rows = range(len(read.ids))[:EVIDENCE]
    return AnswerabilityFeatures(
        score=math.log(max(_score(view, places, first) for view in views) + LEAST_SHARE),
        words=math.log(len(views[0])),
        coverage=max(coverage(view, places, row) for view in views for row in rows),
        title=max(coverage(view, places, 0, titles=True) for view in views),
    )


def answer_likelihood(terms: SearchTerms, read: NumberedRows) -> float:
    """Return the likelihood, 0 to 1, that the passages, best first, answer the question."""
    return likelihood(WEIGHTS, asdict(answerability_features(terms, read)))


def _score(view: View, places: TokenPlaces, scores: Scores) -> float:
    """Return the BM25 of a passage by the best form of each word, relative to the view's importance."""

    def of(form: tuple[str, ...]) -> float:
        return sum(float(scores[places.column[token]]) for token in form if token in places.column) / len(
            form
        )

    total = sum(asked.importance for asked in view)
    return sum(max(map(of, asked.forms)) for asked in view) / total if total else 0.0


def coverage(view: View, places: TokenPlaces, row: int, *, titles: bool = False) -> float:
    """Return the share of a view's importance that a passage holds, or its title."""
    total = sum(asked.importance for asked in view)
    held = sum(
        asked.importance
        for asked in view
        if any(places.holds(row, form, titles=titles) for form in asked.forms)
    )
    return held / total if total else 0.0
