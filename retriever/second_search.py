"""Searches after the plan of `shrag`, by feedback and by bridges.

Feedback: terms of the best passages score all candidates and find further ones. It serves strategies from
statistics: the keywords of a model or a person say more than the first passages.

Bridges: names in the two best passages that lead to further passages.

"Where was the founder of X born?": a passage on X names the founder, and the passage on the founder does not
contain X. With statistics, a question with a name has a second search; otherwise a strategy with steps.

    gain(d) = best · max over the sources of strength · U · (1 + N(d)) · (.3 · B(d) + .4 · T(d))

best is the score of the best passage, strength a source's share of it. U is the share of the question that
the source lacks, or ½ for a strategy with steps; N is the part of these words that d holds. B is the highest
BM25 of a bridge in d, as a share of its idf; T is 1 if the source names the title of d.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from base.records import INTERNAL
from retriever.engines import NumberedRows
from retriever.engines.term_statistics import TermStatistics, inverse_document_frequencies
from retriever.formula import DECIMALS, ScoredCandidates, Scores, TokenPlaces, bm25, weighted
from retriever.question import FEW_WORDS
from retriever.terms import SearchTerms

SOURCES = 2  # best passages whose names are bridges
MAX_BRIDGES = 10
BRIDGE_GAIN, TITLE_GAIN = 0.3, 0.4
STEPS_SHARE = 0.5
# A bridge needs a token that the question does not have and that is a name, not an ordinary word.
SHORTEST_LATIN, SHORTEST_HANGUL = 3, 2
LEAST_NAMED = 0.5  # share of the passages with the token that have it in a name

Tokens = tuple[str, ...]  # of a name


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that one passage contains and that the second search used to find another."""

    tokens: Annotated[Tokens, INTERNAL]
    passage_id: str
    text: str = ""  # as the source writes it


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that bridges come from.

    Args:
        passage_id: its id.
        gain: strength · U.
        missing: the question's words that it lacks, with their shares of what it lacks.
        names: the tokens of each name in it.
        bridges: the names that may lead to other passages.
    """

    passage_id: str
    gain: float
    missing: Mapping[str, float]
    names: tuple[Tokens, ...]
    bridges: tuple[Tokens, ...] = ()


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """The sources of a second search, the best score, and the words of the question."""

    best: float
    sources: tuple[Source, ...]
    asked: frozenset[str]
    frequencies: Mapping[str, int] = field(default_factory=dict)  # of tokens of names

    @property
    def bridges(self) -> tuple[Bridge, ...]:
        """The bridges with their sources."""
        return tuple(
            Bridge(tokens, source.passage_id) for source in self.sources for tokens in source.bridges
        )

    @property
    def query_weights(self) -> dict[str, float]:
        """The weights of the query: the tokens of bridges, and the missing words of the question."""
        named = (token for bridge in self.bridges for token in bridge.tokens)
        missing = (token for source in self.sources for token in source.missing)
        return dict.fromkeys((*named, *missing), 1.0)

    def scores(self, read: NumberedRows, statistics: TermStatistics) -> Scores:
        """Return the gain of each passage."""
        own = replace(statistics, frequencies={**statistics.frequencies, **self.frequencies})
        places = TokenPlaces.of(read, self.query_weights)
        scores = bm25(places, own)
        gains = np.zeros(len(read.ids))
        for source in self.sources:
            held = weighted((places.texts > 0).astype(float), places, source.missing)
            bridged = np.zeros(len(read.ids))
            for tokens in source.bridges:
                value = weighted(scores, places, dict.fromkeys(tokens, 1.0)) / sum(map(own.idf, tokens))
                bridged = np.maximum(bridged, value)
            gain = BRIDGE_GAIN * bridged + TITLE_GAIN * self._names_title(source, read)
            gain *= source.gain * (1 + held)
            gain[[passage_id == source.passage_id for passage_id in read.ids]] = 0.0
            gains = np.maximum(gains, gain)
        return self.best * gains

    def _names_title(self, source: Source, read: NumberedRows) -> NDArray[np.bool_]:
        """Check for each passage whether a name of the source contains all words of its title."""
        rows, lexicon = read.rows, read.lexicon
        known = {lexicon.number(token) for name in source.names for token in name} - {0}
        before = np.searchsorted(rows.title_row, np.arange(len(rows)))
        place = np.arange(len(rows.title)) - before[rows.title_row]
        named = np.isin(rows.title, list(known)) & (place < rows.title_name[rows.title_row])
        complete = np.bincount(rows.title_row[named], minlength=len(rows)) == rows.title_name
        links = np.zeros(len(rows), np.bool_)
        for row in np.flatnonzero(complete & (rows.title_name > 0)).tolist():
            start = before[row]
            title = set(lexicon.terms(rows.title[start : start + rows.title_name[row]].tolist()))
            links[row] = not title <= self.asked and any(title.issubset(name) for name in source.names)
        return links


def has_second_search(terms: SearchTerms) -> bool:
    """Check whether a search has bridges: with statistics by a name, otherwise by the strategy's steps."""
    by_statistics = terms.strategy.origin == "statistics"
    return bool(terms.question.names if by_statistics else terms.strategy.steps)


