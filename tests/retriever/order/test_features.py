"""What candidates have in common with a question. A token of idf i that is held once scores i."""

import math

import pytest

from retriever.order.bm25 import MOST_OF_IDF, Scale
from retriever.order.features import base_scores, coverage, neighbour_shares, patterns_of
from retriever.queries.boolean import single
from retriever.question.concepts import Concept, Word
from tests.retriever.order.by_hand import (
    FOUR_LONG,
    counterpart,
    held_by,
    passage,
    places,
    question,
    read,
    together,
    word,
)

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of a token of 10 of 100 passages
RARE = math.log(1 + 98.5 / 2.5)  # of 2
COMMON = math.log(1 + 10.5 / 90.5)  # of 90
STATISTICS = held_by(graph=10, 검색=10, search=2, 그래프=2, chart=10, line=2, 지식=10, the=90)


def alone(token, importance=TENTH):
    return Concept(token, (word(token, importance),))


def with_counterpart(token, other, importance=TENTH):
    return Concept(token, (word(token, importance),), (other,))


def found_in(concepts, candidates):
    return places(candidates, *(token for one in concepts for token in one.tokens)).count(
        patterns_of(concepts)
    )


def base(concepts, *texts, scale=FOUR_LONG):
    candidates = read(*(passage(text) if isinstance(text, str) else text for text in texts))
    return base_scores(concepts, found_in(concepts, candidates), scale, STATISTICS).tolist()


GRAPH, SEARCH, KNOWLEDGE = alone("graph"), alone("search", RARE), alone("지식")


def test_the_base_is_the_sum_of_the_concepts_scores_over_their_importance():
    scores = base([GRAPH, SEARCH], "graph search a b", "graph a b c", "search a b c", "a b c d")

    both = TENTH + RARE
    assert scores == pytest.approx([1, TENTH / both, RARE / both, 0])


def test_a_word_scores_by_its_weight_in_the_question():
    asking = Concept("graph", (word("graph", 0.6 * TENTH, weight=0.6),))

    scores = base([asking, SEARCH], "graph a b c")

    assert scores == pytest.approx([0.6 * TENTH / (0.6 * TENTH + RARE)])


def test_a_word_that_no_passage_holds_lowers_the_share_of_the_others():
    unheard = Concept("unheard", (word("unheard", TENTH, is_known=False),))

    assert base([GRAPH, unheard], "graph a b c") == pytest.approx([0.5])


def test_a_passage_in_the_other_language_scores_no_less():
    concept = with_counterpart("graph", counterpart("chart", importance=TENTH))

    assert base([concept], "graph a b c", "chart a b c", "graph chart a b") == pytest.approx([1, 1, 1])


def test_a_counterpart_of_several_tokens_scores_where_they_stand_together():
    concept = with_counterpart("graph", counterpart("chart line", 0.5, TENTH))

    scores = base([concept], "chart a b c", "chart a line c", "line chart a b", "chart line a b")

    # By the idf of its rarest token.
    assert scores == pytest.approx([0, 0, 0, 0.5 * RARE / TENTH])


def test_a_rare_counterpart_scores_no_more_than_its_common_words_could():
    concept = with_counterpart("the", counterpart("line", importance=COMMON), importance=COMMON)

    assert base([concept], "line a b c") == pytest.approx([MOST_OF_IDF])


def test_the_best_of_several_counterparts_counts():
    concept = Concept(
        "graph",
        (word("graph", TENTH),),
        (counterpart("chart", 0.4, TENTH), counterpart("그래프", 0.5, TENTH)),
    )

    scores = base([concept], "chart a b c", "그래프 a b c", "chart 그래프 a b")

    assert scores == pytest.approx([0.4, 0.5 * RARE / TENTH, 0.5 * RARE / TENTH])


def test_the_best_of_near_spellings_counts():
    spellings = {single("graph"): 0.8, single("search"): 0.8}
    concept = Concept("grahp", (Word(spellings, 0.8 * RARE),))

    scores = base([concept], "graph a b c", "search a b c", "graph search a b")

    assert scores == pytest.approx([TENTH / RARE, 1, 1])


def test_a_word_in_the_title_scores_once_more():
    titled = [passage("graph a b c", "a b"), passage("graph a b c", "graph a")]

    assert base([GRAPH], *titled, scale=Scale(4.0, title_weight=0.5)) == pytest.approx([1, 1.5])


