"""Logistic regressions fitted to judgements: what `retriever/logistic.py` computes with."""

from collections.abc import Mapping, Sequence

import numpy as np

RIDGE, STEPS = 1e-3, 50  # of Newton's method


def fit(
    rows: Sequence[Mapping[str, float]], relevant: Sequence[bool], *, balanced: bool = False
) -> dict[str, float]:
    """Return the weights of features by name, and the bias, with three decimals.

    With `balanced` relevant and other rows weigh the same in all; else each row weighs 1.
    """
    names = ["bias", *rows[0]]
    values = np.array([[1.0, *row.values()] for row in rows])
    target = np.array(relevant, float)
    weighing = np.where(target > 0, 0.5 / target.sum(), 0.5 / (1 - target).sum()) if balanced else 1.0
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(values @ weights)))
        slope = values.T @ (weighing * (likely - target)) + RIDGE * weights
        curve = (values.T * (weighing * likely * (1 - likely))) @ values + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}
