"""Keywords from statistics."""

import math
import unicodedata

import pytest

from indexer.analysis import make_analyzer
from indexer.glossary.pairs import Pair
from indexer.glossary.storage import Glossary, write_glossary
from retriever.engines.term_statistics import inverse_document_frequency
from retriever.queries.boolean import Term
from retriever.queries.keywords import (
    KEYWORDS,
    Keyword,
    merge,
    term_entropy,
    translations,
    weigh,
    words_of,
)
from retriever.question.compounds import compounds
from tests.retriever.made_papers import found, opened

KNOWLEDGE_GRAPH = Pair(
    "지식 그래프", "knowledge graph", ("지식", "그래프"), ("knowledg", "graph"), 3, ("bracket",)
)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.fixture(scope="module")
def analyzer():
    return make_analyzer("bilingual")


def words(question, analyzer):
    question = unicodedata.normalize("NFC", question)
    return words_of(question, analyzer.analyze(question))


def keyword(text, *tokens, language="en", weight=0.0):
    return Keyword(text, language, tokens or (text,), weight)


def test_a_rare_word_weighs_more():
    assert inverse_document_frequency(3, 10) == pytest.approx(math.log(1 + 7.5 / 3.5))
    assert inverse_document_frequency(1, 10) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert inverse_document_frequency(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5))


def test_entropy_is_low_where_a_term_gathers():
    assert term_entropy([1, 1]) == pytest.approx(math.log(2))
    assert term_entropy([3, 1]) == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert term_entropy([7]) == 0
    assert term_entropy([]) == 0


def test_a_word_keeps_the_tokens_of_the_questions_one_analysis(analyzer):
    question = "지식그래프를 만드는 knowledge-graphs"

    assert [(word.text, word.tokens) for word in words(question, analyzer)] == [
        ("지식그래프", ("지식", "그래프")),
        ("만드", ("만들",)),
        ("knowledge-graphs", ("knowledg", "graph")),
    ]


def test_tokens_are_taken_from_what_was_given_not_analysed_again():
    tokens = [("as-the-sentence-says", 0, 0, 3)]

    assert words_of("그래프", tokens) == [Keyword("그래프", "ko", ("as-the-sentence-says",))]


def test_a_decomposed_question_has_the_words_of_the_composed(analyzer):
    assert words("\u1112\u1162\u1111\u1161\u1105\u1175", analyzer) == words("해파리", analyzer)


def test_a_word_that_stands_twice_is_one_keyword(analyzer):
    kept = words("graphs and graph 그래프 그래프를", analyzer)

    assert [word.tokens for word in kept] == [("graph",), ("그래프",)]


def test_keywords_are_ranked_by_the_mean_of_their_tokens_weights():
    weights = {"a": 1.0, "b": 2.0, "c": 2.5}

    ranked = weigh([keyword("a"), keyword("ab", "a", "b"), keyword("c")], weights)

    assert [(one.text, one.weight) for one in ranked] == [("c", 2.5), ("ab", 1.5), ("a", 1.0)]


def test_ties_keep_the_questions_order():
    assert [one.text for one in weigh([keyword("b"), keyword("a")], {"a": 1.0, "b": 1.0})] == ["b", "a"]


def test_two_languages_are_merged_in_turn_the_questions_first():
    own = [keyword("k1"), keyword("k2"), keyword("k3")]
    other = [keyword("e1"), keyword("k2"), keyword("e3"), keyword("e4")]

    assert [one.text for one in merge(own, other)] == ["k1", "e1", "k2", "k3", "e3", "e4"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [("큰 지식 그래프", ["knowledge", "graph"]), ("a knowledge graph", ["지식", "그래프"]), ("그래프", [])],
)
def test_the_glossary_gives_the_other_language(tmp_path, analyzer, question, expected):
    write_glossary(tmp_path / "glossary.sqlite", [KNOWLEDGE_GRAPH])

    with Glossary.open(tmp_path / "glossary.sqlite") as glossary:
        found = translations(analyzer.analyze(question), glossary, analyzer)

    assert [word.text for one in found for word in one.words] == expected


def test_a_korean_compound_of_the_glossary_comes_as_its_words(tmp_path, analyzer):
    tokens = tuple(token[0] for token in analyzer.analyze("해수면 상승"))
    rise = Pair("해수면 상승", "sea level rise", tokens, ("sea", "level", "rise"), 2, ("bracket",))
    write_glossary(tmp_path / "glossary.sqlite", [rise])

    with Glossary.open(tmp_path / "glossary.sqlite") as glossary:
        [found] = translations(analyzer.analyze("sea level rise"), glossary, analyzer)

    assert [(word.text, word.tokens) for word in found.words] == [
        ("해수면", ("해수", "면")),
        ("상승", ("상승",)),
    ]


def test_a_term_that_is_cut_otherwise_alone_keeps_the_tokens_of_its_pair(tmp_path, analyzer):
    level = Pair("해수면", "sea level", ("해", "수면"), ("sea", "level"), 2, ("bracket",))
    write_glossary(tmp_path / "glossary.sqlite", [level])

    with Glossary.open(tmp_path / "glossary.sqlite") as glossary:
        [found] = translations(analyzer.analyze("sea level"), glossary, analyzer)

    assert found.pattern == ((0, "해"), (1, "수면"))
    assert [(word.text, word.tokens) for word in found.words] == [("해수면", ("해", "수면"))]


def test_a_keyword_of_several_tokens_is_the_or_of_them():
    assert keyword("비선형", "비", "선형").term() == Term("비선형", ("비", "선형"))


def test_there_are_ten_keywords_at_most(index):
    question = "지식 그래프 학술 검색 개체 관계 알고리즘 정렬 속도 메모리 비교 해파리 군집"

    keywords = found(index, question, "paper").keywords

    assert KEYWORDS == 10
    assert len(keywords) == 10
    weights = [one.weight for one in keywords]
    assert weights == sorted(weights, reverse=True)


def test_words_that_the_index_does_not_hold_are_no_keywords(index):
    assert [one.text for one in found(index, "axolotl xyzzyplugh", "paper").keywords] == ["axolotl"]


def test_a_formula_is_looked_up_as_a_whole(tmp_path, analyzer):
    oxide = Pair("일산화탄소", "CO", ("일", "산화", "탄소"), ("co",), 2, ("bracket",))
    write_glossary(tmp_path / "glossary.sqlite", [oxide])
    tokens = analyzer.analyze("levels of CO2")

    with Glossary.open(tmp_path / "glossary.sqlite") as glossary:
        assert len(translations(tokens, glossary, analyzer)) == 1
        assert translations(tokens, glossary, analyzer, compounds("levels of CO2", tokens)) == []
