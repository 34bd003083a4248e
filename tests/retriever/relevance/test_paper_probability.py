"""Probabilities of relevance by the scores of a ranking."""

import math

import pytest

from retriever.relevance.paper_ranking import ScoreCurve, highest_expected_f


def test_the_features_of_a_paper_are_shares_of_the_best_score():
    curve = ScoreCurve.of([2.0, 1.0, 1.0, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7], words=3)
    assert curve.features(1.0) == pytest.approx(
        {
            "share": math.log(0.5 + 0.02),
            "head": math.log(0.72 / 2.02),  # the mean of the fourth to the tenth
            "tail": math.log((0.7 / 21 + 0.02) / 2.02),  # of the tenth to the thirtieth
            "words": math.log(3),
        }
    )


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([], 0.0),
        ([0.9, 0.1], 0.9),  # of the first alone: 2 · .9 / (1 + 1)
        ([0.1, 0.9], 0.9),
        ([0.5, 0.5, 0.5], 0.666667),  # of all: 2 · 1.5 / (3 + 1.5)
        ([1.0], 1.0),
    ],
)
def test_the_best_list_ends_where_the_expected_f_is_highest(probabilities, expected):
    assert highest_expected_f(probabilities) == expected


def test_behind_a_ranking_that_was_cut_as_many_papers_follow_as_probable_as_its_last():
    assert highest_expected_f([0.1] * 100) == 0.166667  # 2 · 10 / (100 + 10 + 10)
    assert highest_expected_f([0.1] * 99) == 0.181818  # 2 · 9.9 / (99 + 9.9)
