"""The likelihood that the evidence answers a question, which decides whether an answer declines.

A logistic regression over a question and the best passages. It was fitted on training questions, each once
with its relevant passages in the index and once without, and on questions outside the scope of their corpus
(`python -m eval.development.confidence`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from statistics import fmean

import numpy as np

from base.logistic import likelihood
from retriever.engines import NumberedRows
from retriever.order.closeness import best_window, window_around
from retriever.order.features import base_scores, coverage, patterns_of
from retriever.order.measured import Measure, question_places
from retriever.order.patterns import TokenPlaces
from retriever.question.analysis import AnalysedQuestion
from retriever.question.answer_kinds import Kind, asked_kind, tokens_of_kind
from retriever.question.concepts import with_roles

EVIDENCE = 5  # passages of an answer's evidence; the weights were fitted with five
LEAST_BASE = 0.1  # added to the base before its logarithm is taken

# Answers decline below this likelihood. It answers 94 % of the plain questions for tuning that are in scope,
# and declines 94 % of the others (`eval/development/confidence.py`).
THRESHOLD = 0.25

WEIGHTS: Mapping[str, float] = {
    "bias": -4.228,
    "base": 1.007,
    "lead": 1.756,
    "concepts": 1.01,
    "nouns": 1.337,
    "answer_window": 1.192,
    "names": 0.511,
}


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """Features of a question and its first five passages, best first.

    Shares are between 0 and 1, by importance. A word that the index does not hold counts as the rarest one.
    `concepts` is included because passages that answer a long question hold a smaller share of it.

    Args:
        base: logarithm of the first passage's BM25 by concepts, -2.3 to 0.8.
        lead: base of the first passage minus the mean of the other four.
        concepts: logarithm of the number of the question's concepts.
        nouns: share of the question's nouns that the first passage holds.
        answer_window: highest share of the question in 25 words of a passage; around a year or number if the
            question asks for one.
        names: highest share of the question's names that a passage holds; 1 without names.
    """

    base: float
    lead: float
    concepts: float
    nouns: float
    answer_window: float
    names: float

    def values(self) -> dict[str, float]:
        """Return the features by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


NOTHING = AnswerabilityFeatures(
    base=math.log(LEAST_BASE), lead=0.0, concepts=0.0, nouns=0.0, answer_window=0.0, names=0.0
)


def answerability_features(by: Measure, read: NumberedRows) -> AnswerabilityFeatures:
    """Compute the features of a question and its first passages.

    Args:
        by: the question, and the scale of its candidates.
        read: the passages, best first; the first `EVIDENCE` count.
    """
    question, concepts = by.question, by.concepts
    if not read.ids or not concepts:
        return NOTHING
    kind = asked_kind(question.text)
    answers = _tokens_of_kind(kind, read, question) if kind else set()
    places = question_places(question, concepts, read, answers)
    found = places.count(patterns_of(concepts))
    first, *others = base_scores(concepts, found, by.scale, by.statistics)[:EVIDENCE].tolist()
    nouns = with_roles(concepts, question.roles, {"noun"})
    windows = window_around(concepts, places, answers) if kind else best_window(concepts, places)
    return AnswerabilityFeatures(
        base=math.log(first + LEAST_BASE),
        lead=first - (fmean(others) if others else 0.0),
        concepts=math.log(len(concepts)),
        nouns=float(coverage(nouns, found)[0]),
        answer_window=max(windows[:EVIDENCE]),
        names=max(_names_held(question, places)[:EVIDENCE]),
    )


def _tokens_of_kind(kind: Kind, read: NumberedRows, question: AnalysedQuestion) -> set[str]:
    """Return the tokens of a kind that passages hold and the question does not."""
    numbers = np.unique(read.rows.body)
    asked = {token[0] for token in question.tokens}
    return tokens_of_kind(kind, set(read.lexicon.terms(numbers[numbers > 0].tolist())) - asked)


def _names_held(question: AnalysedQuestion, places: TokenPlaces) -> list[float]:
    """Return the share of the question's names that each passage holds; 1 without names."""
    held = places.texts > 0
    shares = np.ones(len(held))
    if question.names:
        shares *= 0
        for name in question.names:
            if all(token in places.column for token in name):
                shares += held[:, [places.column[token] for token in name]].all(axis=1)
        shares /= len(question.names)
    return [float(share) for share in shares]


def answer_likelihood(found: AnswerabilityFeatures) -> float:
    """Return the likelihood, 0 to 1, that the evidence answers."""
    return likelihood(WEIGHTS, found.values())
