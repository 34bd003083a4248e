"""Pruning of postings that are not needed for the best passages of an OR of words (MaxScore).

A word adds at most weight · idf · (k1 + 1) to a score. If the most common words together add less than the
score of the worst wanted hit, a passage with only these words is not among the hits. So only the postings of
the other words are read, and the common words are looked up in these passages (Turtle & Flood, "Query
evaluation: strategies and optimizations", 1995). Hits and scores are the same as without pruning.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexer.files.schema import BM25_K1
from retriever.queries.boolean import Or, Query, Term

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


class Floors:
    """Lower bounds on the score of the last wanted hit, from queries with a part of the words.

    A query scores at least as much as a part of its words. A word that occurs twice in a query counts twice.
    """

    def __init__(self) -> None:
        """Start without bounds."""
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
