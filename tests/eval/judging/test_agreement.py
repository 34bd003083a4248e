"""Agreement of assessors, with values computed by hand."""

import pytest

from eval.judging.agreement import agreements, percent
from eval.judging.records import Assessment
from eval.kappa import cohens_kappa

# Both say relevant 20 times, the first alone 5, the second alone 10, neither 15 times. 35 of 50 are equal,
# p_o = .7; p_e = .5 · .6 + .5 · .4 = .5, so kappa = .2 / .5 = .4.
FIFTY = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15


def graded(*grades):
    return {
        ("Q1", ("papers", f"P{number}")): Assessment("Q1", ("papers", f"P{number}"), grade, "t")
        for number, grade in enumerate(grades)
    }


def test_kappa_of_two_grades():
    assert percent(FIFTY) == 70
    assert cohens_kappa(FIFTY) == pytest.approx(0.4)


def test_kappa_of_four_grades():
    # p_o = 3/6. Firsts: 0 twice, 1 once, 2 twice, 3 once; seconds: 0 twice, 1 twice, 2 once, 3 once.
    # p_e = (2·2 + 1·2 + 2·1 + 1·1) / 36 = 9/36, kappa = (18 − 9) / (36 − 9).
    grades = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 3), (3, 0)]
    assert cohens_kappa(grades) == pytest.approx(9 / 27)


def test_kappa_is_1_for_equal_grades_and_negative_below_chance():
    assert cohens_kappa([(0, 0), (3, 3)]) == 1
    assert cohens_kappa([(0, 1), (1, 0)]) == -1


def test_kappa_of_a_single_common_grade_is_unknown():
    assert cohens_kappa([(2, 2)] * 5) is None


def test_only_papers_that_both_graded_count():
    [found] = agreements({"kim": graded(0, 1, None, 3), "lee": graded(0, 2, 1)})
    assert (found.first, found.second, found.papers) == ("kim", "lee", 2)
    assert found.percent == 50
    assert found.kappa == pytest.approx((2 * 1 - 1) / (4 - 1))  # grade 0 once by each
    assert (found.percent_relevant, found.kappa_relevant) == (100, 1)


def test_each_two_of_three_assessors_are_compared():
    found = agreements({"a": graded(0), "b": graded(1), "c": graded(1)})
    assert [(each.first, each.second, each.percent) for each in found] == [
        ("a", "b", 0),
        ("a", "c", 0),
        ("b", "c", 100),
    ]


def test_assessors_without_a_common_paper_are_left_out():
    assert agreements({"kim": graded(None), "lee": graded(1)}) == []
