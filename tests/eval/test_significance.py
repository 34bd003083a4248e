import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import bootstrap_interval, compare, paired_randomization

VALUES = st.floats(0, 1).map(lambda value: round(value, 3))
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([0, 0, 0], [0.5, 0.5, 0.5], 2 / 8),
        # |±1 ±2 ±3 ±4| ≥ |1 + 2 + 3 − 4| = 2 in all but the two that give 0: 1 − 2 − 3 + 4 and its reverse.
        ([0, 0, 0, 4], [1, 2, 3, 0], 14 / 16),
        ([0, 0, 0, 0.3, 1], [0.5, 0.5, 0.5, 0.3, 1], 2 / 8),
        ([0.2, 0.4], [0.2, 0.4], 1.0),
    ],
    ids=["equal gains", "unequal gains", "pairs that do not differ", "equal runs"],
)
def test_p_is_the_share_of_swappings_with_at_least_such_a_gain(a, b, p):
    assert paired_randomization(a, b) == p


def test_the_estimate_is_close_to_what_enumeration_gives():
    generator = np.random.default_rng(7)
    a, b = generator.random(14).tolist(), generator.random(14).tolist()
    exact = paired_randomization(a, b)
    # Three differences too small to matter make 17 pairs, too many to enumerate.
    estimated = paired_randomization(a + [0.0] * 3, b + [1e-12] * 3, trials=50_000)

    assert estimated == pytest.approx(exact, abs=0.01)
    assert paired_randomization([0.0] * 60, [1.0] * 60, trials=999) == 1 / 1000  # never zero


@given(PAIRS)
def test_test_and_interval_do_not_depend_on_the_order_of_the_runs(pairs):
    a, b = zip(*pairs, strict=True)
    p = paired_randomization(a, b, trials=500)

    assert 0 < p <= 1
    assert p == paired_randomization(b, a, trials=500)
    low, high = bootstrap_interval(a, b, resamples=300)
    assert bootstrap_interval(b, a, resamples=300) == pytest.approx((-high, -low), abs=1e-9)


def test_the_interval_of_a_mean_is_about_two_standard_errors_to_each_side():
    # 100 gains of 1 and 100 of 0: mean .5, standard error √(.25 / 200) = .0354.
    low, high = bootstrap_interval([0.0] * 200, [1.0, 0.0] * 100)

    assert low == pytest.approx(0.5 - 1.96 * 0.0354, abs=0.01)
    assert high == pytest.approx(0.5 + 1.96 * 0.0354, abs=0.01)


def test_a_comparison_counts_what_the_second_gains():
    found = compare([0.0, 0.5, 1.0, 0.0], [0.5, 0.5, 0.5, 1.0])

    assert (found.a, found.b, found.difference) == (0.375, 0.625, 0.25)
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    # ±.5 ±.5 ±1: six of the eight sums are at least 1 from 0.
    assert found.p_value == 6 / 8


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0])])
def test_what_is_not_paired_is_refused(a, b):
    with pytest.raises(ValueError, match="same questions"):
        paired_randomization(a, b)
