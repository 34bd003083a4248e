"""Agreement of two judges."""

import pytest

from eval.answer_quality.agreement import SUPPORTED, UNSUPPORTED, agreement
from eval.answer_quality.citations import Verdict

YES, NO = SUPPORTED, UNSUPPORTED
NOTHING: Verdict = "not judged"


def test_kappa_is_the_agreement_beyond_chance():
    # Cohen's measure for a table of 20, 5, 10 and 15: observed .7, by chance .6 × .5 + .4 × .5 = .5
    found = agreement([(YES, YES)] * 20 + [(YES, NO)] * 5 + [(NO, YES)] * 10 + [(NO, NO)] * 15)
    assert (found.both, found.only_first, found.only_second, found.none) == (20, 5, 10, 15)
    assert found.share == pytest.approx(0.7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_sentences_without_a_verdict_are_left_out():
    found = agreement([(NOTHING, YES), (NO, NOTHING), (NO, NO)])
    assert (found.compared, found.left_out, found.share) == (1, 2, 1)


def test_judges_with_a_single_verdict_have_no_kappa():
    assert agreement([(YES, YES)] * 3).kappa is None
    assert agreement([]).share is None
    assert agreement([]).kappa is None
