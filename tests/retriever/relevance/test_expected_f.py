"""The expected F of the best list of papers."""

import pytest

from retriever.relevance.expected_f import highest_expected_f


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
