"""Citation recall and precision, computed by hand as ALCE defines them."""

import pytest

from eval.answer_quality.citations import Judged, Verdict, citation_scores, parts_of, precise_citations

YES: Verdict = "supported"
NO: Verdict = "unsupported"
FAILED: Verdict = "not judged"
A: tuple[str, ...] = ("a",)
B: tuple[str, ...] = ("b",)
AB: tuple[str, ...] = ("a", "b")


def judged(verdict, *precise):
    return Judged(verdict=verdict, precise=list(precise), hints=[])


def test_one_citation_has_no_parts_to_judge():
    assert parts_of(()) == parts_of(A) == []


def test_the_parts_are_each_citation_and_the_others():
    assert parts_of(AB) == [A, B]
    assert parts_of(("a", "b", "c")) == [A, B, ("c",), ("b", "c"), ("a", "c"), AB]


@pytest.mark.parametrize(("verdict", "precise"), [(YES, True), (NO, False), ("not checked", False)])
def test_one_citation_is_precise_if_it_supports_the_sentence(verdict, precise):
    assert precise_citations(A, {A: verdict}) == [precise]


@pytest.mark.parametrize(
    ("alone", "precise"),
    [
        ({A: YES, B: NO}, [True, False]),  # b is irrelevant: a supports without it
        ({A: YES, B: YES}, [True, True]),
        ({A: NO, B: NO}, [True, True]),  # only together they support
    ],
)
def test_a_citation_that_neither_supports_nor_is_needed_is_not_precise(alone, precise):
    assert precise_citations(AB, {AB: YES} | alone) == precise


def test_no_citation_of_an_unsupported_sentence_is_precise():
    assert precise_citations(AB, {AB: NO}) == [False, False]


@pytest.mark.parametrize(
    ("verdicts", "precise"),
    [
        ({AB: FAILED}, [None, None]),
        ({AB: YES, A: YES, B: FAILED}, [True, None]),
        ({AB: YES, A: NO, B: FAILED}, [None, True]),
    ],
)
def test_the_precision_is_unknown_where_the_judge_failed(verdicts, precise):
    assert precise_citations(AB, verdicts) == precise


def test_the_scores_are_means_over_answers():
    scores = citation_scores(
        [
            [judged(YES, True, False), judged(NO, False), judged(NO)],  # recall 1/3, precision 1/3
            [judged(YES, True)],  # 1 and 1
        ]
    )
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.precision == pytest.approx(2 / 3)


def test_an_answer_without_citations_has_recall_and_precision_0():
    assert citation_scores([[judged(NO)], [judged(YES, True)]]).precision == 0.5
    assert citation_scores([[judged(NO)]]).recall == 0


def test_sentences_that_were_not_judged_are_left_out():
    scores = citation_scores([[judged(FAILED, None), judged(YES, True, None)], [judged(FAILED, None)]])
    assert (scores.recall, scores.precision) == (1, 1)


def test_without_judged_sentences_there_are_no_scores():
    scores = citation_scores([[judged(FAILED, None)]])
    assert (scores.recall, scores.precision) == (None, None)
