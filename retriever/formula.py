"""The score of `shrag`, a function of question, strategy, passage and index.

It is BM25 of the question and of the strategy's keywords:

    BM25(t, d) = idf(t) · (k1 + 1) · (f / (f + k1 · (1 − b + b · length / average))
                                      + title weight · h / (h + k1 · title length / 2))
    Q(d)       = Σ BM25(t, d) over the question's tokens, each occurrence counts; words of the
                 request, question words and words of any paper count half
    L(d)       = the highest over the languages of Σ BM25(t, d) / √r over the keywords' tokens,
                 r = 1, 2, … in the order of the keywords; repeated tokens add
    score(d)   = Q(d) + λ · L(d), λ = 3 for keywords of a model or a person, .5 for those of statistics

f counts t in title and text, h in the title. The weights 1/√r are the series SQ10 … SQ1 read as one query:
the sum of its scores counts k1 ten times and k10 once. Document frequencies and the average length are those
of the whole index, so the score does not depend on the number of hits or on filters. The constants were
chosen by leaving one training collection out (docs/results.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from indexer.corpora.papers import Language
from indexer.forward.rows import PassageRows, Places
from retriever.engines import NumberedRows
from retriever.engines.term_statistics import TermStatistics
from retriever.queries.boolean import Pattern
from retriever.strategy import Origin

K1, B = 0.9, 0.6
TITLE_WEIGHT = 0.7
SHORT_TITLE = 2  # words
# Weight of the keywords beside the question, by the origin of the strategy.
KEYWORD_WEIGHT: Mapping[Origin, float] = {"model": 3.0, "person": 3.0, "recorded": 3.0, "statistics": 0.5}
DECIMALS = 9  # of scores; sums differ by less between engines
NOWHERE = -1

Scores: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Columns: TypeAlias = NDArray[np.int16]
Weights: TypeAlias = Mapping[str, float]  # by token


@dataclass(frozen=True)  # without slots, for cached properties
class TokenPlaces:
    """Places of some tokens in n passages: `body` and `title` hold the column of each token, or `NOWHERE`."""

    rows: PassageRows
    column: Mapping[str, int]
    body: Columns
    title: Columns

    @classmethod
    def of(cls, read: NumberedRows, tokens: Iterable[str]) -> "TokenPlaces":
        """Look up the tokens that the lexicon has."""
        rows, lexicon = read.rows, read.lexicon
        numbers = {token: number for token in dict.fromkeys(tokens) if (number := lexicon.number(token))}
        table = np.full(len(lexicon) + 1, NOWHERE, np.int16)
        table[list(numbers.values())] = np.arange(len(numbers))
        column = {token: place for place, token in enumerate(numbers)}
        return cls(rows, column, table[rows.body], table[rows.title])

    @cached_property
    def texts(self) -> Counts:
        """Counts of the tokens in title, text and title in the other language: n × tokens."""
        return self._counts(self.body, self.rows.body_row)

    @cached_property
    def titles(self) -> Counts:
        """Counts of the tokens in the title: n × tokens."""
        return self._counts(self.title, self.rows.title_row)

    def _counts(self, columns: Columns, rows: Places) -> Counts:
        found = np.flatnonzero(columns >= 0)
        cells = rows[found] * len(self.column) + columns[found]
        size = len(self.rows) * len(self.column)
        return np.bincount(cells, minlength=size).reshape(len(self.rows), len(self.column))

    def holds(self, row: int, tokens: Sequence[str], *, titles: bool = False) -> bool:
        """Check whether a passage, or its title, contains all of some tokens."""
        counts = self.titles if titles else self.texts
        return all(token in self.column and counts[row, self.column[token]] for token in tokens)

    def pattern_counts(self, pattern: Pattern, *, titles: bool = False) -> Counts:
        """Count adjacent tokens in each passage, or in its title, where distances are ignored."""
        if not all(token in self.column for _, token in pattern):
            return np.zeros(len(self.rows), np.int64)
        columns = self.title if titles else self.body
        of_row = self.rows.title_row if titles else self.rows.body_row
        wanted = [(place if titles else at, self.column[token]) for place, (at, token) in enumerate(pattern)]
        (_, first), *others = wanted
        found = np.flatnonzero(columns == first)
        for distance, column in others:
            found = found[found + distance < len(columns)]
            at = found + distance
            found = found[(columns[at] == column) & (of_row[at] == of_row[found])]
        return np.bincount(of_row[found], minlength=len(self.rows))


def bm25(places: TokenPlaces, statistics: TermStatistics) -> Scores:
    """Return the BM25 of each passage (row) for each token (column of `places`)."""
    rows = places.rows
    idf = np.array([statistics.idf(token) for token in places.column])
    norms = K1 * (1 - B + B * rows.length / statistics.average_length)
    scores = places.texts / (places.texts + norms[:, None])
    if places.titles.any():
        title_norms = K1 * np.maximum(rows.title_length, 1) / SHORT_TITLE
        scores = scores + TITLE_WEIGHT * places.titles / (places.titles + title_norms[:, None])
    return np.asarray(scores * (idf * (K1 + 1)))


def weighted(scores: Scores, places: TokenPlaces, weights: Weights) -> Scores:
    """Return the weighted sum over tokens of each passage's scores."""
    total = np.zeros(len(scores))
    for token, weight in weights.items():
        if token in places.column:
            total += weight * scores[:, places.column[token]]
    return total


