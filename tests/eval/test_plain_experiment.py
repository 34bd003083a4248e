"""Figures of plain questions, computed from outcomes written out by hand."""

from dataclasses import replace

import pytest

from eval.experiments.plain import figures_of, plain_rows
from eval.experiments.sample import Question, finding_figures


def asked(scope, rank=None, likelihood=0.5, *, abstained=False, language="en", cross_lingual=False):
    topic = {"scope": scope, "language": language, "corpus": "sample", "cross_lingual": cross_lingual}
    return topic, Question("P1", "", rank, likelihood, abstained, quoted=0, to_the_point=0)


ASKED = [
    asked("in", 1, 0.9),
    asked("in", 2, 0.6, cross_lingual=True),
    asked("in", 3, 0.3, abstained=True),
    asked("in", None, 0.7),
    asked("near", likelihood=0.4, abstained=True),
    asked("far", likelihood=0.8),
]


def test_a_question_in_scope_finds_a_paper_among_the_first_two():
    assert figures_of(ASKED)["found"] == pytest.approx(2 / 4)


def test_questions_in_scope_are_answered_and_others_declined():
    figures = figures_of(ASKED)

    assert figures["answered"] == pytest.approx(3 / 4)
    assert figures["declined"] == pytest.approx(1 / 2)


def test_likelihoods_in_scope_lie_above_others():
    assert figures_of(ASKED)["AUROC"] == pytest.approx((2 + 1 + 0 + 1) / 8)


def test_groups_compare_their_questions_with_those_of_the_other_kind():
    rows = {
        row.subject["of"]: row.figures
        for row in plain_rows(
            [*ASKED, asked("in", 1, language="ko"), asked("far", language="ko")],
            "tune",
            ["near", "cross-lingual", "Korean"],
        )
    }

    assert (rows["near"]["in scope"], rows["near"]["out of scope"]) == (5, 1)
    assert (rows["cross-lingual"]["in scope"], rows["cross-lingual"]["out of scope"]) == (1, 3)
    assert (rows["Korean"]["in scope"], rows["Korean"]["out of scope"]) == (1, 1)


def test_findings_among_the_quoted_sentences_are_counted():
    _, question = asked("in", 1)
    first = replace(question, sentences=("Yields rose by 9%.", "Rice is grown.", "Methane fell by 5%."))
    second = replace(question, query_id="P2", sentences=("Nurses work.", "Turnover fell by 3%."))
    declined = replace(question, query_id="P3")
    unmarked = replace(question, query_id="P4", sentences=("Bees fly.",))
    strings = {"P1": ["9%", "5%"], "P2": ["3%"], "P3": ["1%"]}

    assert finding_figures([first, second, declined, unmarked], strings) == {
        "questions": 3,
        "open with a finding": 0.333,
        "quote a finding": 0.667,
        "quoted sentences": 5,
        "findings among them": 0.6,
    }
