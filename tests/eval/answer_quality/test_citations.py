"""Citation recall and precision, computed by hand as ALCE defines them."""

import pytest

from eval.answer_quality.judging import Judged, Verdict, citation_scores, parts_of, precise_citations

YES: Verdict = "supported"
NO: Verdict = "unsupported"
FAILED: Verdict = "not judged"
A: tuple[str, ...] = ("a",)
B: tuple[str, ...] = ("b",)
AB: tuple[str, ...] = ("a", "b")


def judged(verdict, *precise):
    return Judged(verdict=verdict, precise=list(precise), hints=[])


def test_the_parts_are_each_citation_and_the_others():
    assert parts_of(()) == parts_of(A) == []
    assert parts_of(AB) == [A, B]
    assert parts_of(("a", "b", "c")) == [A, B, ("c",), ("b", "c"), ("a", "c"), AB]


@pytest.mark.parametrize(
    ("citations", "verdicts", "precise"),
    [
        (A, {A: YES}, [True]),
        (A, {A: NO}, [False]),
        (A, {A: "not checked"}, [False]),
        (AB, {AB: YES, A: YES, B: NO}, [True, False]),  # b is irrelevant: a supports without it
        (AB, {AB: YES, A: YES, B: YES}, [True, True]),
        (AB, {AB: YES, A: NO, B: NO}, [True, True]),  # only together they support
        (AB, {AB: NO}, [False, False]),
        (AB, {AB: FAILED}, [None, None]),
        (AB, {AB: YES, A: YES, B: FAILED}, [True, None]),
        (AB, {AB: YES, A: NO, B: FAILED}, [None, True]),
    ],
)
def test_a_citation_that_neither_supports_nor_is_needed_is_not_precise(citations, verdicts, precise):
    assert precise_citations(citations, verdicts) == precise


@pytest.mark.parametrize(
    ("answers", "recall", "precision"),
    [
        ([[judged(YES, True, False), judged(NO, False), judged(NO)], [judged(YES, True)]], 2 / 3, 2 / 3),
        ([[judged(NO)], [judged(YES, True)]], 0.5, 0.5),
        ([[judged(NO)]], 0, 0),
        ([[judged(FAILED, None), judged(YES, True, None)], [judged(FAILED, None)]], 1, 1),
        ([[judged(FAILED, None)]], None, None),
    ],
)
def test_the_scores_are_means_over_answers_and_their_judged_sentences(answers, recall, precision):
    scores = citation_scores(answers)
    assert [scores.recall, scores.precision] == pytest.approx([recall, precision])
