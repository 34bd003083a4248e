"""Scores of candidates and their order."""

import numpy as np
import pytest

from indexer.forward.rows import LANGUAGES
from retriever.order.score_parts import (
    LOWEST_OF_OTHER,
    ScoredCandidates,
    with_mean_of_title,
    with_other_language,
)
from retriever.order.weights import LEXICAL_WEIGHTS, SAME_TITLE_WEIGHT, lexical_parts, semantic_parts


def scored(**scores):
    """Give candidates scores, as a base of weight 1."""
    return ScoredCandidates(tuple(scores), {"base": (np.array(list(scores.values()), float), 1.0)})


def ids(found):
    return [found.ids[row] for row in found.order]


def test_the_score_is_the_sum_of_the_parts_by_their_weights():
    found = scored(P1=0.5, P2=0.1).with_part("feedback", np.array([0.25, 0.0]), 0.2)
    found = found.with_part("lost", np.array([-1.0, 0.0]), 0.1)

    assert found.scores.tolist() == pytest.approx([0.5 + 0.05 - 0.1, 0.1])
    assert found.score_of("P2") == pytest.approx(0.1)


def test_parts_of_a_score_that_are_0_are_left_out():
    found = scored(P1=0.5, P2=0.0).with_part("feedback", np.array([0.0, 0.25]), 0.2)

    assert found.parts_of("P1") == {"base": (0.5, 1.0)}
    assert found.parts_of("P2") == {"feedback": (0.25, 0.2)}


def test_the_best_come_first_and_equals_by_passage_id():
    assert ids(scored(P3=0.5, P2=0.5, P1=0.1, P4=0.9)) == ["P4", "P2", "P3", "P1"]
    assert ids(scored()) == []


def test_only_candidates_are_contained():
    assert "P1" in scored(P1=0.0)
    assert "P2" not in scored(P1=0.0)


def test_a_passage_that_feedback_alone_found_is_not_founded():
    found = scored(P1=0.5, P2=0.0, P3=0.0, P4=0.0).with_part("feedback", np.array([0, 1.0, 1.0, 1.0]), 0.2)
    found = found.with_part("bridge", np.array([0, 0, 0.5, 0]), 0.1)
    found = found.with_part("title in passage", np.array([0, 0, 0, 0.5]), 0.1)

    assert found.founded == {"P1": True, "P2": False, "P3": True, "P4": True}


def test_passages_of_one_title_share_a_part_of_their_scores():
    found = with_mean_of_title(scored(P1=0.9, P2=0.1, P3=0.9), np.array([7, 7, 8]))

    # A part of the mean, .5, instead of as much of its own.
    own = 1 - SAME_TITLE_WEIGHT
    assert found.scores.tolist() == pytest.approx(
        [own * 0.9 + SAME_TITLE_WEIGHT * 0.5, own * 0.1 + SAME_TITLE_WEIGHT * 0.5, 0.9]
    )


@pytest.mark.parametrize("titles", [[0, 0], [1, 2]])
def test_passages_without_a_title_or_of_different_titles_share_nothing(titles):
    before = scored(P1=0.9, P2=0.1)

    assert with_mean_of_title(before, np.array(titles)) is before


def lifted(langs, scores=None, shares=None):
    """Return the order of candidates P0, P1, … of falling scores, by their numbers."""
    scores = scores or [1 - place / 10 for place in range(len(langs))]
    before = scored(**{f"P{place}": score for place, score in enumerate(scores)})
    languages = np.array([LANGUAGES.index(lang) for lang in langs], np.int64)
    holds = np.array([True] * len(langs) if shares is None else shares, bool)
    return with_other_language(before, "ko", languages, holds)


def order(*arguments):
    return list(lifted(*arguments).order)


KO_KO_KO = ("ko", "ko", "ko")


