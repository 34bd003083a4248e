"""A question's words and their counterparts, joined into concepts."""

import math
import time

import pytest

from indexer.analysis.word_roles import Role
from retriever.opening.synonyms import SYNONYM_WEIGHT
from retriever.queries.boolean import single
from retriever.queries.keywords import Keyword, Translation
from retriever.question.concepts import Concept, make_concepts, with_roles
from retriever.question.spelling import VARIANT_WEIGHT
from tests.retriever.order.by_hand import counterpart, held_by, question, together, word

TENTH = math.log(1 + 90.5 / 10.5)  # the idf of a token of 10 of 100 passages
RARE = math.log(1 + 98.5 / 2.5)  # of 2
UNSEEN = math.log(1 + 100.5 / 0.5)  # of none


def translation(source, text, origin="corpus"):
    keywords = tuple(Keyword(one, "en", (one,)) for one in text.split())
    return Translation(frozenset(source.split()), keywords, together(text), origin)


def of(text, *found, spellings=None, weighted=True, frequencies=None, patterns=None, **weights):
    asked, statistics = question(text, patterns=patterns, **weights), held_by(**(frequencies or {}))
    return make_concepts(asked, found, spellings or {}, statistics, weighted=weighted)


def test_words_without_counterparts_are_concepts_alone_in_the_order_of_the_question():
    concepts = of("quokka eats grass eats", frequencies={"quokka": 2, "eats": 10, "grass": 1})

    assert [concept.text for concept in concepts] == ["quokka", "eats", "grass"]
    assert [concept.importance for concept in concepts] == pytest.approx(
        [RARE, TENTH, math.log(1 + 99.5 / 1.5)]
    )


def test_a_word_that_no_passage_holds_is_the_rarest_and_not_known():
    [known, unknown] = of("quokka grass", frequencies={"quokka": 2, "grass": 0})

    assert (known.is_known, unknown.is_known) == (True, False)
    assert unknown.importance == pytest.approx(UNSEEN)


def test_a_word_weighs_its_weight_in_the_question_times_its_idf():
    common = {"frequencies": {"who": 10, "quokka": 10}, "who": 0.6}

    assert [concept.importance for concept in of("who quokka", **common)] == pytest.approx(
        [0.6 * TENTH, TENTH]
    )
    alike = of("who quokka", weighted=False, **common)
    assert [concept.importance for concept in alike] == pytest.approx([TENTH, TENTH])


def test_words_with_a_common_counterpart_are_one_concept():
    concepts = of(
        "지식 그래프 검색",
        translation("지식 그래프", "knowledge graph"),
        translation("그래프", "graph"),
        frequencies={"지식": 10, "그래프": 10, "검색": 10, "knowledge": 10, "graph": 2},
    )

    assert [concept.text for concept in concepts] == ["지식 그래프", "검색"]
    assert [concept.tokens for concept in concepts] == [
        ("지식", "그래프", "knowledge", "graph"),
        ("검색",),
    ]
    assert concepts[0].patterns == (
        single("지식"),
        single("그래프"),
        together("knowledge graph"),
        single("graph"),
    )


def test_words_that_sources_join_in_a_chain_are_one_concept():
    [first, second] = of(
        "a x b c d",
        translation("c d", "three"),
        translation("a b", "one"),
        translation("b c", "two"),
        frequencies={"one": 2, "two": 2, "three": 2},
    )

    assert (first.text, second.text) == ("a b c d", "x")
    assert [other.text for other in first.counterparts] == ["three", "one", "two"]


def test_a_counterpart_found_twice_counts_once():
    found = translation("검색", "search")

    [concept] = of("검색", found, found, frequencies={"검색": 10, "search": 10})

    assert len(concept.counterparts) == 1


def test_ten_times_as_many_words_take_far_from_a_hundred_times_as_long():
    def seconds(number):
        words = [f"w{place}" for place in range(number)]
        held = dict.fromkeys([*words, *(f"{word}{side}" for word in words for side in "ab")], 10)
        pairs = [translation(word, f"{word}{side}") for word in words for side in "ab"]
        begun = time.thread_time()
        assert len(of(" ".join(words), *pairs, frequencies=held)) == number
        return time.thread_time() - begun

    assert seconds(3_000) < 40 * min(seconds(300) for _ in range(3))


