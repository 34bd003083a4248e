"""What a cluster is sent: requests as dictionaries, written out."""

import pytest

from indexer.analysis import make_analyzer
from retriever.engines.requests import (
    compiled,
    count_body,
    filtered,
    phrase_query,
    search_body,
    similarity_body,
)
from retriever.expert import parse_expression
from retriever.queries import And, Exact, Filters, Not, Or, Phrase, Range, Term, or_query

GRAPH = Term("graph", ("graph",))
CATS = Term("cats", ("cat",))
OF_GRAPH = {"term": {"text": {"value": "graph", "boost": 1.0}}}
OF_CATS = {"term": {"text": {"value": "cat", "boost": 1.0}}}
EVERYTHING: dict[str, object] = {"match_all": {}}
NOTHING: dict[str, object] = {"match_none": {}}


def test_a_search_asks_for_ids_by_score_then_id():
    assert search_body(GRAPH, Filters(), 15) == {
        "query": OF_GRAPH,
        "size": 15,
        "sort": [{"_score": "desc"}, {"passage_id": "asc"}],
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["doc_id"],
    }


def test_filters_stand_where_they_do_not_score():
    filters = Filters(Range(2019, None), "ko", "통계연구", ("A", "B@en"), complete=True)

    assert filtered(GRAPH, filters) == {
        "bool": {
            "must": [OF_GRAPH],
            "filter": [
                {"bool": {"filter": [{"terms": {"lang": ["ko"]}}]}},
                {"bool": {"filter": [{"terms": {"journal": ["통계연구"]}}]}},
                {"bool": {"filter": [{"range": {"year": {"gte": 2019}}}]}},
                {
                    "bool": {
                        "must_not": [{"bool": {"filter": [{"terms": {"passage_id": ["A", "B@en"]}}]}}],
                        "filter": [EVERYTHING],
                    }
                },
                {"term": {"incomplete": False}},
            ],
        }
    }


def test_without_filters_a_query_stands_alone():
    assert filtered(GRAPH, Filters()) == OF_GRAPH


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (GRAPH, OF_GRAPH),
        (
            Term("graph", ("graph",), "title", 0.35),
            {"term": {"title": {"value": "graph", "boost": 0.35}}},
        ),
        (
            Term("x", ("graph", "cat")),
            {"bool": {"should": [OF_GRAPH, OF_CATS], "minimum_should_match": 1}},
        ),
        (Term("x", ()), NOTHING),
        (Or((GRAPH, CATS)), {"bool": {"should": [OF_GRAPH, OF_CATS], "minimum_should_match": 1}}),
        (And((GRAPH, CATS)), {"bool": {"must": [OF_GRAPH, OF_CATS]}}),
        (
            And((Or((GRAPH, CATS)), CATS)),
            {
                "bool": {
                    "must": [
                        {"bool": {"should": [OF_GRAPH, OF_CATS], "minimum_should_match": 1}},
                        OF_CATS,
                    ]
                }
            },
        ),
        (Or(()), NOTHING),
        (And(()), NOTHING),
        (Range(2019, 2021), {"bool": {"filter": [{"range": {"year": {"gte": 2019, "lte": 2021}}}]}}),
        (Range(None, 2021), {"bool": {"filter": [{"range": {"year": {"lte": 2021}}}]}}),
        (Exact("part", ("body",)), {"bool": {"filter": [{"terms": {"part": ["body"]}}]}}),
    ],
)
def test_each_kind_of_query_has_one_request(query, expected):
    assert compiled(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (And((GRAPH, Not(CATS))), {"must": [OF_GRAPH], "must_not": [OF_CATS]}),
        (
            Or((GRAPH, Not(CATS))),
            {"should": [OF_GRAPH], "must_not": [OF_CATS], "minimum_should_match": 1},
        ),
        (Not(CATS), {"must_not": [OF_CATS], "filter": [EVERYTHING]}),
        (Or((Not(CATS),)), {"must_not": [OF_CATS], "filter": [EVERYTHING]}),
        (Or((Term("x", ()), Not(CATS))), {"must_not": [OF_CATS], "filter": [EVERYTHING]}),
    ],
)
def test_a_negation_holds_for_what_stands_beside_it(query, expected):
    assert compiled(query) == {"bool": expected}


