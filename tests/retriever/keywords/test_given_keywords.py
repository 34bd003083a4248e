"""Keywords as a person typed and ordered them, and queries that are left out."""

import asyncio
import unicodedata

import pytest

from indexer.analysis import make_analyzer
from retriever.errors import BadFilter, BadQuestion
from retriever.keywords.given import LONGEST_GIVEN, MOST_GIVEN, given_keywords, words_of_each
from retriever.queries.keywords import Keyword
from retriever.query_plan import ALL_LEFT_OUT
from retriever.search import SearchRequest, open_search, run_stages
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, opened, planned, queries_of_plan

QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


@pytest.fixture(scope="module")
def analyzer():
    return make_analyzer("bilingual")


def test_a_compound_comes_as_its_words_and_words_without_tokens_fall_away(analyzer):
    found = words_of_each(["state of the art", "찰스 다윈(Charles Darwin)"], analyzer)
    assert [keyword.text for keyword in found] == ["state", "art", "찰스", "다윈", "Charles", "Darwin"]


def test_a_word_of_several_tokens_stays_one_keyword(analyzer):
    (found,) = words_of_each(["TCP/IP"], analyzer)
    assert found == Keyword("TCP/IP", "en", ("tcp", "ip"))


def test_typed_keywords_stay_in_their_order_and_weigh_by_their_rank(analyzer):
    found = given_keywords(["Graphs", " 환각 ", "graph"], analyzer)

    assert [(keyword.text, keyword.language, keyword.weight) for keyword in found] == [
        ("Graphs", "en", 1.0),
        ("환각", "ko", 0.5),
    ]


def test_typed_keywords_are_composed_as_what_is_indexed(analyzer):
    assert given_keywords([unicodedata.normalize("NFD", "해파리")], analyzer) == given_keywords(
        ["해파리"], analyzer
    )


def test_typed_keywords_without_tokens_come_last_and_weigh_nothing(analyzer):
    found = given_keywords(["the", "graph", "…", "the"], analyzer)

    assert [(keyword.text, bool(keyword.tokens), keyword.weight) for keyword in found] == [
        ("graph", True, 1.0),
        ("the", False, 0.0),
        ("…", False, 0.0),
    ]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a"] * (MOST_GIVEN + 1), f"the maximum is {MOST_GIVEN}"),
        (["graph", " "], "keyword 2 of 2 is empty"),
        (["가" * (LONGEST_GIVEN + 1)], "101 characters"),
        (["a\ud800"], "lone surrogate at character 1"),
    ],
)
def test_keywords_that_cannot_be_used_are_refused(index, analyzer, texts, said):
    with pytest.raises(BadQuestion, match=said):
        given_keywords(texts, analyzer)
    with pytest.raises(BadQuestion, match=said):
        open_search(index, SearchRequest(QUESTION, keywords=tuple(texts)), RetrieverSettings())


def test_the_first_typed_keyword_is_in_every_query(index):
    result = found(index, QUESTION, keywords=("pangolin", "trade", "quokka"))

    assert [keyword.text for keyword in result.keywords] == ["pangolin", "trade", "quokka"]
    assert [(query.name, query.query) for query in queries_of_plan(result)[1:]] == [
        ("SQ3", "pangolin OR trade OR quokka"),
        ("SQ2", "pangolin OR trade"),
        ("SQ1", "pangolin"),
    ]
    assert result.applied.keyword_source == "given"


def test_typed_keywords_keep_their_order_where_a_models_are_ranked(index):
    settings = RetrieverSettings(keywords_ranked=True)
    result = found(index, QUESTION, settings=settings, keywords=("trade", "pangolin", "회귀"))

    assert [keyword.text for keyword in result.keywords] == ["trade", "pangolin", "회귀"]