def test_a_counterpart_is_as_important_as_its_words_however_rare_it_is():
    [concept] = of("검색", translation("검색", "search"), frequencies={"검색": 10, "search": 2})

    [other] = concept.counterparts
    assert (other.weight, other.importance) == pytest.approx((1.0, TENTH))
    assert concept.importance == pytest.approx(TENTH)


def test_a_counterpart_of_a_word_that_no_passage_holds_counts_as_each_of_its_words():
    [concept] = of(
        "검색", translation("검색", "full search"), frequencies={"검색": 0, "search": 2, "full": 10}
    )

    assert concept.importance == pytest.approx(2 * RARE)
    assert concept.is_known


def test_a_counterpart_covers_words_that_no_passage_holds_if_it_stands_for_others_too():
    [concept] = of(
        "court rulings",
        translation("court rulings", "판례"),
        frequencies={"court": 0, "rulings": 10, "판례": 2},
    )

    assert concept.importance == pytest.approx(UNSEEN + TENTH)
    assert concept.counterparts[0].importance == pytest.approx(UNSEEN + TENTH)


def test_concepts_of_a_role_are_those_with_a_word_of_it():
    concepts = of("how quokka eats", frequencies={"how": 2, "quokka": 2, "eats": 2})
    roles: dict[str, Role] = {"how": "asking", "quokka": "noun", "eats": "other"}

    assert [concept.text for concept in with_roles(concepts, roles, {"noun"})] == ["quokka"]
    assert [concept.text for concept in with_roles(concepts, roles, {"noun", "other"})] == ["quokka", "eats"]
    assert with_roles(concepts[:1], roles, {"noun"}) == concepts[:1]  # no noun: all


def test_a_synonym_weighs_less_than_the_word():
    [concept] = of(
        "search",
        translation("search", "deep lookup", "synonym"),
        frequencies={"search": 10, "deep": 10, "lookup": 10},
    )

    [other] = concept.counterparts
    assert (other.pattern, other.weight) == (together("deep lookup"), SYNONYM_WEIGHT)
    assert (other.origin, other.text) == ("synonym", "deep lookup")


@pytest.mark.parametrize("frequencies", [{"deep": 10, "lookup": 0}, {"deep": 0, "lookup": 0}])
def test_a_counterpart_with_a_token_that_no_passage_holds_is_left_out(frequencies):
    [concept] = of("검색", translation("검색", "deep lookup"), frequencies={"검색": 10, **frequencies})

    assert concept.counterparts == ()


def test_an_unknown_word_is_its_near_spellings_and_weighs_less():
    [concept] = of(
        "grahp", spellings={"grahp": ("graph", "grasp")}, frequencies={"grahp": 0, "graph": 2, "grasp": 10}
    )

    [only] = concept.words
    assert only.spellings == {single("graph"): VARIANT_WEIGHT, single("grasp"): VARIANT_WEIGHT}
    assert only.importance == pytest.approx(VARIANT_WEIGHT * RARE)
    assert only.is_known


def test_a_suffix_matches_beside_its_word_only_and_has_its_own_idf():
    pattern = together("항생 제")

    [concept] = of("항생 제", frequencies={"항생": 2, "제": 10}, patterns={"제": pattern})

    first, second = concept.words
    assert tuple(first.spellings) == (single("항생"),)
    assert tuple(second.spellings) == (pattern,)
    assert second.importance == pytest.approx(TENTH)


def test_a_question_without_words_has_no_concepts():
    assert of("") == ()


def test_the_importance_of_a_concept_is_the_sum_of_its_words():
    concept = Concept("graph search", (word("graph", 2.0), word("search", 1.0)), (counterpart("그래프"),))

    assert concept.importance == 3.0


def test_the_importance_of_unknown_words_is_that_of_their_best_counterpart():
    unknown = word("grahp", 9.0, is_known=False)
    others = counterpart("그래프", importance=2.0), counterpart("도표", importance=3.0)

    assert Concept("grahp", (unknown,), others).importance == 3.0
    assert Concept("grahp", (unknown,)).importance == 9.0
