"""The lexical order of candidates."""

import pytest

from retriever.feature_ranking import lexical_order, weighted
from retriever.features import FEATURES, Features


def features(**values):
    return Features(**(dict.fromkeys(FEATURES, 0.0) | values))


def test_the_weighted_sum_takes_the_features_that_have_a_weight():
    found = weighted(features(base=0.5, coverage=0.2, title=9.0), {"base": 2.0, "coverage": 0.5})

    assert found == pytest.approx(0.5 * 2.0 + 0.2 * 0.5)


def test_the_first_places_go_by_the_head_weights():
    candidates = [features(base=0.4), features(base=0.2, feedback=0.6), features(base=0.1)]

    places, scores = zip(*lexical_order(candidates), strict=True)

    assert places == (1, 0, 2)
    assert scores == pytest.approx((0.2 + 0.5 * 0.6, 0.4, 0.1))


def test_behind_the_head_the_tail_weights_count():
    head = [features(base=0.9)] * 7
    # By the head's weights the eighth leads (.5 to .45), by the tail's the ninth (.1 to .39).
    tail = [features(base=0.5), features(feedback=0.3, window=0.3)]

    order = lexical_order([*head, *tail])

    assert [place for place, _ in order] == [0, 1, 2, 3, 4, 5, 6, 8, 7]


def test_scores_of_the_tail_lie_below_the_heads_last():
    tail = [features(base=0.5), features(base=0.25)]

    scores = [score for _, score in lexical_order([features(base=0.8)] * 7 + tail)]

    assert scores[:7] == [0.8] * 7
    assert scores[7:] == [pytest.approx(0.8 * 0.999), pytest.approx(0.8 * 0.999 / 2)]


def test_ties_keep_the_order_given():
    assert [place for place, _ in lexical_order([features(base=0.3)] * 12)] == list(range(12))


def test_no_candidates_have_no_order():
    assert lexical_order([]) == []


def test_candidates_without_any_feature_score_zero():
    assert lexical_order([features()] * 9) == [(place, 0.0) for place in range(9)]
