"""The likelihood that the evidence answers a question, which decides whether an answer declines.

A logistic regression over a question and the best passages. It was fitted on training questions, each once
with its relevant passages in the index and once without, and on questions outside the scope of their corpus
(`python -m eval.development.confidence`).

Short questions are limited further: a word that no paper contains can be the subject of a short question
(quantum error correction) or marginal to it (detecting cracks in bells). It is the subject if few other words
are left, or if the title of the best paper does not name these: a paper about bells has them in its title.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Literal

import numpy as np

from base.logistic import likelihood
from indexer.analysis.word_roles import SUBJECT_ROLES, is_common
from retriever.engines import NumberedRows
from retriever.order.candidate_features import Measure, question_places
from retriever.order.features import base_scores, best_window, coverage, patterns_of, window_around
from retriever.order.patterns import TokenPlaces
from retriever.queries.keywords import words_of
from retriever.question.analysis import AnalysedQuestion
from retriever.question.concepts import Concept, with_roles
from retriever.question.unknown_words import unknown_nouns

Kind = Literal["date", "number"]
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
# The first that fits: "몇 년" asks for a date, "몇" for any number.
ASKED: Mapping[Kind, re.Pattern[str]] = {
    "date": re.compile(
        r"^when\b|\b(?:what|which) (?:year|date|day|month|century)\b"
        r"|언제|몇\s*(?:년|월|세기)|년도|연도|며칠|날짜",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\bhow (?:many|much|long|old|large|big|tall|far|fast|high|deep|wide|heavy|often|hot|cold)\b"
        r"|\bpercentage\b|몇|얼마",
        re.IGNORECASE,
    ),
}
# Tokens of these kinds in an index: years, centuries; numerals and the stems of English number words.
TOKENS: Mapping[Kind, re.Pattern[str]] = {
    "date": re.compile(r"[1-9]\d{2}|1\d{3}|20\d\d|centuri|세기"),
    "number": re.compile(
        r".*\d.*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelv|(?:thir|four|fif|six|seven"
        r"|eigh|nine)teen|twenti|thirti|forti|fifti|hundr|thousand|million|billion|dozen"
    ),
}
MOST_WORDS = 4  # of a short question, without words that any paper may hold
UNKNOWN_SHARE = 0.5  # of the question's words; with more unknown ones its subject is unknown
TITLE_SHARE = 0.4  # of the known words' importance, which the title of a paper on the subject holds
UNKNOWN_SUBJECT = 0.2  # maximum likelihood if the subject is unknown; below THRESHOLD


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


def asked_kind(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; None if its words do not show it."""
    return next((kind for kind, wording in ASKED.items() if wording.search(question)), None)


def tokens_of_kind(kind: Kind, tokens: Iterable[str]) -> set[str]:
    """Return the analysed tokens that are, or are part of, an answer of the kind."""
    return {token for token in tokens if TOKENS[kind].fullmatch(token)}


def subject_is_unknown(question: AnalysedQuestion, concepts: Sequence[Concept], read: NumberedRows) -> bool:
    """Return True if the subject of a short question is a word that no paper contains.

    Args:
        question: the question.
        concepts: its words and terms.
        read: the passages found, best first.
    """
    subject = [token for token in question.tokens if question.roles[token[0]] in SUBJECT_ROLES]
    content = [token for token in subject if not is_common(question.text[token[2] : token[3]], token[0])]
    unknown = [token for token in unknown_nouns(question, concepts) if token in content]
    if not unknown or len(words_of(question.text, content)) > MOST_WORDS:
        return False
    if len(unknown) >= UNKNOWN_SHARE * len(subject):
        return True
    known = [concept for concept in with_roles(concepts, question.roles, SUBJECT_ROLES) if concept.is_known]
    return _title_share(question, known, read) < TITLE_SHARE


def _title_share(question: AnalysedQuestion, known: Sequence[Concept], read: NumberedRows) -> float:
    """Return the share of concepts that the title of the first passage holds; 1 without a title."""
    if not read.ids or not read.rows.title_length[0]:
        return 1.0
    found = question_places(question, known, read).count(patterns_of(known))
    return float(coverage(known, found, titles=True)[0])