def test_the_words_of_an_or_stand_in_one_flat_union():
    query = or_query([Term("x", ("graph", "cat")), GRAPH], title_weight=0.5)

    assert compiled(query) == {
        "bool": {
            "should": [
                OF_GRAPH,
                OF_CATS,
                OF_GRAPH,
                {"term": {"title": {"value": "graph", "boost": 0.5}}},
                {"term": {"title": {"value": "cat", "boost": 0.5}}},
                {"term": {"title": {"value": "graph", "boost": 0.5}}},
            ],
            "minimum_should_match": 1,
        }
    }


def test_an_or_of_words_without_tokens_finds_nothing():
    assert compiled(Or((Term("x", ()), Term("y", ())))) == NOTHING


def test_a_phrase_is_a_line_of_its_tokens():
    phrase = Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), "title", 2.0, slop=3)

    assert phrase_query(phrase) == {
        "match_phrase": {"title": {"query": "지식 그래프", "analyzer": "whitespace", "slop": 3, "boost": 2.0}}
    }


def test_a_phrase_may_begin_behind_the_first_position():
    phrase = Phrase("x", ((2, "state"), (3, "art")))

    assert phrase_query(phrase)["match_phrase"]["text"]["query"] == "state art"


def test_a_phrase_of_one_word_is_that_word():
    assert compiled(Phrase("graph", ((0, "graph"),))) == OF_GRAPH


def test_a_phrase_with_gaps_goes_as_spans():
    phrase = Phrase("state of the art today", ((0, "state"), (3, "art"), (5, "todai")), slop=1)

    assert phrase_query(phrase) == {
        "span_near": {
            "clauses": [
                {"span_term": {"text": "state"}},
                {"span_gap": {"text": 2}},
                {"span_term": {"text": "art"}},
                {"span_gap": {"text": 1}},
                {"span_term": {"text": "todai"}},
            ],
            "slop": 1,
            "in_order": True,
            "boost": 1.0,
        }
    }


@pytest.mark.parametrize("token", ["two words", "em\u2003space", "가" * 128])
def test_a_token_that_is_no_word_of_a_line_goes_as_a_span(token):
    assert phrase_query(Phrase("x", ((0, "graph"), (1, token)))) == {
        "span_near": {
            "clauses": [{"span_term": {"text": "graph"}}, {"span_term": {"text": token}}],
            "slop": 0,
            "in_order": True,
            "boost": 1.0,
        }
    }


def test_an_expression_becomes_one_request():
    query = parse_expression(
        '제목:"지식 그래프" AND (retrieval^2 OR 검색) NOT survey year:2019..2024', ANALYZER
    )

    assert query is not None
    assert compiled(query) == {
        "bool": {
            "must": [
                {
                    "match_phrase": {
                        "title": {
                            "query": "지식 그래프",
                            "analyzer": "whitespace",
                            "slop": 0,
                            "boost": 1.0,
                        }
                    }
                },
                {
                    "bool": {
                        "should": [
                            {"term": {"text": {"value": "retriev", "boost": 2.0}}},
                            {"term": {"text": {"value": "검색", "boost": 1.0}}},
                        ],
                        "minimum_should_match": 1,
                    }
                },
                {"bool": {"filter": [{"range": {"year": {"gte": 2019, "lte": 2024}}}]}},
            ],
            "must_not": [{"term": {"text": {"value": "survei", "boost": 1.0}}}],
        }
    }


ANALYZER = make_analyzer("bilingual")


def test_a_count_asks_for_no_hits():
    assert count_body(OF_GRAPH) == {"query": OF_GRAPH, "size": 0, "track_total_hits": True}


def test_similarities_are_compared_among_the_given_passages_only():
    assert similarity_body([0.5, 0.25], ["A", "B"], 2) == {
        "knn": {
            "field": "vector",
            "query_vector": [0.5, 0.25],
            "k": 2,
            "num_candidates": 2,
            "filter": [{"terms": {"passage_id": ["A", "B"]}}, {"exists": {"field": "vector"}}],
        },
        "size": 2,
        "track_total_hits": False,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["passage_id"],
    }