def test_the_best_passage_in_the_other_language_is_fourth_at_the_lowest():
    assert LOWEST_OF_OTHER == 4
    assert order([*KO_KO_KO, "ko", "ko", "en", "en"]) == [0, 1, 2, 5, 3, 4, 6]
    assert order([*KO_KO_KO, "en", "ko", "en"]) == [0, 1, 2, 3, 4, 5]
    assert order(["ko", "en", "ko", "ko", "ko", "en"]) == [0, 1, 2, 3, 4, 5]


def test_an_english_question_lifts_the_best_korean_passage():
    before = scored(P0=0.9, P1=0.8, P2=0.7, P3=0.6, P4=0.5)
    languages = np.array([LANGUAGES.index(lang) for lang in ("en", "en", "en", "en", "ko")])

    assert ids(with_other_language(before, "en", languages, np.ones(5, bool))) == [
        *("P0", "P1", "P2", "P4", "P3")
    ]
    assert with_other_language(before, "other", languages, np.ones(5, bool)) is before


def test_a_lifted_passage_has_a_score_between_its_neighbours():
    found = lifted([*KO_KO_KO, "ko", "ko", "en"], [1.0, 0.9, 0.8, 0.7, 0.6, 0.1])

    assert found.score_of("P5") == pytest.approx((0.8 + 0.7) / 2)
    assert found.parts_of("P5")["other language"] == (pytest.approx(0.75 - 0.1), 1.0)


@pytest.mark.parametrize(
    ("scores", "ranked"),
    [
        ([0.9, 0.9, 0.9, 0.9, 0.5, 0.1], [0, 1, 2, 3, 5, 4]),
        ([0.9, 0.9, 0.9, 0.9, 0.9, 0.1], [0, 1, 2, 3, 4, 5]),
    ],
)
def test_nothing_is_lifted_above_a_tie_with_the_third(scores, ranked):
    assert order([*KO_KO_KO, "ko", "ko", "en"], scores) == ranked


def test_nothing_is_lifted_that_holds_no_word_of_the_question():
    langs = [*KO_KO_KO, "ko", "en", "en"]

    assert order(langs, None, [True] * 4 + [False, False]) == [0, 1, 2, 3, 4, 5]
    assert order(langs, None, [True] * 4 + [False, True]) == [0, 1, 2, 5, 3, 4]


@pytest.mark.parametrize("langs", [(), ("en",), ("ko", "ko", "en"), ("ko",) * 6])
def test_fewer_than_four_candidates_or_one_language_keep_their_order(langs):
    assert order(langs) == list(range(len(langs)))


def test_the_lexical_parts_are_the_features_with_their_weights():
    features = {name: np.array([0.5, 0.0]) for name in ("base", "feedback", "neighbours")}

    found = ScoredCandidates(("P1", "P2"), lexical_parts(features))

    assert found.scores.tolist() == pytest.approx([0.5 * sum(LEXICAL_WEIGHTS.values()), 0])


def semantic(base, cosines):
    features = {"base": np.array(base), "neighbours": np.zeros(len(base))}
    return {
        name: values.tolist() for name, (values, _) in semantic_parts(features, np.array(cosines)).items()
    }


def test_cosines_are_stretched_between_the_lowest_and_the_highest():
    assert semantic([1.0] * 3, [0.7, 0.8, 0.9])["cosine"] == pytest.approx([0, 0.5, 1])


def test_a_passage_without_a_vector_has_the_lowest_cosine():
    assert semantic([1.0] * 3, [0.7, np.nan, 0.9])["cosine"] == pytest.approx([0, 0, 1])


def test_the_base_beside_cosines_is_a_share_of_the_best():
    assert semantic([2.0, 0.5, 0.0], [0.7, 0.8, 0.9])["base"] == pytest.approx([1, 0.25, 0])


def test_equal_cosines_and_candidates_without_a_base_make_no_difference():
    assert semantic([0.0, 0.0], [0.8, 0.8]) == {
        "cosine": [0, 0],
        "base": [0, 0],
        "neighbours": [0, 0],
    }
