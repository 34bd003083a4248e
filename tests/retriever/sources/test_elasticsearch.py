"""A foreign Elasticsearch or OpenSearch: its requests, and its good, bad and missing answers."""

import base64
import json
from typing import Any

import httpx
import pytest

from retriever.errors import SourceFailed
from retriever.queries.boolean import EVERYTHING, And, Exact, Not, Or, Phrase, Range, Term
from retriever.queries.filters import Filters
from retriever.sources.kinds.elasticsearch import ElasticsearchSource, Settings, search_query, written
from tests.virtual_clock import run

SECRET = "sehr-geheim-0815"
FIELDS = {
    "title": {"name": 2.0},
    "abstract": ["summary", "summary_en"],
    "body": "text",
    "year": "pub.year",
    "lang": "language",
    "authors": "people",
    "journal": "venue",
    "doi": "doi",
    "references": "cites",
    "keywords": "topics.label",
}
READ = "cites doi language name people pub.year summary summary_en topics.label venue".split()
METHANE = Or((Term("methane", ("methan",)),))


def settings(fields=FIELDS, **changed):
    values = {"kind": "elasticsearch", "url": "http://127.0.0.1:9200", "index": "books", "api_key": SECRET}
    return Settings.model_validate(values | {"fields": fields, "timeout_s": 5} | changed)


def match(text, *fields, kind="best_fields", **more):
    searched = list(fields or ("text", "topics.label", "summary", "summary_en", "name^2"))
    return {"multi_match": {"query": text, "fields": searched, "type": kind, "lenient": True, **more}}


def any_of(*clauses):
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}}


NOTHING: dict[str, Any] = {"match_none": {}}
RICE = Term("rice", ())


@pytest.mark.parametrize(
    ("query", "changed", "expected"),
    [
        (
            Or((Term("essays", ()), Term("벼", (), weight=0.5))),
            {},
            any_of(match("essays"), match("벼", boost=0.5)),
        ),
        (
            And((RICE, Not(Term("survey", ())), Range(None, 2020), Exact("doc_id", ("B1", "B2")))),
            {},
            {
                "bool": {
                    "must": [match("rice")],
                    "must_not": [match("survey")],
                    "filter": [{"range": {"pub.year": {"lte": 2020}}}, {"ids": {"values": ["B1", "B2"]}}],
                }
            },
        ),
        (Phrase("wet rice", (), "title", slop=2), {}, match("wet rice", "name^2", kind="phrase", slop=2)),
        (
            Range(2019, 2024),
            {"year_type": "date"},
            {"range": {"pub.year": {"gte": "2019-01-01", "lt": "2025-01-01", "format": "yyyy-MM-dd"}}},
        ),
        (Range(2019, 2024), {"year_type": "text"}, {"range": {"pub.year": {"gte": "2019", "lt": "2025"}}}),
        (Range(2019, 2024), {"fields": {"title": "t"}}, NOTHING),
        (Exact("lang", ("ko",)), {"languages": {"ko": "kor"}}, {"terms": {"language": ["kor"]}}),
        (Exact("journal", ("Soil",)), {}, any_of({"match_phrase": {"venue": "Soil"}})),
        (Term("메탄", ()), {"hangul": "prefixes"}, match("메탄", kind="phrase_prefix", max_expansions=100)),
        (Term("methane", ()), {"hangul": "prefixes"}, match("methane")),
        (Or(()), {}, NOTHING),
        (Exact("source", ("x",)), {}, NOTHING),
        (EVERYTHING, {}, {"bool": {"must_not": [NOTHING]}}),
    ],
)
def test_a_query_in_the_query_dsl(query, changed, expected):
    assert written(settings(**changed), query) == expected


def test_filters_of_fields_that_the_index_has_narrow_a_query():
    filters = Filters(years=Range(2019, None), lang="ko", journal="Soil")
    narrowed = search_query(settings(), RICE, filters)["bool"]
    assert narrowed["must"] == [match("rice")]
    assert {"range": {"pub.year": {"gte": 2019}}} in narrowed["filter"]
    assert {"terms": {"language": ["ko"]}} in narrowed["filter"]
    assert len(narrowed["filter"]) == 3
    assert search_query(settings({"title": "t"}), RICE, filters) == match("rice", "t")


def source(handler, **changed):
    return ElasticsearchSource("library", settings(**changed), transport=httpx.MockTransport(handler))


def asked_in(request):
    if request.url.path == "/books/_search":
        return [json.loads(request.content)]
    assert (request.url.path, request.content[-1:]) == ("/books/_msearch", b"\n")
    heads, bodies = request.content.split(b"\n")[:-1:2], request.content.split(b"\n")[1::2]
    assert set(heads) == {b"{}"}
    return list(map(json.loads, bodies))


def by_query(answer):
    """Answer each search of a request by a function of its query in the query DSL."""

    def handler(request):
        answers = [answer(body.get("query")) for body in asked_in(request)]
        is_many = request.url.path.endswith("_msearch")
        return httpx.Response(200, json={"responses": answers} if is_many else answers[0])

    return handler


def of_hits(*hits, **more):
    return {"hits": {"hits": list(hits)}, **more}


def answered(*hits, **more):
    return by_query(lambda _: of_hits(*hits, **more))


def found(handler, queries=((METHANE, 10),), filters=None, **changed):
    return run(source(handler, **changed).search(list(queries), filters=filters or Filters()))


def test_long_values_are_bounded():
    [[made]] = found(answered({"_id": "B1", "_source": {"name": "Rice", "summary": "x" * 1_000_000}})).found
    assert (made.id, made.title, made.abstract) == ("B1", "Rice", "x" * 20_000)


