"""Risk by coverage, computed by hand."""

import pytest

from eval.experiments.answering.abstention import best_risks, risk_at, risks

CONFIDENCE, ERRORS = [0.2, 0.9, 0.8, 0.5], [True, False, True, False]


def test_the_risk_is_the_share_of_errors_among_the_most_confident():
    assert risks(CONFIDENCE, ERRORS) == [0, 1 / 2, 1 / 3, 2 / 4]


def test_equal_confidences_share_their_errors():
    assert risks([0.5, 0.5, 0.9], [True, False, False]) == [0, 0.25, pytest.approx(1 / 3)]
    assert risks([0.5, 0.5, 0.9], [False, True, False]) == risks([0.5, 0.5, 0.9], [True, False, False])


def test_the_best_order_has_its_errors_last():
    assert best_risks(ERRORS) == [0, 0, 1 / 3, 2 / 4]


@pytest.mark.parametrize(("coverage", "risk"), [(0.1, 0), (0.25, 0), (0.5, 0.5), (0.6, 1 / 3), (1.0, 0.5)])
def test_the_risk_at_a_coverage_is_that_of_the_next_number_of_questions(coverage, risk):
    assert risk_at(coverage, risks(CONFIDENCE, ERRORS)) == risk
