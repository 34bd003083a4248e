"""From a question to its hits, on a real index."""

import asyncio
import math
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from retriever.errors import BadFilter, BadQuestion, RetrieverError
from retriever.explaining.passages import explain
from retriever.explaining.text import summary
from retriever.methods import method_names
from retriever.queries.boolean import Or, Range, Term
from retriever.queries.filters import Filters
from retriever.queries.keywords import Keyword
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import PAPERS, found, ids, index_of, opened, planned, run_of

TIES = sorted(paper["id"] for paper in PAPERS if paper["id"].startswith("TIE-"))
QUESTION = "비선형 회귀와 지식 그래프를 만드는 방법"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        yield index


def prepared(index, question, method="or", settings=None, **request):
    return planned(index, question, method, settings, **request).queries[0].query


def explained(index, request, passage_id):
    return asyncio.run(explain(index, request, passage_id, RetrieverSettings()))


def test_or_is_one_clause_a_distinct_token_and_one_on_the_title(index):
    assert prepared(index, "axolotl of the axolotl limbs") == Or(
        (
            Term("axolotl", ("axolotl",)),
            Term("limbs", ("limb",)),
            Term("axolotl", ("axolotl",), "title", 0.35),
            Term("limbs", ("limb",), "title", 0.35),
        )
    )


def test_or_without_a_title_weight_has_no_title_clause(index):
    assert prepared(index, "axolotl", settings=RetrieverSettings(title_weight=0)) == Or(
        (Term("axolotl", ("axolotl",)),)
    )
    assert prepared(index, "axolotl", title_weight=0.0) == Or((Term("axolotl", ("axolotl",)),))


def test_or_can_count_a_word_that_stands_twice(index):
    query = prepared(
        index, "axolotl axolotl limbs", settings=RetrieverSettings(count_repeats=True, title_weight=0)
    )

    assert query == Or((Term("axolotl", ("axolotl",), weight=2.0), Term("limbs", ("limb",))))


def test_paper_asks_for_ten_papers_a_query_from_all_keywords_down_to_one(index):
    result = found(index, QUESTION, "paper", k=100)

    number = len(result.keywords)
    assert {"비선형", "회귀", "지식", "그래프", "knowledge", "graph"} <= {one.text for one in result.keywords}
    # The prefix of 비선형 matches only before its word, which is no word of its own here.
    words = [(one.text, tuple(token for token in one.tokens if token != "비")) for one in result.keywords]
    terms = tuple(Term(*word) for word in words)
    asked = planned(index, QUESTION, "paper").queries
    assert [named.query for named in asked] == [Or(terms[:count]) for count in range(number, 0, -1)]
    assert max(query.hits for query in result.queries) <= 10


def test_a_cross_lingual_question_finds_the_other_languages_paper(index):
    assert ids(index, "환각", "or") == ["KG-KO"]
    assert set(ids(index, "환각", "shrag")) == {"KG-KO", "KG-EN"}
    assert set(ids(index, "환각", "paper")) == {"KG-KO", "KG-EN"}


@pytest.mark.parametrize("k", range(1, 13))
def test_passages_of_equal_score_come_by_id(index, k):
    assert [one for one, _ in run_of(index, "quokka", k=k)] == TIES[:k]
    assert ids(index, "quokka", "or", k=k) == TIES[:k]


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
def test_hits_come_by_falling_score_with_ranks_from_1(index, method):
    hits = found(index, "axolotl quokka pangolin", method).hits

    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_paper_is_found_once_a_passage_each(index):
    assert [one for one, _ in run_of(index, "회귀 regression")] == ["BOTH"]
    assert {one for one, _ in run_of(index, "회귀 regression", collapse=False)} == {"BOTH", "BOTH@en"}


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
    assert set(ids(index, "회귀 regression", method, filters=filters)) == expected


def test_incomplete_papers_are_no_hits_and_listed_where_others_are_missing(index):
    result = found(index, "gills", "or")

    assert result.hits == ()
    assert [hit.doc_id for hit in result.listed] == ["BARE"]
    assert result.filtered == {"incomplete": 0, "duplicates": 0}


