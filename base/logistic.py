"""Logistic regressions: weights and features by name, a likelihood between 0 and 1."""

import math
from collections.abc import Mapping


def sigmoid(value: float) -> float:
    """Return 1 / (1 + exp(-value)), also where the power would be too large a number."""
    return 0.5 * (1 + math.tanh(0.5 * value))


def likelihood(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """Return the regression's value, with six decimals; `bias` is the weight of no feature."""
    total = weights["bias"] + math.fsum(weights[name] * value for name, value in features.items())
    return round(sigmoid(total), 6)
