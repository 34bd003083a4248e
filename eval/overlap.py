"""Similarity of two runs without judgements: common first k, and rank-biased overlap."""

from collections.abc import Mapping, Sequence

Rankings = Mapping[str, Sequence[tuple[str, float]]]


def mean_overlap(a: Rankings, b: Rankings, k: int = 10) -> float:
    """Return the mean share of the first k that two runs have in common, over the questions of either.

    If a ranking is shorter than k, the length of the longer one is used; two empty rankings are equal.
    ValueError if neither run contains a question.
    """
    return _mean([overlap(_ids(a, query_id)[:k], _ids(b, query_id)[:k]) for query_id in _questions(a, b)])


def mean_rank_biased_overlap(a: Rankings, b: Rankings, p: float = 0.9) -> float:
    """Return the mean rank-biased overlap of two runs, over the questions of either."""
    return _mean(
        [rank_biased_overlap(_ids(a, query_id), _ids(b, query_id), p) for query_id in _questions(a, b)]
    )


def overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """Return the share of the longer list that is in both."""
    longer = max(len(a), len(b))
    return len({*a} & {*b}) / longer if longer else 1.0


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings, from 0 to 1.

    Webber, Moffat & Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, equation 32.
    The lower p, the higher the weight of the first ranks: at .9 the first ten have 86 % of the weight.
    """
    shorter, longer = sorted((a, b), key=len)
    s, last = len(shorter), len(longer)
    if not s:
        return 1.0 if not last else 0.0
    seen: set[str] = set()
    other: set[str] = set()
    common = common_at_s = 0
    total = 0.0
    for depth, item in enumerate(longer, 1):
        if depth <= s:
            other.add(shorter[depth - 1])
            common += shorter[depth - 1] in seen
        seen.add(item)
        common += item in other
        total += common / depth * p**depth
        if depth == s:
            common_at_s = common
        elif depth > s:
            total += common_at_s * (depth - s) / (s * depth) * p**depth
    tail = (common - common_at_s) / last + common_at_s / s
    return (1 - p) / p * total + tail * p**last


def _questions(a: Rankings, b: Rankings) -> list[str]:
    return list(dict.fromkeys((*a, *b)))


def _ids(run: Rankings, query_id: str) -> list[str]:
    return [found for found, _ in run.get(query_id, ())]


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("neither run contains a question")
    return sum(values) / len(values)