def test_incomplete_papers_can_stay(index):
    kept = found(index, "gills", "or", RetrieverSettings(drop_incomplete=False))

    assert [hit.passage_id for hit in kept.hits] == ["BARE"]
    assert kept.filtered == {"incomplete": 0, "duplicates": 0}


def test_a_run_keeps_incomplete_papers(index):
    assert [one for one, _ in run_of(index, "gills")] == ["BARE"]


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_decomposed_hangul_is_found_however_it_is_asked(index, method, form):
    assert ids(index, unicodedata.normalize(form, "해파리"), method) == ["DECOMPOSED"]


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
def test_an_empty_question_is_refused(index, question, method):
    with pytest.raises(BadQuestion, match="empty"):
        found(index, question, method)


def test_a_question_over_the_limit_is_refused_with_the_limit(index):
    with pytest.raises(BadQuestion, match="20,001 characters; the maximum is 20,000"):
        found(index, "a" * 20_001)
    assert found(index, "axolotl " * 2_500, "or").hits  # 20,000 characters


def test_a_lone_surrogate_is_refused_with_its_place(index):
    with pytest.raises(BadQuestion, match="lone surrogate at character 2"):
        found(index, "ab\udc80")


def test_an_unknown_method_names_those_there_are(index):
    with pytest.raises(BadFilter, match="boolean, dense, or, paper, shrag"):
        found(index, "axolotl", "bm25")


@pytest.mark.parametrize("method", ["or", "paper", "shrag"])
@pytest.mark.parametrize("question", ["the of and", "그리고 매우", "?!", "😀👍"])
def test_nothing_to_search_for_is_said_and_finds_nothing(index, question, method):
    result = found(index, question, method)

    assert result.hits == ()
    assert result.notes == ("nothing to search for: only stop words, punctuation or signs",)


@pytest.mark.parametrize("method", ["or", "paper", "shrag", "boolean"])
def test_the_same_search_twice_gives_the_same_record(index, method):
    one, other = (found(index, QUESTION, method).as_record() for _ in range(2))

    assert one.pop("milliseconds").keys() == other.pop("milliseconds").keys()
    assert one == other


def test_found_by_names_the_queries_that_found_a_hit(index):
    [first] = [hit for hit in found(index, "axolotl limbs", "paper").hits if hit.passage_id == "DOI-1"]

    assert first.found_by == ("SQ2", "SQ1")
    assert first.as_record()["found_by"] == [2, 1]


def test_keywords_given_stand_in_for_those_from_statistics(index):
    given = (Keyword("pangolin", "en", ("pangolin",)), Keyword("trade", "en", ("trade",)))

    result = found(index, "천산갑 거래", "paper", keywords=given)

    assert result.keywords == given
    assert [query.query for query in result.queries] == ["pangolin OR trade", "pangolin"]
    assert {hit.passage_id for hit in result.hits} == {"TITLED", "TEXTUAL"}


def test_entropy_weighs_a_word_by_how_few_passages_it_gathers_in(index):
    result = found(index, "quokka 알고리즘", "paper", RetrieverSettings(ranking="entropy"))

    # Of 36 passages quokka stands alike in 12, 알고리즘 in one alone.
    assert [(one.text, one.weight) for one in result.keywords] == [
        ("알고리즘", pytest.approx(math.log(36))),
        ("quokka", pytest.approx(math.log(36) - math.log(12))),
    ]


def test_tf_idf_weighs_a_word_by_how_few_passages_hold_it(index):
    keywords = found(index, "quokka 알고리즘", "paper").keywords

    assert [(one.text, one.weight) for one in keywords] == [
        ("알고리즘", pytest.approx(math.log(1 + 35.5 / 1.5))),
        ("quokka", pytest.approx(math.log(1 + 24.5 / 12.5))),
    ]


def test_the_tokens_of_a_compound_weigh_each_what_it_weighs_itself(index):
    result = found(index, "정렬비교 quokka", "paper")

    # Of 36 passages 정렬 and 비교 stand in one each, quokka in 12.
    assert [(one.text, one.tokens) for one in result.keywords] == [
        ("정렬비교", ("정렬", "비교")),
        ("quokka", ("quokka",)),
    ]
    assert result.token_weights == {
        "정렬": pytest.approx(math.log(1 + 35.5 / 1.5)),
        "비교": pytest.approx(math.log(1 + 35.5 / 1.5)),
        "quokka": pytest.approx(math.log(1 + 24.5 / 12.5)),
    }


