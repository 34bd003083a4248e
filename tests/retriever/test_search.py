"""From a question to its hits, on a real index, also at its edges."""

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from retriever.errors import BadFilter, BadQuestion, RetrieverError
from retriever.methods import method_names
from retriever.queries.boolean import Or, Range, Term
from retriever.queries.filters import Filters
from retriever.settings import RetrieverSettings
from retriever.strategy import Strategy
from tests.retriever.made_papers import found, ids, index_of, planned, queries_of_plan

QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"
# In so small an index terms of the best passage bring papers on anything else.
PLAIN = RetrieverSettings(without=frozenset({"feedback"}))


def prepared(index, question, method="or", settings=None, **request):
    return planned(index, question, method, settings, **request).queries[0].query


def test_or_is_one_clause_a_distinct_token_and_one_on_the_title(index):
    assert prepared(index, "axolotl of the axolotl limbs") == Or(
        (
            Term("axolotl", ("axolotl",)),
            Term("limbs", ("limb",)),
            Term("axolotl", ("axolotl",), "title", 0.35),
            Term("limbs", ("limb",), "title", 0.35),
        )
    )


def test_paper_asks_for_ten_papers_a_query_from_all_keywords_down_to_one(index):
    result = found(index, QUESTION, "paper", k=100)

    assert {"비선형", "회귀", "지식", "그래프", "knowledge", "graph"} <= {one.text for one in result.keywords}
    terms = tuple(Term(one.text, one.tokens) for one in result.keywords)
    asked = planned(index, QUESTION, "paper").queries
    assert [named.query for named in asked] == [Or(terms[:n]) for n in range(len(terms), 0, -1)]
    assert max(query.hits for query in result.queries) <= 10


def test_a_cross_lingual_question_finds_the_other_languages_paper(index):
    assert ids(index, "환각", "or") == ["KG-KO"]
    assert set(ids(index, "환각", "shrag", PLAIN)) == {"KG-KO", "KG-EN"}
    assert set(ids(index, "환각", "paper")) == {"KG-KO", "KG-EN"}


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
def test_hits_come_by_falling_score_with_ranks_from_1(index, method):
    hits = found(index, "axolotl quokka pangolin", method).hits

    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(lang="ko"), {"BOTH"}),
        (Filters(lang="en"), {"BOTH@en"}),
        (Filters(years=Range(2020, None)), set()),
        (Filters(journal="정보과학회논문지"), set()),
        (Filters(without=("BOTH", "BOTH@en")), set()),
    ],
)
def test_filters_hold_for_every_method(index, method, filters, expected):
    assert set(ids(index, "회귀 regression", method, PLAIN, filters=filters)) == expected


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "empty"),
        ("  \n\t", "empty"),
        ("a" * 20_001, "20,001 characters; the maximum is 20,000"),
        ("ab\udc80", "lone surrogate at character 2"),
    ],
    ids=["empty", "white space", "long", "surrogate"],
)
def test_a_question_that_cannot_be_used_is_refused(index, method, question, message):
    with pytest.raises(BadQuestion, match=message):
        found(index, question, method)


@pytest.mark.parametrize("method", ["or", "paper", "shrag"])
@pytest.mark.parametrize("question", ["the of and", "그리고 매우", "?!", "😀👍"])
def test_nothing_to_search_for_is_said_and_finds_nothing(index, question, method):
    result = found(index, question, method)

    assert result.hits == ()
    assert result.notes == ("nothing to search for: only stop words, punctuation or signs",)


@given(question=st.text(max_size=40), method=st.sampled_from(method_names()))
@example("😀 NOT", "boolean")
@example("\x00", "shrag")
@hypothesis_settings(max_examples=150)
def test_any_question_has_hits_or_a_retriever_error(index, question, method):
    try:
        hits = found(index, question, method).hits
    except RetrieverError:
        return
    assert len(hits) <= 10


def test_the_most_relevant_papers_are_sorted_by_year_before_they_are_cut(index):
    expression = "비선형^9 OR hallucination"

    assert ids(index, expression, "boolean", k=1) == ["BOTH"]
    assert ids(index, expression, "boolean", k=2, sort="year") == ["KG-KO", "KG-EN"]  # of 2023 and 2020


GIVEN = Strategy(en=("pangolin", "trade"), ko=("천산갑",))


def test_a_strategy_makes_the_progressive_queries_its_languages_in_turn(index):
    result = found(index, "천산갑", strategy=GIVEN)

    assert result.strategy == GIVEN
    assert result.applied.strategist == "recorded"
    assert [(one.text, round(one.weight, 4)) for one in result.keywords] == [
        ("천산갑", 1.0),  # the question's language first; weights are 1 / √place
        ("pangolin", 1.0),
        ("trade", 0.7071),
    ]
    assert [(query.name, query.query) for query in queries_of_plan(result)[1:]] == [
        ("SQ3", "천산갑 OR pangolin OR trade"),
        ("SQ2", "천산갑 OR pangolin"),
        ("SQ1", "천산갑"),
    ]


@pytest.mark.parametrize("method", ["or", "boolean"])
@pytest.mark.parametrize(
    "request_", [{"strategy": GIVEN}, {"keywords": ("pangolin",)}, {"exclude": ("limbs",)}]
)
def test_a_method_without_a_strategy_ignores_one_and_says_so(index, method, request_):
    result = found(index, "axolotl", method, **request_)

    assert result.notes[0].startswith(f"method '{method}' searches without a strategy")
    assert [(hit.doc_id, hit.score) for hit in result.hits] == [
        (hit.doc_id, hit.score) for hit in found(index, "axolotl", method).hits
    ]
    assert (result.strategy, result.keywords) == (None, ())


def test_keywords_of_statistics_come_rarest_first_without_words_of_the_request(index):
    # Of 36 passages quokka is in 12, 알고리즘 and 정렬 in one; no passage has xyzzyplugh.
    assert [
        one.text for one in found(index, "quokka 알고리즘의 정렬을 요약해 줘 xyzzyplugh", "paper").keywords
    ] == ["알고리즘", "quokka", "정렬"]


def test_queries_can_be_left_out(index):
    result = found(index, QUESTION, skip=("question", "SQ2"))

    names = [query.name for query in queries_of_plan(result)]
    assert names == [name for name in planned(index, QUESTION).names if name[:2] == "SQ" and name != "SQ2"]
    assert result.applied.skip == ("question", "SQ2")
    assert not any({"question", "SQ2"} & set(hit.found_by) for hit in result.hits)


def test_an_unknown_query_is_refused_with_those_there_are(index):
    with pytest.raises(BadFilter, match=r"no query 'SQ99' to leave out; there are question, SQ\d+, "):
        found(index, QUESTION, skip=("SQ99",))
    with pytest.raises(BadFilter, match="'bridges'"):
        found(index, QUESTION, "or", skip=("bridges",))


METHODS = ("or", "paper", "shrag")


@pytest.mark.parametrize("method", METHODS)
def test_incomplete_papers_do_not_crowd_out_complete_ones(tmp_path, method):
    bare = [{"id": f"BARE{n}", "title": "graph retrieval"} for n in range(40)]
    whole = [
        {
            "id": f"WHOLE{n}",
            "title": f"study {n}",
            "abstract": f"A graph, {n} times, serves retrieval of words.",
        }
        for n in range(3)
    ]
    with index_of(tmp_path, *bare, *whole) as index:
        result = found(index, "graph retrieval", method, k=3)
    assert {hit.doc_id for hit in result.hits} == {"WHOLE0", "WHOLE1", "WHOLE2"}
    assert result.filtered["incomplete"] > 0
