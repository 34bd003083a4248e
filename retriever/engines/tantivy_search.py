"""The best hits of queries in the embedded engine, with as few reads as possible.

Postings that are not needed for the best passages of an OR of words are pruned (MaxScore). A word adds at
most weight · idf · (k1 + 1) to a score. If the most common words together add less than the score of the
worst wanted hit, a passage with only these words is not among the hits. So only the postings of the other
words are read, and the common words are looked up in these passages (Turtle & Flood, "Query evaluation:
strategies and optimizations", 1995). Hits and scores are the same as without pruning.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import tantivy
from tantivy import Occur

from indexer.files.schema import BM25_K1
from retriever.engines import EngineHit
from retriever.engines.ordering import (
    BY_PAPER,
    MARGIN,
    SCORE_DECIMALS,
    by_score,
    first_of_each_paper,
    settled,
)
from retriever.engines.tantivy_passages import Found, StoredPassages, place_of
from retriever.engines.tantivy_queries import REMEMBERED_TOKENS, compiled, filtered, one_token
from retriever.queries.boolean import Exact, Or, Query, Term
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


class Word(NamedTuple):
    """One token of a query with its weight in the engine."""

    field: str
    token: str
    weight: float


@dataclass(frozen=True, slots=True)
class Posting:
    """A word with its document frequency and its maximum contribution to a score."""

    word: Word
    passages: int
    bound: float


def words_of(query: Query) -> tuple[Word, ...] | None:
    """Return the words of a plain OR; None for any other query."""
    terms = query.clauses if isinstance(query, Or) else (query,)
    words: list[Word] = []
    for term in terms:
        if not isinstance(term, Term) or term.weight < 0:
            return None
        words += [Word(term.field, token, term.weight) for token in term.tokens]
    return tuple(words)


def postings_of(words: Sequence[Word], frequency: Callable[[str, str], int], documents: int) -> list[Posting]:
    """Return the postings of words, the rarest first; none where pruning is not worthwhile.

    A word that is repeated has one posting, with the sum of its weights. `documents` and `frequency` count
    deleted passages too.
    """
    weights: dict[tuple[str, str], float] = {}
    for field, token, weight in words:
        weights[field, token] = weights.get((field, token), 0.0) + weight
    frequencies = {key: frequency(*key) for key in weights}
    if sum(frequencies.values()) < WORTHWHILE:
        return []
    postings = []
    for key, passages in frequencies.items():
        if passages:
            idf = math.log(1 + (documents - passages + 0.5) / (passages + 0.5))
            postings.append(Posting(Word(*key, weights[key]), passages, weights[key] * idf * (BM25_K1 + 1)))
    return sorted(postings, key=lambda posting: (posting.passages, posting.word))


def needed(postings: Sequence[Posting], floor: float, limit: int) -> int:
    """Return the number of postings, rarest first, to read for `limit` hits of at least `floor`.

    At most `MOST_LOOKUPS` postings are left to look up.
    """
    return max(_needed_for(postings, floor, limit), len(postings) - MOST_LOOKUPS)


def _needed_for(postings: Sequence[Posting], floor: float, limit: int) -> int:
    if floor <= 0:
        passages = 0
        for count, posting in enumerate(postings, 1):
            passages += posting.passages
            if passages >= PASSAGES_A_HIT * limit:
                return count
        return len(postings)
    rest = 0.0
    for count in range(len(postings), 0, -1):
        rest += postings[count - 1].bound
        if rest * SLACK >= floor:
            return count
    return 1


def is_sure(postings: Sequence[Posting], read: int, worst: float) -> bool:
    """Check whether every passage with only unread postings scores less than the worst hit."""
    return sum(posting.bound for posting in postings[read:]) * SLACK < worst


def with_lookups(postings: Sequence[Posting], read: int) -> tantivy.Query:
    """Make a query that reads the first postings, and looks up the others in the passages found.

    Each is looked up separately, since a union would read all postings up to the passage.
    """
    terms = [one_token(*one.word) for one in postings]
    query = tantivy.Query.boolean_query([(Occur.Should, term) for term in terms[:read]])
    for term in terms[read:]:
        query = tantivy.Query.boolean_query([(Occur.Must, query), (Occur.Should, term)])
    return query


class Floors:
    """Lower bounds on the score of the last wanted hit, from queries with a part of the words.

    A query scores at least as much as a part of its words. A word that occurs twice in a query counts twice.
    """

    def __init__(self) -> None:
        self._known: list[tuple[Sequence[Word], int, float]] = []

    def of(self, words: Sequence[Word], limit: int) -> float:
        """Return a lower bound on the score of hit number `limit`."""
        whole = Counter(words)
        return max(
            (score for some, hits, score in self._known if hits >= limit and Counter(some) <= whole),
            default=0.0,
        )

    def note(self, words: Sequence[Word], limit: int, score: float) -> None:
        """Store the score of hit number `limit` of a query."""
        self._known.append((words, limit, score))


FEW = 5_000  # allowed passages that are listed; with more, the nearest passages are filtered
LONG_TIE = 200  # hits of one score; reading more ids than this takes as long as another search


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
        floors = Floors()
        words = [words_of(query) or () for query, _ in queries]
        for number in sorted(range(len(queries)), key=lambda one: len(words[one])):
            query, k = queries[number]
            answers[number] = self._search(query, words[number], filters, k, collapse, floors)
        return answers

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count the passages that each query matches under its filters."""
        queries = (filtered(compiled(query), filters) for query, filters in asked)
        return [self._searcher.search(query, 1, count=True).count for query in queries]  # type: ignore[attr-defined]  # not in its stub

    def _search(
        self,
        asked: Query,
        words: Sequence[Word],
        filters: Filters,
        k: int,
        collapse: bool,
        floors: Floors,
    ) -> list[EngineHit]:
        """Read on until the tie at k ends, and until k papers are found."""
        if k <= 0:
            return []
        limit = k + MARGIN
        query = filtered(compiled(asked), filters)
        while True:
            found = self._best_of_words(words, filters, limit, floors)
            if found is None:
                found = self._searcher.search(query, limit, count=False).hits
                if words and len(found) == limit:
                    floors.note(words, limit, float(found[-1][0]))
            if found and found[0][0] == 0 and len(found) == limit:  # only filters: all tie
                sure = settled(self._in_id_order(query, limit), limit, k, collapse=collapse)
            else:
                sure = self._settled(query, found, limit, k, collapse)
            if sure is not None:
                return sure
            limit *= 4

    def _settled(
        self, query: tantivy.Query, found: Sequence[Found], limit: int, k: int, collapse: bool
    ) -> list[EngineHit] | None:
        """Return the first k hits, or None if more must be read.

        Reading the id of a hit from the store takes as long as searching, so only the needed ids are read.
        """
        wanted = k
        while True:
            first = self._first(query, found, limit, wanted)
            if first is None:
                return None
            kept = first_of_each_paper(first, BY_PAPER) if collapse else first
            if len(kept) >= k or len(first) < wanted:  # enough, or there are no more
                return kept[:k]
            wanted *= 2

    def _first(
        self, query: tantivy.Query, found: Sequence[Found], limit: int, wanted: int
    ) -> list[EngineHit] | None:
        """Return the first hits by score, then passage_id; None if unread hits may tie with the last."""
        if len(found) <= wanted:
            return self._by_id(found) if len(found) < limit else None
        last = _descending(found[wanted - 1])
        if _descending(found[-1]) == last and len(found) == limit:
            return None
        above = bisect_left(found, last, hi=wanted, key=_descending)
        ties = found[above : bisect_right(found, last, wanted, key=_descending)]
        # Only the first ids of a long tie are wanted, and they can be read in order.
        if len(ties) > LONG_TIE:
            places = {place_of(address) for _, address in ties}
            ordered = self._ordered_by_id(query, 2 * wanted)
            first = [(found[above][0], address) for _, address in ordered if place_of(address) in places]
            if len(first) >= wanted - above:
                ties = first[: wanted - above]
        return self._by_id([*found[:above], *ties])[:wanted]

    def _by_id(self, found: Sequence[Found]) -> list[EngineHit]:
        rounded = [(round(score, SCORE_DECIMALS), address) for score, address in found]
        hits = self._passages.hits(rounded)
        return by_score(hits) if len({score for score, _ in rounded}) < len(rounded) else hits

    def _best_of_words(
        self, words: Sequence[Word], filters: Filters, limit: int, floors: Floors
    ) -> list[Found] | None:
        """Return the best hits of an OR of words without reading all postings; None if all are needed."""
        postings = postings_of(words, self._frequency, self._documents)
        if not postings:
            return None
        floor = floors.of(words, limit)
        read = needed(postings, floor, limit)
        for _ in range(MOST_SEARCHES):
            if read >= len(postings):
                break
            query = filtered(with_lookups(postings, read), filters)
            found = self._searcher.search(query, limit, count=False).hits
            worst = float(found[-1][0]) if len(found) == limit else 0.0
            if is_sure(postings, read, max(worst, floor)):
                floors.note(words, limit, worst)
                return found
            floor = max(floor, worst)
            read = max(read + 1, needed(postings, floor, limit))
        return None

    def _in_id_order(self, query: tantivy.Query, limit: int) -> list[EngineHit]:
        return self._passages.hits([(0.0, address) for _, address in self._ordered_by_id(query, limit)])

    def _ordered_by_id(self, query: tantivy.Query, limit: int) -> list[tuple[str, tantivy.DocAddress]]:
        return self._searcher.search(
            query, limit, count=False, order_by_field="passage_id", order=tantivy.Order.Asc
        ).hits


class Satisfying:
    """The passages that satisfy filters."""

    def __init__(self, searcher: tantivy.Searcher, filters: Filters) -> None:
        self._searcher = searcher
        self._filters = filters

    def among(self, passage_ids: Sequence[str]) -> set[str]:
        """Return the given passages that satisfy the filters."""
        return set(self._ids(compiled(Exact("passage_id", tuple(passage_ids))), len(passage_ids)))

    def all_if_few(self) -> list[str] | None:
        """Return all passages that satisfy the filters; None if there are too many to list."""
        found = self._ids(tantivy.Query.all_query(), FEW + 1)
        return found if len(found) <= FEW else None

    def _ids(self, query: tantivy.Query, most: int) -> list[str]:
        narrowed = filtered(query, self._filters)
        found = self._searcher.search(
            narrowed, max(1, most), count=False, order_by_field="passage_id", order=tantivy.Order.Asc
        ).hits
        return [passage_id for passage_id, _ in found]


def _descending(hit: Found) -> float:
    return -round(hit[0], SCORE_DECIMALS)