def test_a_token_of_two_given_keywords_weighs_what_the_weightier_does(index):
    given = (
        Keyword("trade", "en", ("trade",), 1.0),
        Keyword("pangolin trade", "en", ("pangolin", "trade"), 0.5),
    )

    assert found(index, "천산갑", keywords=given).token_weights == {"trade": 1.0, "pangolin": 0.5}
    assert found(index, "천산갑", keywords=given[::-1]).token_weights == {"trade": 1.0, "pangolin": 0.5}


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("roost", "Bats roost here."),
        ('"caves sleeping"', "…caves sleeping"),
        ("bats NOT (harbour -roost)", "Bats roost here."),
        ("title:sleepers bats^0.5 harbour^3", "harbour"),
    ],
)
def test_the_snippet_of_an_expression_shows_what_it_searches_for(tmp_path, expression, shown):
    filler = "Nothing of this is asked for by anyone who reads on to the end. " * 4
    text = f"{filler}Bats roost here. {filler}In caves sleeping. {filler}Boats fill the harbour. {filler}"
    with index_of(tmp_path, {"id": "BATS", "title": "sleepers", "abstract": text}) as index:
        [hit] = found(index, expression, "boolean").hits

    assert shown.strip("…") in hit.snippet


def test_an_explanation_of_shrag_gives_the_features_that_sum_to_the_score(index):
    account = explained(index, SearchRequest("axolotl limbs"), "DOI-1")
    [hit] = found(index, "axolotl limbs", "shrag", k=1).hits

    assert sum(value * weight for value, weight in account.features.values()) == pytest.approx(
        hit.score, abs=1e-4
    )


def test_an_explanation_counts_papers_as_a_search_does(tmp_path):
    twice = {"title": "양서류", "abstract": "도롱뇽과 개구리", "title2": "Amphibians"}
    papers = [
        {"id": f"P{n}", **twice, "title2": f"Axolotl {n}", "abstract2": f"axolotl limbs regrow {'x ' * n}"}
        for n in range(4)
    ]
    with index_of(tmp_path, *papers) as index:
        for method in ("shrag", "or"):
            for hit in found(index, "axolotl 도롱뇽", method).hits:
                own = explained(index, SearchRequest("axolotl 도롱뇽", method), hit.passage_id)
                assert (own.rank, own.shown) == (hit.rank, hit.passage_id)
                other = {hit.doc_id, f"{hit.doc_id}@en"} - {hit.passage_id}
                beside = explained(index, SearchRequest("axolotl 도롱뇽", method), other.pop())
                assert (beside.rank, beside.shown) == (hit.rank, hit.passage_id)


def test_a_passage_that_does_not_match_is_explained_as_not_found(index):
    account = explained(index, SearchRequest("axolotl", "or"), "BOTH")

    assert (account.rank, account.explanation.score, account.explanation.terms) == (None, 0, ())
    assert summary(account) == "not among the first 100 by method or"


@given(question=st.text(max_size=40), method=st.sampled_from(method_names()))
@example("😀 NOT", "boolean")
@example("\x00", "shrag")
@hypothesis_settings(max_examples=150)
def test_any_question_has_hits_or_a_retriever_error(tmp_path_factory, question, method):
    with opened(tmp_path_factory) as index:
        try:
            hits = found(index, question, method).hits
        except RetrieverError:
            return
    assert len(hits) <= 10


def test_the_most_relevant_papers_are_sorted_by_year_before_they_are_cut(index):
    expression = "비선형^9 OR hallucination"

    assert ids(index, expression, "boolean", k=1) == ["BOTH"]
    assert ids(index, expression, "boolean", k=2, sort="year") == ["KG-KO", "KG-EN"]  # of 2023 and 2020


def test_papers_of_an_author_are_found(index):
    assert ids(index, "hallucination", filters=Filters(author="Ada Kim")) == ["KG-EN"]