def test_the_title_in_the_other_language_scores_too():
    concept = with_counterpart("graph", counterpart("그래프", importance=TENTH))

    assert base([concept], passage("a b c", title2="그래프")) == pytest.approx([RARE / TENTH])


def covered(concepts, *texts):
    return coverage(concepts, found_in(concepts, read(*map(passage, texts)))).tolist()


def test_coverage_is_the_share_of_the_importance_that_a_passage_holds():
    both = TENTH + RARE

    assert covered([GRAPH, SEARCH], "graph", "search", "search graph graph", "other") == pytest.approx(
        [TENTH / both, RARE / both, 1, 0]
    )


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("graph", 2 / 3),
        ("search", 1 / 3),
        ("graph search", 1),
        ("그래프", 2 / 3),  # the counterpart's
        ("search 그래프", 2 / 3),  # the more of the two
        ("deep walk", 1),  # no more than the concept's
        ("walk deep", 0),  # a counterpart stands together
        ("graph deep walk", 1),
    ],
)
def test_a_concept_is_covered_by_its_own_words_or_its_best_counterpart(text, share):
    words = word("graph", 2.0), word("search", 1.0)
    others = counterpart("그래프", importance=2.0), counterpart("deep walk", importance=5.0)

    assert covered([Concept("graph search", words, others)], text) == pytest.approx([share])


def neighbours(asked, text, concepts=(GRAPH, SEARCH, KNOWLEDGE)):
    candidates = read(passage(text), passage("graph a search a 지식"))
    return neighbour_shares(question(asked), concepts, places(candidates, asked))[0]


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("graph search", 1),
        ("graph _ search", 1),  # one between them
        ("graph a search", 1),
        ("graph _2 search", 0),
        ("search graph", 0),  # in the question's order only
        ("search _9 graph search", 1),  # wherever it stands
        ("graph", 0),
        ("", 0),
    ],
)
def test_neighbours_stand_in_the_questions_order_within_two_positions(text, share):
    assert neighbours("graph search", text) == share


def test_words_further_apart_in_the_question_are_no_neighbours():
    assert neighbours("graph _ search", "graph search") == 1
    assert neighbours("graph _2 search", "graph search") == 0


def test_a_repeated_word_is_no_neighbour_of_itself():
    assert neighbours("graph graph", "graph graph") == 0


def test_pairs_of_neighbours_weigh_by_the_mean_importance_of_their_words():
    both, one = (TENTH + RARE) / 2, TENTH

    assert neighbours("search graph 지식", "graph 지식") == pytest.approx(one / (both + one))


def test_no_neighbours_are_found_across_two_passages():
    candidates = read(passage("a graph"), passage("search b"))

    shares = neighbour_shares(question("graph search"), [GRAPH, SEARCH], places(candidates, "graph search"))

    assert shares.tolist() == [0, 0]


def test_words_that_no_passage_holds_are_passed_over_between_neighbours():
    unknown = Concept("nowhere", (word("nowhere", 5.0, is_known=False),))

    assert neighbours("graph nowhere search", "graph x search", (GRAPH, unknown, SEARCH)) == 1


def test_a_suffix_is_no_neighbour_since_it_matches_beside_its_word_only():
    suffix = Concept("제", (Word({together("항생 제"): 1.0}, TENTH),))
    candidates = read(passage("항생 제 검색"))

    shares = neighbour_shares(
        question("항생 제 검색"),
        [alone("항생"), suffix, alone("검색")],
        places(candidates, "항생 제 검색"),
    )

    assert shares.tolist() == [1]  # 항생 beside 검색, the suffix between them


def test_a_question_of_words_that_no_passage_holds_has_features_of_zero():
    unknown = [Concept("nowhere", (word("nowhere", 5.0, is_known=False),))]
    candidates = read(passage("graph"), passage(""))

    assert base(unknown, "graph", "") == [0, 0]
    assert covered(unknown, "graph", "") == [0, 0]
    assert neighbour_shares(question("nowhere nowhere"), unknown, places(candidates)).tolist() == [0, 0]
    assert base([], "graph") == covered([], "graph") == [0]


def test_no_candidates_have_no_features():
    assert base([GRAPH]) == covered([GRAPH]) == []
    found = neighbour_shares(question("graph search"), [GRAPH, SEARCH], places(read(), "graph search"))
    assert found.tolist() == []
