"""Queries as they are written for an Elasticsearch or OpenSearch index of somebody else's."""

import pytest

from retriever.queries.boolean import EVERYTHING, And, Exact, Not, Or, Phrase, Range, Term
from retriever.queries.filters import Filters
from retriever.sources.foreign_index.queries import count_body, records_body, search_body, written
from retriever.sources.foreign_index.settings import Settings

FIELDS = {
    "title": {"name.full": 2.0},
    "abstract": ["summary", "summary_en"],
    "year": "pub.year",
    "lang": "language",
    "journal": "venue",
    "references": "cites",
}


def settings(**changed):
    values = {"kind": "elasticsearch", "url": "http://127.0.0.1:9200", "index": "books", "fields": FIELDS}
    return Settings.model_validate(values | changed)


def match(text, fields=("summary", "summary_en", "name.full^2"), kind="best_fields", **more):
    return {"multi_match": {"query": text, "fields": list(fields), "type": kind, "lenient": True, **more}}


def test_a_search_is_the_or_of_words_in_the_fields_of_the_mapping():
    query = Or((Term("essays", ("essay",)), Term("피드백", ("피드백",), weight=0.5)))
    assert search_body(settings(), query, 10, Filters()) == {
        "query": {
            "bool": {"should": [match("essays"), match("피드백", boost=0.5)], "minimum_should_match": 1}
        },
        "size": 10,
        "_source": [
            "cites",
            "language",
            "name.full",
            "pub.year",
            "summary",
            "summary_en",
            "venue",
        ],
        "track_total_hits": False,
    }


def test_filters_that_the_index_has_fields_for_go_along():
    body = search_body(
        settings(),
        Term("essays", ()),
        5,
        Filters(years=Range(2019, None), lang="ko", journal="Library Review"),
    )
    assert body["query"] == {
        "bool": {
            "must": [match("essays")],
            "filter": [
                {"terms": {"language": ["ko"]}},
                {
                    "bool": {
                        "should": [{"match_phrase": {"venue": "Library Review"}}],
                        "minimum_should_match": 1,
                    }
                },
                {"range": {"pub.year": {"gte": 2019}}},
            ],
        }
    }
    bare = settings(fields={"title": "t"})
    assert search_body(bare, Term("essays", ()), 5, Filters(years=Range(2019, None), lang="ko"))[
        "query"
    ] == match("essays", ["t"])


@pytest.mark.parametrize(
    ("year_type", "bounds"),
    [
        ("number", {"gte": 2019, "lte": 2024}),
        ("date", {"gte": "2019-01-01", "lt": "2025-01-01", "format": "yyyy-MM-dd"}),
        ("text", {"gte": "2019", "lt": "2025"}),
    ],
)
def test_a_range_of_years_is_written_for_the_type_of_its_field(year_type, bounds):
    written_range = written(settings(year_type=year_type), Range(2019, 2024))
    assert written_range == {"range": {"pub.year": bounds}}


def test_and_not_phrase_and_exact_are_clauses_of_a_bool_query():
    query = And(
        (
            Phrase("knowledge graph", ((0, "knowledg"), (1, "graph")), field="title", slop=2),
            Not(Term("survey", ("survey",))),
            Range(None, 2020),
            Exact("doc_id", ("B1", "B2")),
        )
    )
    assert written(settings(), query) == {
        "bool": {
            "must": [match("knowledge graph", ["name.full^2"], "phrase", slop=2)],
            "must_not": [match("survey")],
            "filter": [{"range": {"pub.year": {"lte": 2020}}}, {"ids": {"values": ["B1", "B2"]}}],
        }
    }


@pytest.mark.parametrize("query", [Or(()), And(()), Exact("source", ("x",)), Exact("part", ("body",))])
def test_what_nothing_can_match_is_asked_as_that(query):
    assert written(settings(), query) == {"match_none": {}}


def test_everything_is_what_nothing_excludes():
    assert written(settings(), EVERYTHING) == {"bool": {"must_not": [{"match_none": {}}]}}


def test_korean_words_may_be_looked_for_as_what_words_begin_with():
    prefixes = settings(hangul="prefixes")
    assert written(prefixes, Term("메탄", ("메탄",))) == match(
        "메탄", kind="phrase_prefix", max_expansions=100
    )
    assert written(prefixes, Term("methane", ("methan",))) == match("methane")


def test_a_count_reads_no_record():
    assert count_body(settings(), "methane") == {
        "query": match("methane"),
        "size": 0,
        "track_total_hits": True,
        "_source": False,
    }
    assert count_body(settings(), None)["query"] == {"match_all": {}}


def test_records_are_read_by_the_field_of_their_id():
    assert records_body(settings(), ["B1"])["query"] == {"ids": {"values": ["B1"]}}
    by_field = settings(fields=FIELDS | {"id": "isbn"})
    body = records_body(by_field, ["B1", "B2"])
    assert body["query"] == {"terms": {"isbn": ["B1", "B2"]}}
    assert "isbn" in body["_source"]
    assert body["size"] == 2


def test_languages_are_called_as_the_index_calls_them():
    called = settings(languages={"ko": "kor"})
    assert written(called, Exact("lang", ("ko",))) == {"terms": {"language": ["kor"]}}
