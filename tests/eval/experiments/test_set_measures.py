"""Precision, recall and F1 of sets, with values computed by hand."""

import pytest

from eval.experiments.finding.set_measures import SetCounts, harmonic_mean, recall_at, set_scores

HALF = SetCounts(retrieved=4, relevant=2, found=1)  # precision 1/4, recall 1/2, F1 2/6
WHOLE = SetCounts(retrieved=1, relevant=1, found=1)
NOTHING = SetCounts(retrieved=0, relevant=5, found=0)


def test_counts_are_of_distinct_ids():
    assert SetCounts.of(["a", "b", "a", "c", "d"], {"a", "e"}) == HALF


def test_precision_recall_and_f1_of_a_question():
    assert (HALF.precision, HALF.recall) == (0.25, 0.5)
    assert HALF.f1 == pytest.approx(1 / 3)


def test_nothing_retrieved_has_no_precision_and_recall_0():
    assert (NOTHING.precision, NOTHING.recall, NOTHING.f1) == (None, 0, 0)


def test_nothing_relevant_has_no_recall_and_no_f1():
    none = SetCounts(retrieved=3, relevant=0, found=0)
    assert (none.precision, none.recall, none.f1) == (0, None, None)


def test_f1_is_of_the_means_and_mean_f1_of_the_questions():
    scores = set_scores([HALF, WHOLE])
    assert scores.precision == 0.625  # (1/4 + 1) / 2
    assert scores.recall == 0.75  # (1/2 + 1) / 2
    assert scores.f1 == pytest.approx(2 * 0.625 * 0.75 / 1.375)
    assert scores.mean_f1 == pytest.approx(2 / 3)  # (1/3 + 1) / 2


def test_a_question_without_papers_counts_in_recall_and_not_in_precision():
    scores = set_scores([HALF, NOTHING])
    assert (scores.precision, scores.recall, scores.answered) == (0.25, 0.25, 1)
    assert scores.mean_f1 == pytest.approx(1 / 6)


def test_without_any_paper_precision_and_f1_are_missing():
    scores = set_scores([NOTHING, NOTHING])
    assert (scores.f1, scores.precision, scores.recall, scores.mean_f1) == (None, None, 0, 0)


def test_spars_f1_is_the_harmonic_mean_of_its_printed_means():
    assert harmonic_mean(0.3612, 0.4105) == pytest.approx(0.3843, abs=0.00005)


def test_nothing_found_has_f1_0():
    assert harmonic_mean(0.0, 0.0) == 0


def test_recall_at_5_counts_the_first_five():
    assert recall_at(5, ["a", "x", "y", "z", "u", "b"], {"a", "b", "c", "d"}) == 0.25