def plan_second_search(
    terms: SearchTerms, first: ScoredCandidates, read: NumberedRows
) -> SecondSearch | None:
    """Find the bridges of the best passages, the rarest of the strongest; None without any.

    Args:
        terms: words of its question and of excluded things are no bridges.
        first: the candidates with their scores.
        read: their rows.
    """
    by_statistics = terms.strategy.origin == "statistics"
    order = first.order[:SOURCES]
    best = float(first.scores[order[0]]) if order else 0.0
    statistics = terms.formula.statistics
    importance = {
        token: weight * statistics.known_idf(token) for token, weight in terms.formula.question.items()
    }
    total = sum(importance.values())
    if best <= 0 or not total:
        return None
    asked_for = frozenset(terms.question.weights)
    excluded = terms.excluded_tokens
    sources: list[Source] = []
    rarities: dict[Tokens, tuple[float, int]] = {}
    frequencies: dict[str, int] = {}
    for place, row in enumerate(order):
        strength = float(first.scores[row]) / best
        held = set(read.lexicon.terms(np.unique(read.rows.body_of(row)).tolist()))
        missing = {token: value for token, value in importance.items() if value and token not in held}
        lacks = sum(missing.values())
        missing = {token: value / lacks for token, value in missing.items()}
        found = dict.fromkeys(_names_of(read, row, statistics.passages))
        frequencies |= {term.token: term.passages for name in found for term in name}
        names = {tuple(dict.fromkeys(term.token for term in name)): name for name in found}
        for tokens, name in names.items():
            new = [term for term in name if term.token not in asked_for and term.token not in excluded]
            rarity = strength * sum(term.idf for term in set(name))
            if any(term.is_name for term in new) and rarity > rarities.get(tokens, (0.0, 0))[0]:
                rarities[tokens] = rarity, place
        share = lacks / total if by_statistics else STEPS_SHARE
        sources.append(Source(read.ids[row], strength * share, missing, tuple(names)))
    chosen = sorted(rarities, key=lambda tokens: (-rarities[tokens][0], tokens))[:MAX_BRIDGES]
    if not chosen:
        return None
    named = [
        replace(source, bridges=tuple(tokens for tokens in chosen if rarities[tokens][1] == place))
        for place, source in enumerate(sources)
    ]
    return SecondSearch(best, tuple(named), asked_for, frequencies)


@dataclass(frozen=True, slots=True)
class _NameTerm:
    token: str
    passages: int
    idf: float
    is_name: bool


def _names_of(read: NumberedRows, row: int, passages: int) -> list[tuple[_NameTerm, ...]]:
    """Return the names in a passage, each as its terms."""
    lexicon, rows = read.lexicon, read.rows
    [own] = np.nonzero(rows.name_row == row)
    places, lengths = rows.name_place[own].tolist(), rows.name_length[own].tolist()
    runs = [rows.body[place : place + length] for place, length in zip(places, lengths, strict=True)]
    numbers = np.unique(np.concatenate([np.zeros(0, np.int32), *runs]))
    held = lexicon.frequencies_among(numbers, passages)
    idf = inverse_document_frequencies(held, passages)
    named = lexicon.named_share(numbers) >= LEAST_NAMED
    terms = {
        number: _NameTerm(token, round(count), rarity, bool(often and _is_long_enough(token)))
        for number, token, count, rarity, often in zip(
            numbers.tolist(),
            lexicon.terms(numbers.tolist()),
            held.tolist(),
            idf.tolist(),
            named.tolist(),
            strict=True,
        )
    }
    return [tuple(terms[number] for number in run.tolist() if number) for run in runs]


def _is_long_enough(token: str) -> bool:
    """Check whether a token is long enough for a name, and no formula."""
    if any(map(str.isdigit, token)):
        return False
    return len(token) >= (SHORTEST_LATIN if token.isascii() else SHORTEST_HANGUL)


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
        own = replace(statistics, frequencies=self.frequencies)
        places = TokenPlaces.of(read, self.weights)
        return self.scale * weighted(bm25(places, own), places, self.weights)


def has_feedback(terms: SearchTerms) -> bool:
    """Check whether a search has feedback: with statistics, by more than a few words."""
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
