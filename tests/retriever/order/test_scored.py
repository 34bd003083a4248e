"""Scores of candidates and their order."""

import pytest

from retriever.order.concepts import Concept, Word
from retriever.order.features import Features
from retriever.order.scored import best_first, with_mean_of_title, with_other_language
from retriever.order.weights import lexical_parts, semantic_parts
from tests.retriever.order.by_hand import candidate, scored


def passages(**scores):
    return [scored(candidate("x", passage_id, passage_id), score) for passage_id, score in scores.items()]


def ids(found):
    return [one.candidate.passage_id for one in found]


def test_the_score_is_the_sum_of_the_parts_by_their_weights():
    one = scored(candidate("x"), 0.5).with_part("feedback", 0.25, 0.2).with_part("lost", -1.0, 0.1)

    assert one.score == pytest.approx(0.5 + 0.05 - 0.1)


def test_the_best_come_first_and_equals_by_passage_id():
    assert ids(best_first(passages(P3=0.5, P2=0.5, P1=0.1, P4=0.9))) == ["P4", "P2", "P3", "P1"]
    assert best_first([]) == []


def test_passages_under_one_title_share_a_part_of_their_scores():
    high, low = scored(candidate("x", "one", "P1"), 0.9), scored(candidate("x", "one", "P2"), 0.1)
    other = scored(candidate("x", "other", "P3"), 0.9)

    found = with_mean_of_title([high, low, other])

    # 15 % of the mean, .5, in the place of as much of its own.
    assert [one.score for one in found] == pytest.approx([0.85 * 0.9 + 0.075, 0.85 * 0.1 + 0.075, 0.9])


def test_passages_without_a_title_share_nothing():
    untitled = [scored(candidate("x", "", "P1"), 0.9), scored(candidate("x", "", "P2"), 0.1)]

    assert [each.score for each in with_mean_of_title(untitled)] == [0.9, 0.1]


BERT = Concept("bert", (Word({"bert": 1.0}, 1.0),))


def lifted(*langs, text="bert", concepts=(BERT,)):
    """Return where the candidates stand, which come as P0, P1, … with falling scores."""
    ranked = [
        scored(candidate(text, passage_id=f"P{place}", lang=lang), 1 - place / 10)
        for place, lang in enumerate(langs)
    ]
    return [int(passage_id[1:]) for passage_id in ids(with_other_language(ranked, "ko", list(concepts)))]


def test_the_best_passage_of_the_other_language_stands_fourth_at_the_lowest():
    assert lifted("ko", "ko", "ko", "ko", "ko", "en", "en") == [0, 1, 2, 5, 3, 4, 6]
    assert lifted("ko", "ko", "ko", "en", "ko", "en") == [0, 1, 2, 3, 4, 5]
    assert lifted("ko", "en", "ko", "ko", "ko", "en") == [0, 1, 2, 3, 4, 5]


def test_a_lifted_passage_has_a_score_between_its_neighbours():
    ranked = [
        scored(candidate("bert", passage_id=f"P{place}", lang="ko"), 1 - place / 10) for place in range(5)
    ]
    other = scored(candidate("bert", passage_id="OTHER"), 0.1)

    found = with_other_language([*ranked, other], "ko", [BERT])

    assert ids(found) == ["P0", "P1", "P2", "OTHER", "P3", "P4"]
    assert found[3].score == pytest.approx(0.75)
    assert found[3].parts["other language"][0] == pytest.approx(0.65)


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ([0.9, 0.9, 0.9, 0.9, 0.5, 0.1], ["P0", "P1", "P2", "P3", "A", "P4"]),
        ([0.9, 0.9, 0.9, 0.9, 0.9, 0.1], ["P0", "P1", "P2", "P3", "P4", "A"]),
    ],
)
def test_nothing_is_lifted_past_what_equals_the_third(scores, order):
    korean = [
        scored(candidate("bert", passage_id=f"P{place}", lang="ko"), score)
        for place, score in enumerate(scores[:5])
    ]
    other = scored(candidate("bert", passage_id="A"), scores[5])

    assert ids(with_other_language([*korean, other], "ko", [BERT])) == order


def test_nothing_is_lifted_that_holds_no_word_of_the_question():
    year = Concept("2017", (Word({"2017": 1.0}, 1.0),))

    assert lifted("ko", "ko", "ko", "ko", "ko", "en", text="gpt") == [0, 1, 2, 3, 4, 5]
    assert lifted("ko", "ko", "ko", "ko", "ko", "en", text="2017", concepts=(year,)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("langs", [(), ("en",), ("ko", "ko", "en"), ("ko",) * 6])
def test_fewer_than_four_or_one_language_keep_their_order(langs):
    assert lifted(*langs) == list(range(len(langs)))


def test_a_candidate_of_no_feature_scores_nothing():
    assert sum(value * weight for value, weight in lexical_parts(Features(0, 0, 0, 0)).values()) == 0


def test_cosines_count_between_the_candidates_least_and_highest_and_the_base_as_a_share_of_the_best():
    rows = [Features(1.0, 0, 0, 0), Features(0.5, 0, 0, 0), Features(0.25, 0, 0, 0)]

    parts = semantic_parts(rows, [0.7, None, 0.9])

    assert [part["cosine"][0] for part in parts] == pytest.approx([0, 0, 1])
    assert [part["base"][0] for part in parts] == pytest.approx([1, 0.5, 0.25])


def test_equal_cosines_and_candidates_without_a_base_make_no_difference():
    parts = semantic_parts([Features(0, 0, 0, 0)] * 2, [0.8, 0.8])

    assert parts[0] == parts[1]
    assert parts[0]["base"][0] == 0
