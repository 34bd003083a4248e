"""Terms of the best passages, and what candidates score by them."""

import math

import numpy as np
import pytest

from retriever.order.feedback import SELECTION, Feedback, feedback_terms
from tests.retriever.order.by_hand import FOUR_LONG, passage, places, read

PASSAGES, TERMS, POWER = SELECTION.passages, SELECTION.terms, SELECTION.power
TENTH = math.log(1 + 90.5 / 10.5)  # the idf of a token of 10 of 100 passages


def feedback(*texts, base=None, passages=100, **frequencies):
    candidates = read(
        *(passage(text, passage_id=f"P{place}") for place, text in enumerate(texts)), **frequencies
    )
    return feedback_terms(candidates, np.array(base or [1.0] * len(texts)), passages)


def strengths(*texts, **given):
    return dict(feedback(*texts, **given).strengths)


def test_a_term_is_as_strong_as_its_idf_times_the_logarithms_of_its_counts():
    found = strengths("quokka quokka grass", "quokka", quokka=10, grass=10)

    assert found == pytest.approx(
        {"quokka": (math.log(3) + math.log(2)) * TENTH, "grass": math.log(2) * TENTH}
    )


def test_a_passage_counts_by_a_power_of_its_share_of_the_best_score():
    found = strengths("quokka", "grass", base=[0.8, 0.6], quokka=10, grass=10)

    assert found == pytest.approx({"quokka": math.log(2) * TENTH, "grass": 0.75**POWER * math.log(2) * TENTH})


def test_the_title_in_the_other_language_brings_terms():
    candidates = read(passage("a", title2="quokka"), quokka=10)

    assert feedback_terms(candidates, np.array([1.0]), 100).strengths.keys() == {"quokka"}


def test_numbers_common_terms_and_those_of_a_single_passage_are_left_out():
    found = strengths(
        "2017 common quarter twice once", **{"2017": 10}, common=26, quarter=25, twice=2, once=1
    )

    assert found.keys() == {"quarter", "twice"}


def test_terms_of_an_excluded_thing_are_left_out():
    candidates = read(passage("quokka grass"), quokka=10, grass=10)

    found = feedback_terms(candidates, np.array([1.0]), 100, without={"grass"})

    assert found.strengths.keys() == {"quokka"}


def test_terms_come_from_the_best_passages_only():
    words = [f"w{number}" for number in range(PASSAGES + 1)]
    scores = [1.0] * (PASSAGES + 1)
    scores[1] = 0.9

    found = feedback(*words, base=scores, **dict.fromkeys(words, 10))

    best = [f"P{number}" for number in range(PASSAGES + 1) if number != 1]
    assert found.sources == tuple(best)
    assert found.strengths.keys() == set(words) - {"w1"}


def test_of_equally_strong_terms_the_first_by_letters_are_kept():
    words = [f"t{number:02}" for number in range(2 * TERMS + 10)]

    found = strengths(" ".join(reversed(words)), **dict.fromkeys(words, 10))

    assert list(found) == words[:TERMS]


def test_numbers_take_no_place_of_a_term():
    numbers = [str(number) for number in range(1000, 1000 + TERMS)]
    words = [f"t{number:02}" for number in range(TERMS)]

    found = strengths(" ".join([*numbers, *words]), **dict.fromkeys([*numbers, *words], 10))

    assert list(found) == words


def test_frequencies_are_those_of_as_many_passages_as_are_searched():
    # A tenth of the lexicon's 100 passages is a tenth of 1,000 others.
    found = feedback("quokka", passages=1_000, quokka=10)

    assert found.idf == pytest.approx({"quokka": math.log(1 + 900.5 / 100.5)})


@pytest.mark.parametrize("texts", [(), ("",), ("", "")])
def test_passages_without_terms_bring_none(texts):
    assert strengths(*texts) == {}


def test_passages_without_a_score_bring_no_terms():
    assert feedback("quokka", base=[0.0], quokka=10) == Feedback({}, {})


def scores(weights, *passages):
    terms = Feedback(weights, dict.fromkeys(weights, TENTH))
    return terms.scores(places(read(*passages), *weights), FOUR_LONG).tolist()


def test_candidates_score_by_the_share_of_the_terms_that_they_hold():
    weights = {"quokka": 3.0, "grass": 1.0}

    found = scores(weights, *map(passage, ("quokka grass a b", "quokka a b c", "grass a b c", "a b c d")))

    assert found == pytest.approx([1, 0.75, 0.25, 0])


def test_a_term_that_no_candidate_holds_lowers_the_share_of_the_others():
    assert scores({"quokka": 3.0, "unheard": 1.0}, passage("quokka a b c")) == pytest.approx([0.75])


def test_without_terms_nothing_scores():
    assert scores({}, passage("quokka"), passage("grass")) == [0, 0]
    assert scores({"quokka": 0.0}, passage("quokka")) == [0]
    assert scores({"unheard": 1.0}, passage("quokka")) == [0]
