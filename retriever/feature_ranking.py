"""The order of candidates by their features: a weighted sum of features, tuned on training questions only.

Two weightings: the first few ranks need precision, so the sum stays close to BM25; below them the terms of
the best passages weigh more, so that passages with other words than the question's move up. The weights are
found by `python -m eval.experiments.tuning`.
"""

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import mul

from retriever.features import Features
from retriever.fusion import Scored

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
# Beside the cosine; found on tydi's English training questions (python -m eval.experiments.semantic_tuning).
SEMANTIC_WEIGHTS: Mapping[str, float] = {"coverage": 0.1, "window": 0.2}
BASE_WEIGHT = 0.3
COSINE_WEIGHT = 1.0


def lexical_order(candidates: Sequence[Features]) -> list[tuple[int, float]]:
    """Order candidates; return (index, score) with scores that fall with the rank.

    Ties keep the order given, which is by the engine's score, then passage_id.
    """
    head_scores = [weighted(row, HEAD_WEIGHTS) for row in candidates]
    tail_scores = [weighted(row, TAIL_WEIGHTS) for row in candidates]
    by_head = sorted(range(len(candidates)), key=lambda index: -head_scores[index])
    head, rest = by_head[:HEAD], by_head[HEAD:]
    tail = sorted(rest, key=lambda index: -tail_scores[index])
    scores = [head_scores[index] for index in head]
    floor = scores[-1] if scores else 0.0
    highest = max((tail_scores[index] for index in tail), default=0.0) or 1.0
    scores += [floor * 0.999 * tail_scores[index] / highest for index in tail]
    return list(zip(head + tail, scores, strict=True))


def cosine_order(ranking: Sequence[Scored], cosines: Mapping[str, float]) -> list[Scored]:
    """Order by cosine; what has no vector stays behind, in the order given.

    Scores are cosines, and less than -1 where there is none.
    """
    with_vector = [Scored(item, cosines[item]) for item, _ in ranking if item in cosines]
    without = [item for item, _ in ranking if item not in cosines]
    ordered = sorted(with_vector, key=lambda scored: (-scored.score, scored.item))
    return ordered + [Scored(item, -1 - place) for place, item in enumerate(without, 1)]


def semantic_order(
    candidates: Sequence[Features], cosines: Sequence[float | None]
) -> list[tuple[int, float]]:
    """Order candidates by a weighted sum of features and cosine; return (index, score), the best first.

    Encoders differ in which cosines they give, so that of a question's candidates the least counts 0 and the
    highest 1; the engine's score counts as a share of the best one's. What has no vector counts 0. Ties keep
    the order given.
    """
    best = _best_base(candidates)
    scores = [
        weighted(row, SEMANTIC_WEIGHTS) + BASE_WEIGHT * row.base / best + COSINE_WEIGHT * cosine
        for row, cosine in zip(candidates, _stretched(cosines), strict=True)
    ]
    places = sorted(range(len(scores)), key=lambda place: -scores[place])
    return [(place, scores[place]) for place in places]


def lexical_contributions(features: Features, place: int) -> dict[str, tuple[float, float]]:
    """Return the (value, weight) of each feature that ordered the hit at a place, from 1."""
    weights = HEAD_WEIGHTS if place <= HEAD else TAIL_WEIGHTS
    return {name: (getattr(features, name), weight) for name, weight in weights.items()}


def semantic_contributions(
    candidates: Sequence[Features], cosines: Sequence[float | None], index: int
) -> dict[str, tuple[float, float]]:
    """Return the (value, weight) of each part of a candidate's score by features and cosine."""
    row = candidates[index]
    return {
        "cosine": (_stretched(cosines)[index], COSINE_WEIGHT),
        "base": (row.base / _best_base(candidates), BASE_WEIGHT),
        **{name: (getattr(row, name), weight) for name, weight in SEMANTIC_WEIGHTS.items()},
    }


def _best_base(candidates: Sequence[Features]) -> float:
    return max((row.base for row in candidates), default=0.0) or 1.0


def _stretched(cosines: Sequence[float | None]) -> list[float]:
    """Return cosines between 0, the least, and 1, the highest."""
    known = [cosine for cosine in cosines if cosine is not None]
    least, room = min(known), (max(known) - min(known)) or 1.0
    return [0.0 if cosine is None else (cosine - least) / room for cosine in cosines]


def weighted(features: Features, weights: Mapping[str, float]) -> float:
    """Return the weighted sum of features."""
    total: float = sum(map(mul, weights.values(), map(getattr, repeat(features), weights)))
    return total
