"""Feedback: terms of the best passages, which score all candidates and find further ones.

It serves strategies from statistics. The keywords of a model or a person say more than the first passages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from retriever.engines import NumberedRows
from retriever.engines.term_statistics import TermStatistics, inverse_document_frequencies
from retriever.formula import DECIMALS, ScoredCandidates, Scores, TokenPlaces, bm25, weighted
from retriever.question import FEW_WORDS
from retriever.terms import SearchTerms

FEEDBACK_PASSAGES = 10  # best passages that terms come from
FEEDBACK_TERMS = 40
FEEDBACK = 1.5  # score of the best passage by feedback, as a multiple of its own
POWER = 10  # the weight of a passage is its share of the best score, raised to this power
FEWEST_PASSAGES = 2  # that hold a term


@dataclass(frozen=True, slots=True)
class Feedback:
    """Terms of the best passages with their weights, strongest first, and their document frequencies."""

    weights: Mapping[str, float] = field(default_factory=dict)
    frequencies: Mapping[str, int] = field(default_factory=dict)
    scale: float = 0.0  # so that the best passage scores `FEEDBACK` times its own score

    @property
    def query_weights(self) -> dict[str, float]:
        """The weights relative to the strongest term's."""
        strongest = max(self.weights.values(), default=1.0)
        return {term: weight / strongest for term, weight in self.weights.items()}

    def scores(self, read: NumberedRows, statistics: TermStatistics) -> Scores:
        """Return BM25 by the terms, scaled to the score of the best passage."""
        own = TermStatistics(statistics.passages, self.frequencies, statistics.average_length)
        places = TokenPlaces.of(read, self.weights)
        return self.scale * weighted(bm25(places, own), places, self.weights)


def has_feedback(terms: SearchTerms) -> bool:
    """Check whether a search has feedback: the best passages of a query of few words say little about it."""
    return terms.strategy.origin == "statistics" and len(terms.question.subject) > FEW_WORDS


def feedback_terms(read: NumberedRows, first: ScoredCandidates, terms: SearchTerms) -> Feedback:
    """Choose the strongest terms of the best passages.

    A term's weight is idf · Σ (score / best score)^POWER over the best passages that hold it. Numbers, terms
    of a single passage and words of excluded things are left out.

    Args:
        read: rows of the candidates.
        first: their scores by question and keywords.
        terms: of the search.
    """
    lexicon, rows, passages = read.lexicon, read.rows, terms.formula.statistics.passages
    scores = first.scores
    best = [row for row in first.order if rows.has_text[row]][:FEEDBACK_PASSAGES]
    highest = float(scores[best[0]]) if best else 0.0
    if highest <= 0:
        return Feedback()
    bodies = [body[body > 0] for body in map(rows.body_of, best)]
    shares = (scores[best] / highest) ** POWER
    of_body = np.repeat(np.arange(len(best)), [len(body) for body in bodies])
    distinct = np.unique(np.concatenate(bodies) * np.int64(len(best)) + of_body)
    numbers, starts = np.unique(distinct // len(best), return_index=True)
    summed = np.add.reduceat(shares[distinct % len(best)], starts)
    usable = lexicon.frequency[numbers] >= FEWEST_PASSAGES
    numbers, summed = numbers[usable], summed[usable]
    held = lexicon.frequencies_among(numbers, passages)
    weights = np.round(summed * inverse_document_frequencies(held, passages), DECIMALS)
    # Ties break by letters: an update numbers its terms in another order than a build from empty.
    strong = np.argsort(-weights, kind="stable")[: 3 * FEEDBACK_TERMS]
    strong = np.flatnonzero(weights >= weights[strong].min(initial=np.inf))
    texts = dict(zip(lexicon.terms(numbers[strong].tolist()), strong.tolist(), strict=True))
    excluded = terms.excluded_tokens
    ranked = sorted(
        (
            term
            for term in texts
            if weights[texts[term]] > 0 and not term.isdecimal() and term not in excluded
        ),
        key=lambda term: (-weights[texts[term]], term),
    )[:FEEDBACK_TERMS]
    found = Feedback(
        {term: float(weights[texts[term]]) for term in ranked},
        {term: round(held[texts[term]]) for term in ranked},
        scale=1.0,
    )
    of_best = float(found.scores(read, terms.formula.statistics)[best[0]])
    return replace(found, scale=FEEDBACK * highest / of_best if of_best else 0.0)