def test_all_queries_are_one_request_that_reads():
    asked = []

    def handler(request):
        asked.append(request)
        record = {"name": "Rice", "summary": "Methane."}
        hit = {True: {"_id": "B1", "_source": record}, False: {"_id": "B2", "_source": record}}
        return by_query(lambda query: of_hits(hit["rice" in str(query)]))(request)

    answer = found(handler, [(METHANE, 10), (RICE, 5), (METHANE, 3)])
    assert [[each.id for each in of] for of in answer.found] == [["B2"], ["B1"], ["B2"]]
    assert answer.requests == len(asked) == 1
    assert (asked[0].method, asked[0].url.path) == ("POST", "/books/_msearch")
    assert asked[0].headers["Authorization"] == f"ApiKey {SECRET}"
    _, body = asked_in(asked[0])  # equal queries are sent once
    assert body == {"query": match("rice"), "size": 5, "_source": READ, "track_total_hits": False}
    assert found(_raise(AssertionError()), []).found == ()


@pytest.mark.parametrize(("status", "text"), [(200, "All of it."), (403, "")])
@pytest.mark.parametrize("field", ["_id", "isbn"])
def test_full_texts_are_read_where_there_is_no_abstract_and_cost_no_paper(status, text, field):
    def handler(request):
        [body] = asked_in(request)
        if "text" not in body["_source"]:
            return answered({"_id": "B1", "_source": {"name": "Rice", "isbn": "978"}})(request)
        wanted = {"_id": {"ids": {"values": ["B1"]}}, "isbn": {"terms": {"isbn": ["978"]}}}
        assert body["query"] == wanted[field]
        record = {"name": "Rice", "isbn": "978", "text": "All of it."}
        return (
            answered({"_id": "B1", "_source": record})(request) if status == 200 else httpx.Response(status)
        )

    answer = found(handler, fields=FIELDS | {"id": field})
    assert [(each.id, each.body) for each in answer.found[0]] == [({"_id": "B1", "isbn": "978"}[field], text)]
    assert answer.requests == 2
    assert any("requests were not answered in full" in note for note in answer.notes) == (status != 200)


def _raise(error):
    def handler(_):
        raise error

    return handler


def _reply(status=200, **content):
    return lambda _: httpx.Response(status, **content)


CAUSE = {"type": "index_not_found_exception", "reason": "no such index [boks]"}
FAULTS = {
    "forbidden": (_reply(403, json={"error": f"no {SECRET}"}), "it answers 403: no ***"),
    "not there": (_reply(404, json={"error": {"root_cause": [CAUSE]}}), "no such index"),
    "cause": (
        _reply(json={"responses": [{"error": {"root_cause": [CAUSE]}}]}),
        "a query failed: no such index",
    ),
    "a list": (_reply(json=[1]), "its answer is not that of _msearch: [1]"),
    "too few answers": (_reply(json={"responses": []}), "not that of _msearch"),
    "no list of hits": (_reply(json={"responses": [{"hits": {"hits": {"a": 1}}}]}), "a query failed"),
    "huge": (_reply(content=b"x" * 20_000), "more than 10,000 bytes"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_server_is_named_in_one_line_without_the_key(fault):
    handler, said = FAULTS[fault]
    with pytest.raises(SourceFailed) as raised:
        found(handler, answer_bytes=10_000)
    message = str(raised.value)
    assert "source 'library' (Elasticsearch at http://127.0.0.1:9200): " in message
    assert said in message
    assert "\n" not in message
    assert SECRET not in message
    assert len(message) < 500


def test_credentials_and_the_address_of_a_server_elsewhere_stay_hidden():
    def handler(request):
        return httpx.Response(403, json={"error": f"{request.headers['Authorization']} {SECRET}"})

    with pytest.raises(
        SourceFailed, match=r"^source 'library' \(Elasticsearch\): it answers 403: Basic \*\*\* \*\*\*$"
    ) as raised:
        found(handler, api_key="", user="reader", password=SECRET, private=False)
    assert base64.b64encode(f"reader:{SECRET}".encode()).decode()[:6] not in str(raised.value)


LIBRARY: dict[str, dict[str, Any]] = {
    "B1": {"name": "First", "summary": "x", "cites": ["B2", "B1", "B9"]},
    "B2": {"name": "Second", "summary": "x", "cites": ["B1"]},
}


def library(query):
    """Answer look-ups by id, and by what a paper refers to."""
    ids = query.get("ids", {}).get("values")
    if ids is None:
        [cited] = query["terms"]["cites"]
        ids = [paper_id for paper_id, record in LIBRARY.items() if cited in record["cites"]]
    return of_hits(*({"_id": each, "_source": LIBRARY[each]} for each in ids if each in LIBRARY))


def test_references_are_followed_both_ways_if_their_field_is_known():
    asked = (("reference", ["B1", "B7"]), ("citing", ["B1", "B2"]))

    async def linked(opened):
        return [await opened.linked(kind, ids, 10) for kind, ids in asked]

    references, citing = run(linked(source(by_query(library))))
    names = {name: [each.id for each in of] for name, of in references.papers.items()}
    assert names == {"B1": ["B2", "B1"]}
    titles = {name: [each.title for each in of] for name, of in citing.papers.items()}
    assert titles == {"B1": ["First", "Second"], "B2": ["First"]}
    assert citing.requests == 1
    without = source(_raise(AssertionError()), fields={"title": "name"})
    assert not without.features.references
    assert [each.papers for each in run(linked(without))] == [{}, {}]
