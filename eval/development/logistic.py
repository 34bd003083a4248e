"""Logistic regressions fitted to judgements: what `base/logistic.py` computes with."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

RIDGE, STEPS = 1e-3, 50  # of Newton's method


def fit(
    rows: Sequence[Mapping[str, float]],
    relevant: Sequence[bool],
    *,
    balanced: bool = False,
    weighing: Sequence[float] | None = None,
    sets: Sequence[str] = (),
) -> dict[str, float]:
    """Return the weights of features by name, and the bias, with three decimals.

    Args:
        rows: the features of each example.
        relevant: the class of each example.
        balanced: relevant and other rows have the same total weight.
        weighing: weight of each row, if not balanced; default 1.
        sets: the set of each row; with `balanced` the sets have equal weight too.
    """
    names = ["bias", *rows[0]]
    values = np.array([[1.0, *row.values()] for row in rows])
    target = np.array(relevant, float)
    each = np.ones(len(rows)) if weighing is None else np.array(weighing)
    if balanced:
        groups = list(zip(sets or [""] * len(rows), relevant, strict=True))
        sizes = Counter(groups)
        each = np.array([0.5 / sizes[group] for group in groups])
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(values @ weights)))
        slope = values.T @ (each * (likely - target)) + RIDGE * weights
        curve = (values.T * (each * likely * (1 - likely))) @ values + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
