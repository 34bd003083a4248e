"""Logistic regressions stay between 0 and 1, whatever the numbers."""

import math

import pytest

from base.logistic import likelihood, sigmoid


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0.5), (2.0, 0.880797), (-1e9, 0.0), (1e9, 1.0)])
def test_a_sigmoid_is_computed_for_any_number(value, expected):
    assert sigmoid(value) == pytest.approx(expected, abs=1e-6)


def test_features_are_weighed_by_name_beside_the_bias():
    assert likelihood({"bias": -1.0, "words": 2.0}, {"words": 0.5}) == 0.5
    assert likelihood({"bias": 0.0, "words": 1.0}, {"words": math.log(3)}) == 0.75