def keyword_token_weights(keywords: Iterable[Weights]) -> dict[str, float]:
    """Weigh the tokens of keywords in order: share / √r, r being the place in the series of tokens."""
    weights: dict[str, float] = {}
    place = 1.0
    for tokens in keywords:
        for token, share in tokens.items():
            weights[token] = weights.get(token, 0.0) + share / sqrt(place)
            place += share
    return weights


@dataclass(frozen=True, slots=True)
class Counterparts:
    """Other forms of tokens of the question, as synonyms; a passage scores by the best form only."""

    source: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Formula:
    """The weights of one search: of the question's tokens, and of the keywords' tokens by language."""

    question: Weights
    keywords: Mapping[Language, Weights]
    statistics: TermStatistics
    counterparts: tuple[Counterparts, ...] = ()
    keyword_weight: float = 3.0

    @property
    def tokens(self) -> list[str]:
        """All tokens, each once."""
        keywords = (token for of in self.keywords.values() for token in of)
        others = (token for each in self.counterparts for other in each.others for token in other)
        return list(dict.fromkeys([*self.question, *keywords, *others]))

    def query_weights(self) -> dict[str, float]:
        """Return the weights of one OR query that finds candidates: Q plus the mean of the languages."""
        weights = dict(self.question)
        for of_language in self.keywords.values():
            for token, weight in of_language.items():
                weights[token] = weights.get(token, 0.0) + self.keyword_weight / len(self.keywords) * weight
        for each in self.counterparts:
            for token in (token for other in each.others for token in other):
                weights[token] = max(weights.get(token, 0.0), each.weight)
        return weights

    def parts(self, read: NumberedRows) -> dict[str, Scores]:
        """Return the parts of the scores of passages, which add up to the score."""
        places = TokenPlaces.of(read, self.tokens)
        scores = bm25(places, self.statistics)
        by_language = [weighted(scores, places, of) for of in self.keywords.values() if of]
        return {
            "question": weighted(scores, places, self.question),
            "keywords": self.keyword_weight * np.max(by_language, axis=0)
            if by_language
            else np.zeros(len(scores)),
            "synonyms": self._gains(scores, places),
        }

    def _gains(self, scores: Scores, places: TokenPlaces) -> Scores:
        """Return by how much the best other form of each source scores above the source."""
        total = np.zeros(len(scores))
        for each in self.counterparts:
            asked = {token: self.question.get(token, 0.0) for token in each.source}
            own = weighted(scores, places, asked)
            best = np.max(
                [each.weight * weighted(scores, places, dict.fromkeys(other, 1.0)) for other in each.others],
                axis=0,
            )
            total += np.maximum(0.0, best - own)
        return total

    @property
    def attainable(self) -> float:
        """The score that no passage exceeds in its text: every token of the question and of one language.

        It is 1 if no passage contains any token.
        """
        most = K1 + 1

        def sum_of(weights: Weights) -> float:
            return sum(weight * self.statistics.known_idf(token) for token, weight in weights.items())

        by_language = max((sum_of(of) for of in self.keywords.values()), default=0.0)
        return most * (sum_of(self.question) + self.keyword_weight * by_language) or 1.0

    def shares(self, read: NumberedRows) -> Scores:
        """Return the scores of passages as shares of the attainable one."""
        return np.asarray(np.sum(list(self.parts(read).values()), axis=0) / self.attainable)


@dataclass(frozen=True)  # without slots, for cached properties
class ScoredCandidates:
    """Candidates and their scores, by part."""

    ids: tuple[str, ...] = ()
    parts: Mapping[str, Scores] = field(default_factory=dict)

    @cached_property
    def scores(self) -> Scores:
        """The sum of the parts."""
        total = np.zeros(len(self.ids))
        for values in self.parts.values():
            total += values
        return np.round(total, DECIMALS)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """The place of each passage_id."""
        return {passage_id: row for row, passage_id in enumerate(self.ids)}

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

    def parts_of(self, passage_id: str) -> dict[str, float]:
        """Return the parts of a passage's score that are not 0, by name."""
        row = self.row[passage_id]
        return {name: float(values[row]) for name, values in self.parts.items() if values[row]}


def scored(ids: Sequence[str], parts: Mapping[str, Scores], without: Iterable[str] = ()) -> ScoredCandidates:
    """Return candidates with the parts of their scores, except those left out."""
    left_out = set(without)
    return ScoredCandidates(tuple(ids), {name: of for name, of in parts.items() if name not in left_out})
