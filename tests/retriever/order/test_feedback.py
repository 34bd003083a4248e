"""Terms of the best passages, and what candidates score by them."""

import math

import pytest

from retriever.order.feedback import feedback_scores, feedback_terms
from tests.retriever.order.by_hand import FOUR_LONG, candidate, held_by

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of what 10 of 100 passages hold


def terms(*texts, base=None, **frequencies):
    passages = [candidate(text) for text in texts]
    return feedback_terms(passages, base or [1.0] * len(texts), held_by(**frequencies))


def test_a_term_weighs_its_share_of_the_passages_times_its_idf():
    found = terms("quokka quokka grass grass", "quokka a b c", quokka=10, grass=10)

    assert found == pytest.approx({"quokka": (2 / 4 + 1 / 4) * TENTH, "grass": 2 / 4 * TENTH})


def test_a_passage_of_half_the_score_counts_an_eighth():
    found = terms("quokka", "grass", base=[1.0, 0.5], quokka=10, grass=10)

    assert found == pytest.approx({"quokka": TENTH, "grass": TENTH / 8})


def test_numbers_common_terms_and_those_of_a_single_passage_are_left_out():
    found = terms("2017 common quarter twice once", **{"2017": 10}, common=26, quarter=25, twice=2, once=1)

    assert found.keys() == {"quarter", "twice"}


def test_only_the_five_best_passages_have_a_say():
    found = terms("a", "b", "c", "d", "e", "f", **dict.fromkeys("abcdef", 10))

    assert found.keys() == set("abcde")


def test_the_forty_strongest_terms_are_kept_of_equals_the_first_by_letters():
    words = [f"t{number:02}" for number in range(50)]

    found = terms(" ".join(reversed(words)), **dict.fromkeys(words, 10))

    assert list(found) == words[:40]


@pytest.mark.parametrize("texts", [(), ("",), ("", "")])
def test_passages_without_terms_bring_none(texts):
    assert terms(*texts, base=[0.0] * len(texts)) == {}


def test_passages_without_a_score_bring_no_terms():
    assert set(terms("quokka", base=[0.0], quokka=10).values()) <= {0.0}


def scores(weights, *passages):
    return feedback_scores(weights, passages, FOUR_LONG, held_by(quokka=10, grass=10))


def test_candidates_score_by_the_share_of_the_terms_that_they_hold():
    weights = {"quokka": 3.0, "grass": 1.0}

    found = scores(weights, *map(candidate, ("quokka grass a b", "quokka a b c", "grass a b c", "a b c d")))

    assert found == pytest.approx([1, 0.75, 0.25, 0])


def test_a_title_does_not_count_twice():
    plain, titled = candidate("quokka a b c"), candidate("quokka a b c", "quokka")

    assert scores({"quokka": 1.0}, plain, titled) == pytest.approx([1, 1])


def test_without_terms_nothing_scores():
    assert scores({}, candidate("quokka"), candidate("grass")) == [0, 0]
    assert scores({"quokka": 0.0}, candidate("quokka")) == [0]
