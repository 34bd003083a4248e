"""Candidates measured in two steps: all by what the first of them show."""

import numpy as np
import pytest

from retriever.order.candidate_features import measure, measure_first
from retriever.order.features import scores_by_concept
from retriever.question.concepts import Concept
from tests.retriever.order.by_hand import (
    FOUR_LONG,
    counterpart,
    held_by,
    passage,
    places,
    question,
    read,
    word,
)

FREQUENCIES = {"graph": 10, "search": 10, "grass": 10, "그래프": 10}
STATISTICS = held_by(**FREQUENCIES)
IDF = STATISTICS.idf("graph")
CONCEPTS = [
    Concept("graph", (word("graph", IDF),), (counterpart("그래프", 0.5, IDF),)),
    Concept("search", (word("search", IDF),)),
]
ASKED = question("graph search")
FIRST = passage("graph search grass a", passage_id="P1")
LONG = passage("grass a b c graph search d e f g h i", "a title", passage_id="P2", lang="ko")


def measured(*candidates):
    by, found, _ = measure_first(ASKED, CONCEPTS, STATISTICS, read(*candidates, **FREQUENCIES), 0.5)
    return by, found


def test_candidates_are_measured_by_their_base_neighbours_and_feedback():
    by, found = measured(FIRST)

    assert by.scale.length == 4
    assert found.base.tolist() == pytest.approx([1.0])
    assert found.neighbours.tolist() == [1.0]
    # It holds all feedback terms, once each in a text of average length.
    assert by.feedback.strengths.keys() == {"graph", "search", "grass"}
    assert found.feedback.tolist() == pytest.approx([1.0])


def test_further_candidates_are_measured_by_the_scale_and_the_feedback_of_the_first():
    by, first = measured(FIRST)
    further = measure(by, read(LONG, **FREQUENCIES))

    together = first.joined(further)

    assert together.base.tolist() == [*first.base.tolist(), *further.base.tolist()]
    assert further.base[0] < 1
    assert 0 < further.feedback[0] < 1
    assert further.neighbours.tolist() == [1.0]
    assert together.language.tolist() == [2, 1]


def test_a_passage_shares_a_word_if_it_holds_letters_of_the_question_or_a_counterpart():
    year = Concept("2017", (word("2017", IDF),))
    candidates = read(*map(passage, ("graph", "그래프", "2017", "other")), **FREQUENCIES)

    _, found, _ = measure_first(question("graph 2017"), [*CONCEPTS, year], STATISTICS, candidates, 0.0)

    assert found.shares_word.tolist() == [True, True, False, False]


def test_passages_of_equal_titles_are_known_by_them():
    candidates = read(passage("a", "one"), passage("b", "one"), passage("c", "other"), passage("d"))

    _, found, _ = measure_first(ASKED, CONCEPTS, STATISTICS, candidates, 0.0)

    first, second, third, none = found.same_title.tolist()
    assert first == second != third
    assert none == 0


def test_no_candidates_have_no_features():
    _, found = measured()

    assert found.base.tolist() == found.feedback.tolist() == found.shares_word.tolist() == []


def contributions(text):
    found = places(read(passage(text)), "graph search 그래프")
    return scores_by_concept(CONCEPTS, found, FOUR_LONG, STATISTICS)


def test_each_concept_has_its_score_in_a_passage_and_the_sum_is_the_base():
    scores = [each.score for each in contributions("graph search a b")]

    assert scores == pytest.approx([IDF, IDF])


def test_a_concept_names_the_counterpart_that_scores_more_than_its_words():
    graph, search = contributions("그래프 a b c")

    assert graph.score == pytest.approx(0.5 * IDF)
    assert graph.by is CONCEPTS[0].counterparts[0]
    assert (search.score, search.by) == (0.0, None)
    assert contributions("graph 그래프 a b")[0].by is None


def test_scores_are_numbers_of_their_passages_alone():
    alone, _ = measured(FIRST)
    both = measure(alone, read(FIRST, LONG, **FREQUENCIES))

    assert np.array_equal(both.base[:1], measure(alone, read(FIRST, **FREQUENCIES)).base)
