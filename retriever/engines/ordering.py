"""The order of hits in all engines, by score, then passage_id; and the fusion of several orders."""

from collections.abc import Callable, Iterable, Sequence
from math import fsum
from operator import attrgetter
from typing import NamedTuple, TypeVar

from retriever.engines import EngineHit

Found = TypeVar("Found")
BY_PAPER: Callable[[EngineHit], str] = attrgetter("doc_id")

# Scores are single-precision sums in an order that the engine chooses, so only four decimals are significant.
SCORE_DECIMALS = 4
COSINE_DECIMALS = 6  # the cluster's are single-precision, of (1 + cosine) / 2
# Hits read beyond k at first, so that most ties and passages of one paper need no second search.
MARGIN = 8
RANK_CONSTANT = 60  # of reciprocal rank fusion


def by_score(hits: Iterable[EngineHit]) -> list[EngineHit]:
    """Return hits by score, then passage_id."""
    by_id = sorted(hits, key=attrgetter("passage_id"))
    return sorted(by_id, key=attrgetter("score"), reverse=True)  # a stable sort


def rounded_cosine(cosine: float) -> float:
    """Round a cosine to the precision common to both engines."""
    return round(cosine, COSINE_DECIMALS)


def surely_first(read: Sequence[EngineHit], *, whole: bool) -> list[EngineHit]:
    """Return in order the nearest passages read, without passages that may tie with an unread one."""
    hits = by_score(read)
    return hits if whole else [hit for hit in hits if hit.score > hits[-1].score]


def settled(read: Sequence[EngineHit], limit: int, k: int, *, collapse: bool) -> list[EngineHit] | None:
    """Return the first k of the hits read, or None if more must be read.

    Unread hits may tie with the last hit read, so only hits with a higher score have a definite place. With
    `collapse` a paper is returned once, by its best passage.

    Args:
        read: hits in the order of the engine.
        limit: the requested number of hits; if fewer were read, no hits are left.
        k: the number of hits to return.
        collapse: whether to return papers.
    """
    hits = by_score(read)
    whole = len(read) < limit
    kept = first_of_each_paper(hits, BY_PAPER) if collapse else hits
    by_id = bool(hits) and hits[0].score == 0  # only filters: all tie, and were read in order of id
    sure = kept if whole or by_id else [hit for hit in kept if hit.score > hits[-1].score]
    return sure[:k] if whole or len(sure) >= k else None


def first_of_each_paper(hits: Sequence[Found], doc_id: Callable[[Found], str]) -> list[Found]:
    """Keep the first of the hits of each paper."""
    papers = list(map(doc_id, hits))
    if len(set(papers)) == len(papers):
        return list(hits)
    first: dict[str, Found] = {}
    for paper, hit in zip(papers, hits, strict=True):
        first.setdefault(paper, hit)
    return list(first.values())


class Scored(NamedTuple):
    """An item with its score."""

    item: str
    score: float


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]]) -> list[Scored]:
    """Fuse rankings by summed 1 / (60 + rank) (Cormack, Clarke & Büttcher, SIGIR 2009).

    Ties break by the item itself, so the result does not depend on the order of the rankings.
    """
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            shares.setdefault(item, []).append(1 / (RANK_CONSTANT + rank))
    # fsum: rounded once, so that the order of the rankings cannot break a tie.
    fused = [Scored(item, fsum(parts)) for item, parts in shares.items()]
    return sorted(fused, key=lambda one: (-one.score, one.item))
