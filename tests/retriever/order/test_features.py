"""What candidates have in common with a question. A token of idf i that is held once scores i."""

import math

import pytest

from retriever.order.candidates import Scale
from retriever.order.concepts import Concept, Counterpart, Word
from retriever.order.features import base_scores, coverage_of, neighbours_of
from tests.retriever.order.by_hand import FOUR_LONG, candidate, held_by, question

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of what 10 of 100 passages hold
RARE = math.log(1 + 98.5 / 2.5)  # of what 2 hold
COMMON = math.log(1 + 10.5 / 90.5)  # of what 90 hold
STATISTICS = held_by(graph=10, 검색=10, search=2, 그래프=2, chart=10, line=2, 지식=10, the=90, nowhere=0)


def word(token, importance=TENTH, weight=1.0):
    return Word({token: weight}, importance)


def alone(token, importance=TENTH):
    return Concept(token, (word(token, importance),))


def standing_for(token, *counterparts, importance=TENTH):
    return Concept(token, (word(token, importance),), counterparts)


def base(concepts, *texts, scale=FOUR_LONG):
    return base_scores(concepts, [candidate(text) for text in texts], scale, STATISTICS)


GRAPH, SEARCH, KNOWLEDGE = alone("graph"), alone("search", RARE), alone("지식")


def test_the_base_is_the_sum_of_the_concepts_scores_over_their_importance():
    scores = base([GRAPH, SEARCH], "graph search a b", "graph a b c", "search a b c", "a b c d")

    both = TENTH + RARE
    assert scores == pytest.approx([1, TENTH / both, RARE / both, 0])


def test_a_word_scores_by_its_weight_in_the_question():
    asking = Concept("graph", (word("graph", 0.6 * TENTH, weight=0.6),))

    scores = base([asking, SEARCH], "graph a b c")

    assert scores == pytest.approx([0.6 * TENTH / (0.6 * TENTH + RARE)])


def test_a_passage_in_the_other_language_is_not_behind():
    concept = standing_for("graph", Counterpart(("chart",), 1.0, TENTH))

    assert base([concept], "graph a b c", "chart a b c", "graph chart a b") == pytest.approx([1, 1, 1])


def test_of_the_tokens_of_a_translation_the_best_counts():
    concept = standing_for("graph", Counterpart(("chart", "line"), 0.5, TENTH))

    scores = base([concept], "chart a b c", "line a b c", "chart line a b")

    assert scores == pytest.approx([0.5, 0.5 * RARE / TENTH, 0.5 * RARE / TENTH])


def test_a_rare_counterpart_scores_no_more_than_its_common_words_could():
    concept = standing_for("the", Counterpart(("line",), 1.0, COMMON), importance=COMMON)

    assert base([concept], "line a b c") == pytest.approx([1.9])


@pytest.mark.parametrize("origin", ["synonym", "abbreviation"])
def test_all_tokens_of_a_synonym_or_an_abbreviation_must_be_there(origin):
    concept = standing_for("graph", Counterpart(("chart", "line"), 0.5, TENTH, origin))

    scores = base([concept], "chart a b c", "line a b c", "chart line a b")

    assert scores == pytest.approx([0, 0, 0.5 * (TENTH + RARE) / 2 / TENTH])


def test_of_near_spellings_the_best_counts():
    concept = Concept("grahp", (Word({"graph": 0.8, "search": 0.8}, 0.8 * RARE),))

    scores = base([concept], "graph a b c", "search a b c", "graph search a b")

    assert scores == pytest.approx([TENTH / RARE, 1, 1])


def test_a_word_in_the_title_counts_once_more():
    passages = [candidate("graph a b c", "a b"), candidate("graph a b c", "graph a")]

    scores = base_scores([GRAPH], passages, Scale(4.0, 2.0, 0.5), STATISTICS)

    assert scores == pytest.approx([1, 1.5])


def test_the_title_in_the_other_language_scores_too():
    concept = standing_for("graph", Counterpart(("그래프",), 1.0, TENTH))

    [score] = base_scores([concept], [candidate("a b c", title2="그래프")], FOUR_LONG, STATISTICS)

    assert score == pytest.approx(RARE / TENTH)


def test_coverage_is_the_share_of_the_importance_that_a_passage_holds():
    passages = [candidate(text) for text in ("graph", "search", "search graph graph", "other")]

    both = TENTH + RARE
    assert coverage_of([GRAPH, SEARCH], passages) == pytest.approx([TENTH / both, RARE / both, 1, 0])


def neighbours(asked, text, concepts=(GRAPH, SEARCH, KNOWLEDGE)):
    [found] = neighbours_of(question(asked), concepts, [candidate(text)])
    return found


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("graph search", 1),
        ("graph _ search", 1),  # one between them
        ("graph _2 search", 0),
        ("search graph", 0),  # in the question's order only
        ("search _9 graph search", 1),  # wherever it stands
        ("graph", 0),
        ("", 0),
    ],
)
def test_neighbours_stand_in_the_questions_order_within_two_positions(text, share):
    assert neighbours("graph search", text) == share


def test_words_that_stand_further_apart_in_the_question_are_no_neighbours():
    assert neighbours("graph _ search", "graph search") == 1
    assert neighbours("graph _2 search", "graph search") == 0


def test_pairs_of_neighbours_weigh_by_the_mean_importance_of_their_words():
    first, second = (TENTH + RARE) / 2, (RARE + TENTH) / 2

    assert neighbours("graph search 지식", "graph search") == pytest.approx(first / (first + second))


def test_between_neighbours_words_that_no_passage_holds_are_passed_over():
    concepts = (GRAPH, alone("nowhere", 0.0), SEARCH)

    assert neighbours("graph nowhere search", "graph x search", concepts) == 1


def test_a_question_of_words_that_no_passage_holds_has_features_of_zero():
    unknown, passages = [alone("nowhere", 0.0)], [candidate("graph"), candidate("")]

    assert base(unknown, "graph", "") == [0, 0]
    assert coverage_of(unknown, passages) == [0, 0]
    assert neighbours_of(question("nowhere nowhere"), unknown, passages) == [0, 0]


def test_no_candidates_have_no_features():
    assert base([GRAPH]) == []
    assert coverage_of([GRAPH], []) == []
    assert neighbours_of(question("graph search"), [GRAPH, SEARCH], []) == []