@pytest.mark.parametrize("method", ["shrag", "paper"])
@pytest.mark.parametrize(
    "question", [QUESTION, "wildlif trde of pangolim", "환각을 줄이는 지식 그래프와 knowledge graphs"]
)
def test_keywords_given_back_as_they_were_shown_make_the_same_queries(index, method, question):
    by_statistics = planned(index, question, method)
    shown = found(index, question, method).keywords

    again = planned(index, question, method, keywords=tuple(keyword.text for keyword in shown))

    assert again == by_statistics


def test_what_of_typed_keywords_is_not_searched_for_is_told(index):
    result = found(index, QUESTION, keywords=("the", "pangolin", *map(str, range(1900, 1912))))

    assert "nothing to search for in the: only stop words, punctuation or signs" in result.notes
    assert "of the 13 keywords only the first 10 are searched for" in result.notes
    assert len(result.keywords) == 10


def test_keywords_of_which_nothing_is_left_leave_the_whole_question(index):
    result = found(index, QUESTION, keywords=("the", "…"))

    assert [query.name for query in queries_of_plan(result)] == ["question"]
    assert result.keywords == ()


def test_a_method_without_keywords_takes_none(index):
    with pytest.raises(BadFilter, match="takes no keywords"):
        found(index, QUESTION, "or", keywords=("pangolin",))


def test_queries_can_be_left_out(index):
    whole = planned(index, QUESTION)
    result = found(index, QUESTION, skip=("question", "SQ2"))

    assert [query.name for query in queries_of_plan(result)] == [
        named.name for named in whole.queries if named.name not in {"question", "SQ2"}
    ]
    assert result.applied.skip == ("question", "SQ2")
    assert not any({"question", "SQ2"} & set(hit.found_by) for hit in result.hits)


@pytest.mark.parametrize("method", ["shrag", "paper", "or"])
def test_where_all_queries_are_left_out_nothing_is_found(index, method):
    result = found(index, QUESTION, method, skip=planned(index, QUESTION, method).names)

    assert (result.hits, result.queries) == ((), ())
    assert ALL_LEFT_OUT in result.notes


def test_an_unknown_query_is_refused_with_those_there_are(index):
    with pytest.raises(BadFilter, match=r"no query 'SQ99' to leave out; there are question, SQ\d+, "):
        found(index, QUESTION, skip=("SQ99",))


def test_the_second_search_can_be_left_out_where_the_method_makes_one(index):
    assert found(index, QUESTION, skip=("bridges",)).hits
    with pytest.raises(BadFilter, match="'bridges'"):
        found(index, QUESTION, "or", skip=("bridges",))


def test_where_nothing_is_left_to_search_for_nothing_can_be_left_out(index):
    assert found(index, "the", skip=("SQ1",)).hits == ()


def test_the_longest_query_of_the_paper_s_method_counts_once_where_others_are_left_out(index):
    """With ten keywords no query is missing, so a query that is left out is not made up for."""
    question = "pangolin quokka axolotl trade islands markets limbs wildlife routes survey counts"
    context = open_search(
        index, SearchRequest(question, "paper", skip=("SQ9", "SQ8")), RetrieverSettings(drop_incomplete=False)
    )
    ranking = asyncio.run(run_stages(context)).ranking

    assert ranking
    assert max(score for _, score in ranking.hits) <= 8 / (60 + 1) + 1e-9  # the first of all eight


def test_a_query_tells_what_it_added_to_those_before(index):
    result = found(index, "quokka pangolin trade", "paper")

    papers: set[str] = set()
    context = open_search(index, SearchRequest("quokka pangolin trade", "paper"), RetrieverSettings())
    pool = asyncio.run(run_stages(context, upto="pool")).pool
    assert pool
    for query in result.queries:
        new = {hit.doc_id for hit in pool.found[query.name]} - papers
        assert query.added == len(new)
        papers |= new
    assert result.queries[0].added == result.queries[0].hits
    assert result.as_record()["queries"][0].keys() == {"name", "query", "hits", "added"}
