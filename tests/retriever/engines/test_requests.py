"""What a cluster is sent, as dictionaries."""

import pytest

from indexer.analysis import make_analyzer
from retriever.engines.requests import (
    compiled,
    phrase_query,
)
from retriever.queries.boolean import Phrase
from retriever.queries.expert import parse_expression

ANALYZER = make_analyzer("bilingual")


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
