import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics import mean_overlap, mean_rank_biased_overlap, overlap, rank_biased_overlap

RANKINGS = st.lists(st.sampled_from("abcdefghij"), unique=True)


def run(**rankings):
    return {query_id: [(found, 1.0) for found in ranking] for query_id, ranking in rankings.items()}


def test_the_mean_takes_the_first_k_of_every_question_of_either_run():
    first, second = run(q1="abc", q2="xy"), run(q1="bac", q3="z")

    # q1: {a, b} both; q2 and q3: nothing in common.
    assert mean_overlap(first, second, k=2) == (2 / 2 + 0 + 0) / 3
    assert mean_rank_biased_overlap(run(q1="ab"), run(q1="ab", q2="c")) == pytest.approx((1 + 0) / 2)
    assert overlap("abcd", "bxa") == 2 / 4


def test_two_swapped_items_have_half_the_overlap_at_p_one_half():
    # (1 − p) / p = 1: 0/1 · 1/2 + 2/2 · 1/4, and the rest of the weight 2/2 · 1/4.
    assert rank_biased_overlap("ab", "ba", p=0.5) == 1 / 4 + 1 / 4


def test_rankings_of_different_length_extrapolate_the_shorter():
    # X = 1, 1, 2 and s = 1, l = 3, p = 1/2, equation 32:
    # 1/1 · 1/2 + 1/2 · 1/4 + 1/3 · 1/8 + 1·1/(1·2) · 1/4 + 1·2/(1·3) · 1/8 + ((1 − 1)/3 + 1/1) · 1/8
    expected = 1 / 2 + 1 / 8 + 1 / 24 + 1 / 8 + 1 / 12 + 1 / 8

    assert rank_biased_overlap("a", "abc", p=0.5) == pytest.approx(expected)


@given(RANKINGS, RANKINGS, st.floats(0.1, 0.99))
def test_agreement_has_no_direction_and_lies_between_zero_and_one(a, b, p):
    agreement = rank_biased_overlap(a, b, p)

    assert agreement == pytest.approx(rank_biased_overlap(b, a, p))
    assert -1e-9 <= agreement <= 1 + 1e-9
    assert rank_biased_overlap(a, a, p) == pytest.approx(1.0)
    assert rank_biased_overlap(a, "") == (not a)
