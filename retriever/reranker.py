"""The lexical order of candidates: a weighted sum of features, tuned on training questions only.

Two weightings: for the first few places exactness counts, so the sum stays close to BM25; below them what
the best passages talk about counts more, so that a passage with other words than the question's comes up. The
weights are found by `python -m eval.experiments.tuning`.
"""

from collections.abc import Mapping, Sequence

from retriever.features import FEATURES, Features

HEAD = 7  # places ordered by HEAD_WEIGHTS; the rest by TAIL_WEIGHTS

HEAD_WEIGHTS: Mapping[str, float] = {"base": 1.0, "coverage": 0.15, "feedback": 0.5, "brevity": 0.05}
TAIL_WEIGHTS: Mapping[str, float] = {
    "base": 0.2,
    "coverage": 0.15,
    "window": 0.3,
    "numbers": 0.1,
    "feedback": 1.0,
    "lead": 0.1,
}


def lexical_order(candidates: Sequence[Features]) -> list[tuple[int, float]]:
    """Order candidates; return (index, score) with scores that fall with the rank.

    Ties keep the order given, which is by the engine's score, then passage_id.
    """
    by_head = sorted(range(len(candidates)), key=lambda index: -weighted(candidates[index], HEAD_WEIGHTS))
    head, rest = by_head[:HEAD], by_head[HEAD:]
    tail = sorted(rest, key=lambda index: -weighted(candidates[index], TAIL_WEIGHTS))
    scores = [weighted(candidates[index], HEAD_WEIGHTS) for index in head]
    floor = scores[-1] if scores else 0.0
    highest = max((weighted(candidates[index], TAIL_WEIGHTS) for index in tail), default=0.0) or 1.0
    scores += [floor * 0.999 * weighted(candidates[index], TAIL_WEIGHTS) / highest for index in tail]
    return list(zip(head + tail, scores, strict=True))


def weighted(features: Features, weights: Mapping[str, float]) -> float:
    """Return the weighted sum of features."""
    values = zip(FEATURES, features.values(), strict=True)
    return sum(weights[name] * value for name, value in values if name in weights)
