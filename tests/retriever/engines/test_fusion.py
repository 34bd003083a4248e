"""Reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.engines.ordering import reciprocal_rank_fusion

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=10)


def test_an_items_score_is_the_sum_of_its_reciprocal_ranks():
    fused = dict(reciprocal_rank_fusion([["a", "b", "c"], ["c", "a"]]))

    assert fused == {
        "a": pytest.approx(1 / 61 + 1 / 62),
        "b": pytest.approx(1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
    }


def test_ties_break_by_the_item():
    assert [one.item for one in reciprocal_rank_fusion([["b", "a"], ["a", "b"]])] == ["a", "b"]


@given(rankings=RANKINGS)
def test_each_item_comes_once_by_falling_score(rankings):
    fused = reciprocal_rank_fusion(rankings)

    assert sorted(one.item for one in fused) == sorted({item for ranking in rankings for item in ranking})
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)


@given(data=st.data(), rankings=RANKINGS)
def test_the_order_of_the_rankings_changes_nothing(data, rankings):
    shuffled = data.draw(st.permutations(rankings))

    assert reciprocal_rank_fusion(shuffled) == reciprocal_rank_fusion(rankings)
