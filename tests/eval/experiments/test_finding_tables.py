"""Tables of the experiments on paper finding, from records written by hand."""

import pytest

from eval.experiments.finding.reporting import compared_table, main_numbers, score_table

HALF = {"retrieved": 4, "relevant": 2, "found": 1}  # precision 1/4, recall 1/2, F1 1/3
WHOLE = {"retrieved": 2, "relevant": 2, "found": 2}
NOTHING = {"retrieved": 0, "relevant": 2, "found": 0}

TOPICS = [
    {"runs": {"first": HALF, "second": WHOLE, "by model": None}},
    {"runs": {"first": HALF, "second": NOTHING, "by model": None}},
]


def test_a_row_has_both_kinds_of_f1():
    table = score_table("", "run", TOPICS, "runs", ["second"])
    assert table.columns == ("run", "F1", "recall", "precision", "mean F1", "questions with papers")
    [row] = table.rows
    assert row[0] == "second"
    assert row[1:] == pytest.approx((2 / 3, 0.5, 1.0, 0.5, 1))  # F1 of .5 and 1 is 2/3


def test_a_row_without_any_value_is_empty():
    [row] = score_table("", "run", TOPICS, "runs", ["by model"]).rows
    assert row == ("by model", None, None, None, None, None)


def test_rows_are_compared_with_the_first_one_by_each_questions_f1():
    first, second, empty = compared_table("", "run", TOPICS, "runs", ["first", "second", "by model"]).rows
    assert first[6:] == empty[6:] == (None, None, None, None)
    assert second[6] == "+0.1667"  # (1 + 0) / 2 - 1/3
    assert second[9] == "1 / 0 / 1"


def test_main_numbers_leave_out_what_has_no_value():
    found = main_numbers(TOPICS, "runs", {"first": "a search", "by model": "a model"})
    assert found == {
        "F1, a search": pytest.approx(1 / 3),
        "Recall, a search": 0.5,
        "Precision, a search": 0.25,
    }
