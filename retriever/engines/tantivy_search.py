"""The best hits of queries in the embedded engine, with as few reads as possible.

Postings that are not needed for the best passages of an OR of words are pruned (MaxScore). A word adds at
most weight · idf · (k1 + 1) to a score. If the most common words together add less than the score of the
worst wanted hit, a passage with only these words is not among the hits. So only the postings of the other
words are read, and the common words are looked up in these passages (Turtle & Flood, "Query evaluation:
strategies and optimizations", 1995). Hits and scores are the same as without pruning.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import tantivy
from tantivy import Occur

from indexer.files.schema import BM25_K1
from retriever.engines import EngineHit
from retriever.engines.ordering import MARGIN, SCORE_DECIMALS, settled
from retriever.engines.tantivy_passages import Found, StoredPassages
from retriever.engines.tantivy_queries import REMEMBERED_TOKENS, compiled, filtered, one_token
from retriever.queries.boolean import Or, Query, Term
from retriever.queries.filters import Filters

# For fewer postings, pruning costs more than reading them.
WORTHWHILE = 20_000
# Without a floor, the rarest words are read until they hold this many passages per wanted hit.
PASSAGES_A_HIT = 20
# Lookups are nested queries: more of them overflow the stack of the library, and take longer than a union.
MOST_LOOKUPS = 32
# Each search of more postings takes as long as the one before; a union of all takes less than many of them.
MOST_SEARCHES = 3
# Scores are sums of single precision.
SLACK = 1.0001

Weights: TypeAlias = Mapping[tuple[str, str], float]  # of a query's words, by field and token
Floor: TypeAlias = tuple[Weights, int, float]  # the score of a hit of some words, and its place


@dataclass(frozen=True, slots=True)
class Posting:
    """A word with its weight, its document frequency and its maximum contribution to a score."""

    field: str
    token: str
    weight: float
    passages: int
    bound: float


def weights_of(query: Query) -> Weights:
    """Return the weights of the words of a plain OR, summed for repeated words; none for another query."""
    terms = query.clauses if isinstance(query, Or) else (query,)
    weights: dict[tuple[str, str], float] = {}
    for term in terms:
        if not isinstance(term, Term):
            return {}
        for token in term.tokens:
            weights[term.field, token] = weights.get((term.field, token), 0.0) + term.weight
    return weights


def postings_of(weights: Weights, frequency: Callable[[str, str], int], documents: int) -> list[Posting]:
    """Return the postings of words, the rarest first; none where pruning is not worthwhile.

    `documents` and `frequency` count deleted passages too.
    """
    frequencies = {key: frequency(*key) for key in weights}
    if sum(frequencies.values()) < WORTHWHILE:
        return []
    postings = []
    for key, passages in frequencies.items():
        if passages:
            idf = math.log(1 + (documents - passages + 0.5) / (passages + 0.5))
            postings.append(Posting(*key, weights[key], passages, weights[key] * idf * (BM25_K1 + 1)))
    return sorted(postings, key=lambda posting: (posting.passages, posting.field, posting.token))


def needed(postings: Sequence[Posting], floor: float, limit: int) -> int:
    """Return the number of postings, rarest first, to read for `limit` hits of at least `floor`.

    At most `MOST_LOOKUPS` postings are left to look up.
    """
    fewest = max(1, len(postings) - MOST_LOOKUPS)
    for count in range(fewest, len(postings)):
        read = sum(posting.passages for posting in postings[:count])
        if is_sure(postings, count, floor) if floor > 0 else read >= PASSAGES_A_HIT * limit:
            return count
    return len(postings)


def is_sure(postings: Sequence[Posting], read: int, worst: float) -> bool:
    """Check whether every passage with only unread postings scores less than the worst hit."""
    return sum(posting.bound for posting in postings[read:]) * SLACK < worst


def with_lookups(postings: Sequence[Posting], read: int) -> tantivy.Query:
    """Make a query that reads the first postings, and looks up the others in the passages found.

    Each is looked up separately, since a union would read all postings up to the passage.
    """
    terms = [one_token(one.field, one.token, one.weight) for one in postings]
    query = tantivy.Query.boolean_query([(Occur.Should, term) for term in terms[:read]])
    for term in terms[read:]:
        query = tantivy.Query.boolean_query([(Occur.Must, query), (Occur.Should, term)])
    return query


def highest_floor(floors: Sequence[Floor], weights: Weights, limit: int) -> float:
    """Return a lower bound on the score of hit number `limit`: a query scores at least as its parts."""
    bounds = (
        score
        for part, hits, score in floors
        if hits >= limit and all(weights.get(key, 0.0) >= weight for key, weight in part.items())
    )
    return max(bounds, default=0.0)


class BestHits:
    """The best hits of queries in an open index."""

    def __init__(self, searcher: tantivy.Searcher, passages: StoredPassages, documents: int) -> None:
        """Take the index; the ids of hits are read from the stored passages."""
        self._searcher = searcher
        self._passages = passages
        self._documents = documents
        self._frequency = lru_cache(REMEMBERED_TOKENS)(searcher.doc_freq)

    def of_all(
        self, queries: Sequence[tuple[Query, int]], filters: Filters, collapse: bool
    ) -> list[list[EngineHit]]:
        """Answer short queries first: their scores are lower bounds for longer ones with the same words."""
        answers: list[list[EngineHit]] = [[] for _ in queries]
        floors: list[Floor] = []
        weights = [weights_of(query) for query, _ in queries]
        for number in sorted(range(len(queries)), key=lambda one: len(weights[one])):
            query, k = queries[number]
            if k > 0:
                answers[number] = self._search(query, weights[number], filters, k, collapse, floors)
        return answers

    def _search(
        self,
        asked: Query,
        weights: Weights,
        filters: Filters,
        k: int,
        collapse: bool,
        floors: list[Floor],
    ) -> list[EngineHit]:
        """Read on until the tie at k ends, and until k papers are found."""
        limit = k + MARGIN
        query = filtered(compiled(asked), filters)
        while True:
            found = self._best_of_words(weights, filters, limit, floors)
            if found is None:
                found = self._searcher.search(query, limit, count=False).hits
            if weights and len(found) == limit:
                floors.append((weights, limit, float(found[-1][0])))
            if found and found[0][0] == 0 and len(found) == limit:  # only filters: all tie
                found = self._in_id_order(query, limit)
            rounded = [(round(score, SCORE_DECIMALS), address) for score, address in found]
            sure = settled(self._passages.hits(rounded), limit, k, collapse=collapse)
            if sure is not None:
                return sure
            limit *= 4

    def _best_of_words(
        self, weights: Weights, filters: Filters, limit: int, floors: Sequence[Floor]
    ) -> list[Found] | None:
        """Return the best hits of an OR of words without reading all postings; None if all are needed."""
        postings = postings_of(weights, self._frequency, self._documents)
        floor = highest_floor(floors, weights, limit) if postings else 0.0
        read = needed(postings, floor, limit)
        for _ in range(MOST_SEARCHES):
            if read >= len(postings):
                break
            query = filtered(with_lookups(postings, read), filters)
            found = self._searcher.search(query, limit, count=False).hits
            worst = float(found[-1][0]) if len(found) == limit else 0.0
            if is_sure(postings, read, max(worst, floor)):
                return found
            floor = max(floor, worst)
            read = max(read + 1, needed(postings, floor, limit))
        return None

    def _in_id_order(self, query: tantivy.Query, limit: int) -> list[Found]:
        ordered = self._searcher.search(
            query, limit, count=False, order_by_field="passage_id", order=tantivy.Order.Asc
        ).hits
        return [(0.0, address) for _, address in ordered]
