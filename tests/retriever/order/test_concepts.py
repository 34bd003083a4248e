"""A question's words and what stands for them, joined into concepts."""

import math
import time

import pytest

from retriever.keywords import Keyword, Translation
from retriever.order.concepts import Concept, Counterpart, Word, make_concepts
from tests.retriever.order.by_hand import held_by, question

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of what 10 of 100 passages hold
RARE = math.log(1 + 98.5 / 2.5)  # of what 2 hold

GRAPH = Concept(
    "graph search",
    (Word({"graph": 1.0}, 2.0), Word({"search": 1.0}, 1.0)),
    (Counterpart(("그래프",), 1.0, 2.0), Counterpart(("graph", "walk"), 0.8, 5.0, "synonym")),
)


def translation(source, words, origin="corpus"):
    keywords = tuple(Keyword(word, "en", tuple(word.split())) for word in words)
    return Translation(frozenset(source.split()), keywords, origin)


def of(text, *found, spellings=None, weighted=True, frequencies=None, **weights):
    statistics = held_by(**(frequencies or {}))
    return make_concepts(question(text, **weights), found, spellings or {}, statistics, weighted=weighted)


def test_words_that_nothing_stands_for_are_concepts_alone_in_the_order_of_the_question():
    concepts = of("quokka eats grass eats", frequencies={"quokka": 2, "eats": 10, "grass": 0})

    assert [concept.text for concept in concepts] == ["quokka", "eats", "grass"]
    assert [concept.importance for concept in concepts] == pytest.approx([RARE, TENTH, 0])


def test_a_word_weighs_what_the_question_says_times_its_idf():
    common = {"frequencies": {"who": 10, "quokka": 10}, "who": 0.6}

    assert [concept.importance for concept in of("who quokka", **common)] == pytest.approx(
        [0.6 * TENTH, TENTH]
    )
    alike = of("who quokka", weighted=False, **common)
    assert [concept.importance for concept in alike] == pytest.approx([TENTH, TENTH])


def test_words_that_one_thing_stands_for_are_one_concept():
    concepts = of(
        "지식 그래프 검색",
        translation("지식 그래프", ["knowledge", "graph"]),
        translation("그래프", ["graph"]),
        frequencies={"지식": 10, "그래프": 10, "검색": 10, "knowledge": 10, "graph": 2},
    )

    assert [concept.text for concept in concepts] == ["지식 그래프", "검색"]
    assert [concept.tokens for concept in concepts] == [
        ("지식", "그래프", "knowledge", "graph"),
        ("검색",),
    ]


def test_words_that_sources_join_in_a_chain_are_one_concept():
    [first, second] = of(
        "a x b c d",
        translation("c d", ["three"]),
        translation("a b", ["one"]),
        translation("b c", ["two"]),
        frequencies={"one": 2, "two": 2, "three": 2},
    )

    assert (first.text, second.text) == ("a b c d", "x")
    assert [other.text for other in first.counterparts] == ["three", "one", "two"]


def test_ten_times_as_many_words_take_far_from_a_hundred_times_as_long():
    def seconds(number):
        words = [f"w{place}" for place in range(number)]
        pairs = [translation(word, [f"{word}-{side}"]) for word in words for side in "ab"]
        begun = time.thread_time()
        assert len(of(" ".join(words), *pairs)) == number
        return time.thread_time() - begun

    assert seconds(3_000) < 40 * min(seconds(300) for _ in range(3))


def test_a_counterpart_is_as_important_as_the_words_it_stands_for_however_rare_it_is():
    [concept] = of("검색", translation("검색", ["search"]), frequencies={"검색": 10, "search": 2})

    [counterpart] = concept.counterparts
    assert (counterpart.weight, counterpart.importance) == pytest.approx((1.0, TENTH))


def test_what_stands_for_words_that_the_index_does_not_hold_has_the_importance_of_its_rarest():
    [concept] = of(
        "검색", translation("검색", ["full", "search"]), frequencies={"검색": 0, "search": 2, "full": 10}
    )

    assert concept.importance == pytest.approx(RARE)


def test_a_synonym_weighs_less_than_the_word_and_says_where_it_comes_from():
    [concept] = of(
        "search",
        translation("search", ["deep lookup"], "synonym"),
        frequencies={"search": 10, "deep": 10, "lookup": 10},
    )

    [counterpart] = concept.counterparts
    assert (counterpart.tokens, counterpart.weight) == (("deep", "lookup"), 0.8)
    assert counterpart.is_whole


def test_a_counterpart_that_no_passage_holds_is_left_out():
    [concept] = of("검색", translation("검색", ["search"]), frequencies={"검색": 10, "search": 0})

    assert concept.counterparts == ()


def test_a_synonym_with_a_token_that_no_passage_holds_is_left_out():
    deep = {"search": 10, "lookup": 10, "deep": 0}

    [concept] = of("search", translation("search", ["deep lookup"], "synonym"), frequencies=deep)

    assert concept.counterparts == ()


def test_an_unknown_word_is_its_near_spellings_and_weighs_less():
    [concept] = of(
        "grahp", spellings={"grahp": ("graph", "grasp")}, frequencies={"grahp": 0, "graph": 2, "grasp": 10}
    )

    [word] = concept.words
    assert word.spellings == {"graph": 0.8, "grasp": 0.8}
    assert word.importance == pytest.approx(0.8 * RARE)


def test_a_question_of_unknown_words_only_has_concepts_that_weigh_nothing():
    [concept] = of("zzz", frequencies={"zzz": 0})

    assert (concept.importance, concept.coverage({"zzz": 1})) == (0, 0)


def test_a_question_without_words_has_no_concepts():
    assert of("") == ()


@pytest.mark.parametrize(
    ("held", "covered"),
    [
        ("", 0.0),
        ("graph", 2.0),
        ("search", 1.0),
        ("graph search", 3.0),
        ("그래프", 2.0),  # the counterpart's
        ("search 그래프", 2.0),  # the more of the two
        ("walk", 0.0),  # a synonym is there with all its tokens
        ("graph walk", 3.0),  # and covers no more than the concept
    ],
)
def test_a_concept_is_covered_by_its_own_words_or_its_best_counterpart(held, covered):
    assert GRAPH.coverage(dict.fromkeys(held.split(), 1)) == covered
