"""Statistics of runs: overlap, significance, and intervals, with values computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import (
    bootstrap_interval,
    compare,
    mean_overlap,
    mean_rank_biased_overlap,
    overlap,
    paired_randomization,
    rank_biased_overlap,
)

RANKINGS = st.lists(st.sampled_from("abcdefghij"), unique=True)
VALUES = st.floats(0, 1).map(lambda value: round(value, 3))


def run(**rankings):
    return {query_id: [(found, 1.0) for found in ranking] for query_id, ranking in rankings.items()}


def test_the_mean_takes_the_first_k_of_every_question_of_either_run():
    # q1: {a, b} both; q2 and q3: nothing in common.
    assert mean_overlap(run(q1="abc", q2="xy"), run(q1="bac", q3="z"), k=2) == (2 / 2 + 0 + 0) / 3
    assert mean_rank_biased_overlap(run(q1="ab"), run(q1="ab", q2="c")) == pytest.approx((1 + 0) / 2)
    assert overlap("abcd", "bxa") == 2 / 4


def test_rank_biased_overlap_by_hand():
    # (1 − p) / p = 1: 0/1 · 1/2 + 2/2 · 1/4, and the rest of the weight 2/2 · 1/4.
    assert rank_biased_overlap("ab", "ba", p=0.5) == 1 / 4 + 1 / 4
    # X = 1, 1, 2 and s = 1, l = 3, p = 1/2, equation 32:
    # 1/1 · 1/2 + 1/2 · 1/4 + 1/3 · 1/8 + 1·1/(1·2) · 1/4 + 1·2/(1·3) · 1/8 + ((1 − 1)/3 + 1/1) · 1/8
    expected = 1 / 2 + 1 / 8 + 1 / 24 + 1 / 8 + 1 / 12 + 1 / 8
    assert rank_biased_overlap("a", "abc", p=0.5) == pytest.approx(expected)


@given(RANKINGS, RANKINGS, st.floats(0.1, 0.99))
def test_overlap_has_no_direction_and_lies_between_zero_and_one(a, b, p):
    agreement = rank_biased_overlap(a, b, p)
    assert agreement == pytest.approx(rank_biased_overlap(b, a, p))
    assert -1e-9 <= agreement <= 1 + 1e-9
    assert rank_biased_overlap(a, a, p) == pytest.approx(1.0)
    assert rank_biased_overlap(a, "") == (not a)


@pytest.mark.parametrize(
    ("a", "b", "p"),
    [
        ([0, 0, 0], [0.5, 0.5, 0.5], 2 / 8),
        # |±1 ±2 ±3 ±4| ≥ |1 + 2 + 3 − 4| = 2 in all but the two that give 0: 1 − 2 − 3 + 4 and its reverse.
        ([0, 0, 0, 4], [1, 2, 3, 0], 14 / 16),
        ([0, 0, 0, 0.3, 1], [0.5, 0.5, 0.5, 0.3, 1], 2 / 8),
        ([0.2, 0.4], [0.2, 0.4], 1.0),
    ],
)
def test_p_is_the_share_of_swappings_with_at_least_such_a_gain(a, b, p):
    assert paired_randomization(a, b) == p


def test_the_estimate_is_close_to_the_enumeration():
    generator = np.random.default_rng(7)
    a, b = generator.random(14).tolist(), generator.random(14).tolist()
    exact = paired_randomization(a, b)
    # Three differences too small to matter make 17 pairs, too many to enumerate.
    estimated = paired_randomization(a + [0.0] * 3, b + [1e-12] * 3, trials=50_000)
    assert estimated == pytest.approx(exact, abs=0.01)
    assert paired_randomization([0.0] * 60, [1.0] * 60, trials=999) == 1 / 1000  # never zero


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40))
def test_test_and_interval_do_not_depend_on_the_order_of_the_runs(pairs):
    a, b = zip(*pairs, strict=True)
    p = paired_randomization(a, b, trials=500)
    assert 0 < p <= 1
    assert p == paired_randomization(b, a, trials=500)
    low, high = bootstrap_interval(a, b, resamples=300)
    assert bootstrap_interval(b, a, resamples=300) == pytest.approx((-high, -low), abs=1e-9)


def test_a_comparison_counts_gains_of_the_second():
    found = compare([0.0, 0.5, 1.0, 0.0], [0.5, 0.5, 0.5, 1.0])
    assert (found.a, found.b, found.difference) == (0.375, 0.625, 0.25)
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.p_value == 6 / 8  # ±.5 ±.5 ±1: six of the eight sums are at least 1 from 0
    for a, b in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="same questions"):
            paired_randomization(a, b)
