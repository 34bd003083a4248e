"""Fusing rankings."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple


class Scored(NamedTuple):
    """An item with its score."""

    item: str
    score: float


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], *, k: int = 60) -> list[Scored]:
    """Fuse rankings by summed 1 / (k + rank) (Cormack, Clarke & Büttcher, SIGIR 2009).

    Ties break by the item itself, so the result does not depend on the order of the rankings.
    """
    shares: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            shares.setdefault(item, []).append(1 / (k + rank))
    # fsum: rounded once, so that the order of the rankings cannot break a tie.
    fused = [Scored(item, fsum(parts)) for item, parts in shares.items()]
    return sorted(fused, key=lambda one: (-one.score, one.item))


def cosine_order(ranking: Sequence[Scored], cosines: Mapping[str, float]) -> list[Scored]:
    """Order by cosine; items without a vector follow in their given order.

    Scores are cosines, and below -1 for items without a vector.
    """
    with_vector = [Scored(item, cosines[item]) for item, _ in ranking if item in cosines]
    without = [item for item, _ in ranking if item not in cosines]
    ordered = sorted(with_vector, key=lambda scored: (-scored.score, scored.item))
    return ordered + [Scored(item, -1 - place) for place, item in enumerate(without, 1)]
