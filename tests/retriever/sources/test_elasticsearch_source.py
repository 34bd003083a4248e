"""A server of somebody else's that answers well, badly, or not at all."""

import asyncio
import base64
import json
import math
from typing import Any

import httpx
import pytest

from retriever.errors import SourceFailed
from retriever.queries.boolean import Or, Range, Term
from retriever.queries.filters import Filters
from retriever.sources.foreign_index.settings import Settings
from retriever.sources.kinds.elasticsearch import ElasticsearchSource
from retriever.sources.merging import LimitedSource, ask_sources
from tests.virtual_clock import run

SECRET = "sehr-geheim-0815"
FIELDS = {
    "title": "name",
    "abstract": ["summary", "summary_en"],
    "body": "text",
    "year": "year",
    "lang": "language",
    "authors": "people",
    "journal": "venue",
    "doi": "doi",
    "references": "cites",
    "keywords": "topics.label",
}
METHANE = Or((Term("methane", ("methan",)),))


def settings_of(fields=FIELDS, **changed):
    values = {"kind": "elasticsearch", "url": "http://127.0.0.1:9200", "index": "books", "api_key": SECRET}
    return Settings.model_validate(values | {"fields": fields, "timeout_s": 1} | changed)


def source(handler, **changed):
    return ElasticsearchSource("library", settings_of(**changed), transport=httpx.MockTransport(handler))


def answered(*hits):
    """Answer every search of a request by the same hits."""

    def handler(request):
        searches = len(request.content.splitlines()) // 2
        return httpx.Response(200, json={"responses": [{"hits": {"hits": list(hits)}}] * searches})

    return handler


def found(handler, queries=((METHANE, 10),), filters=None, **changed):
    return run(source(handler, **changed).search(list(queries), filters=filters or Filters()))


def paper(**record):
    [[only]] = found(answered({"_id": "B1", "_score": 2.5, "_source": record})).found
    return only.paper


def test_a_record_becomes_a_paper():
    made = paper(
        name="Rice",
        summary="Methane.",
        summary_en="More.",
        year=2019,
        language="en",
        people=["A. Kim", "B. Lee"],
        venue="Soil",
        doi="10.1/x",
        cites=["B2", 3],
        topics=[{"label": "rice"}, {"label": "water"}],
    )
    assert made.record() == {
        "id": "B1",
        "title": "Rice",
        "abstract": "Methane.\nMore.",
        "source": "library",
        "year": 2019,
        "lang": "en",
        "authors": ["A. Kim", "B. Lee"],
        "journal": "Soil",
        "doi": "10.1/x",
        "keywords": ["rice", "water"],
        "references": ["B2", "3"],
    }


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"year": "2019-05"}, {"year": 2019}),
        ({"year": "May 2019"}, {"year": 2019}),
        ({"year": ["2019", "2020"]}, {"year": 2019}),
        ({"year": 99999}, {"year": None}),
        ({"year": {"from": 2019}}, {"year": None}),
        ({"name": ["Rice", "and water"]}, {"title": "Rice\nand water"}),
        ({"name": None, "summary": 17}, {"title": "", "abstract": "17"}),
        ({"name": {"full": "Rice"}}, {"title": ""}),
        ({"people": "A. Kim; B. Lee | C. Park"}, {"authors": ["A. Kim", "B. Lee", "C. Park"]}),
        ({"people": [{"name": "A. Kim"}, {"nome": "?"}, None]}, {"authors": ["A. Kim"]}),
        ({"language": "kor"}, {"lang": "ko"}),
        ({"language": "fr"}, {"lang": "other"}),
        ({"language": True, "name": "벼"}, {"lang": "ko"}),
        ({"cites": ["has space", "", None, "B2"]}, {"references": ["B2"]}),
        ({"doi": [], "venue": {}}, {"doi": "", "journal": ""}),
        ({"summary": "x" * 1_000_000}, {"abstract": "x" * 20_000}),
    ],
)
def test_whatever_stands_in_a_field_becomes_what_can_be_made_of_it(record, expected):
    made = paper(**record)
    assert {name: getattr(made, name) for name in expected} == expected


def test_a_record_may_hold_a_lone_surrogate():
    content = b'{"responses": [{"hits": {"hits": [{"_id": "B1", "_source": {"name": "Rice \\ud800"}}]}}]}'
    [[only]] = found(lambda _: httpx.Response(200, content=content)).found
    assert only.paper.title == "Rice \ufffd"


def test_records_without_a_usable_id_are_left_out_and_counted():
    hits = [{"_source": {"name": "no id"}}, {"_id": "a b"}, "no hit", None, {"_id": "B1", "_source": None}]
    answer = found(answered(*hits))
    assert [each.paper.id for each in answer.found[0]] == ["B1"]
    assert answer.notes == ("4 records without a usable id were left out",)


def test_hits_that_nobody_asked_for_have_an_end():
    hits = [{"_id": f"B{number}", "_source": {"name": "Rice"}} for number in range(11_000)]
    [papers] = found(answered(*hits)).found
    assert len(papers) == 10_000


def test_all_queries_go_in_one_request_that_reads():
    asked = []

    def handler(request):
        asked.append(request)
        return answered({"_id": "B1", "_source": {"name": "Rice", "summary": "Methane."}})(request)

    answer = found(handler, [(METHANE, 10)] * 11)
    assert len(answer.found) == 11
    assert answer.requests == len(asked) == 1
    assert (asked[0].method, asked[0].url.path) == ("POST", "/books/_msearch")
    assert asked[0].headers["Authorization"] == f"ApiKey {SECRET}"
    assert len(asked[0].content.splitlines()) == 22


def test_full_texts_are_read_where_there_is_no_abstract():
    def handler(request):
        [_, body] = map(json.loads, request.content.splitlines())
        hit = {"_id": "B1", "_source": {"name": "Rice"}}
        if body["_source"] == ["text"]:
            assert body["query"] == {"ids": {"values": ["B1"]}}
            hit = {"_id": "B1", "_source": {"text": "All of it."}}
        return answered(hit)(request)

    answer = found(handler)
    assert answer.found[0][0].paper.body == "All of it."
    assert answer.requests == 2


def test_full_texts_that_do_not_come_cost_no_paper():
    def handler(request):
        [_, body] = map(json.loads, request.content.splitlines())
        return httpx.Response(403) if body["_source"] == ["text"] else answered({"_id": "B1"})(request)

    answer = found(handler)
    assert [paper.paper.id for paper in answer.found[0]] == ["B1"]
    assert any("full texts were not read" in note for note in answer.notes)


def test_filters_that_the_index_lacks_are_told():
    answer = found(answered(), filters=Filters(years=Range(2019, None), lang="ko"), fields={"title": "name"})
    assert answer.notes == ("has no field for years, lang: its hits were filtered afterwards",)


def test_one_query_that_fails_costs_the_others_nothing():
    def handler(_):
        error = {"error": {"type": "x", "reason": f"bad {SECRET}"}, "status": 400}
        hits = {"hits": {"hits": [{"_id": "B1", "_source": {"name": "Rice", "summary": "x"}}]}}
        return httpx.Response(200, json={"responses": [error, hits]})

    answer = found(handler, [(METHANE, 10)] * 2)
    assert [len(of) for of in answer.found] == [0, 1]
    assert "a query failed" in answer.notes[0]
    assert SECRET not in answer.notes[0]


def test_what_was_sent_to_log_in_is_told_nowhere():
    def handler(request):
        sent = request.headers["Authorization"]
        return httpx.Response(403, json={"error": "x" * 280 + f" {sent} {SECRET}"})

    with pytest.raises(SourceFailed) as raised:
        found(handler, api_key="", user="reader", password=SECRET)
    assert "Basic" in str(raised.value)
    assert base64.b64encode(f"reader:{SECRET}".encode()).decode()[:6] not in str(raised.value)


@pytest.mark.parametrize("score", ["1" + "0" * 400, "-5e999", "NaN", '"2"'])
def test_a_score_that_is_no_finite_number_costs_no_paper(score):
    hit = f'{{"_id": "B1", "_score": {score}, "_source": {{"name": "Rice \\ud800"}}}}'
    content = f'{{"responses": [{{"hits": {{"hits": [{hit}]}}}}]}}'.encode()
    [[only]] = found(lambda _: httpx.Response(200, content=content)).found
    assert (only.paper.id, only.score) == ("B1", None)


def test_shards_that_failed_are_told():
    answer = {"hits": {"hits": []}, "timed_out": True, "_shards": {"failed": 1}}
    told = found(lambda _: httpx.Response(200, json={"responses": [answer]}))
    assert told.notes == ("a part of it did not answer in time: some papers may be missing",)


def _slow(_):
    raise httpx.ReadTimeout("was silent for 1 s")


def _refused(_):
    raise httpx.ConnectError("All connection attempts failed")


FAULTS = {
    "redirect": (lambda _: httpx.Response(302, headers={"Location": "http://x/"}), "redirect"),
    "forbidden": (lambda _: httpx.Response(403, json={"error": f"no {SECRET}"}), "status 403: no"),
    "not there": (
        lambda _: httpx.Response(404, json={"error": {"reason": "no such index [books]"}}),
        "no such index",
    ),
    "html": (lambda _: httpx.Response(200, html="<h1>Welcome</h1>"), "a web page"),
    "a list": (lambda _: httpx.Response(200, json=[1]), "no JSON object"),
    "another object": (lambda _: httpx.Response(200, json={"ok": SECRET}), "not that of _msearch"),
    "too few answers": (lambda _: httpx.Response(200, json={"responses": []}), "not that of _msearch"),
    "garbage answers": (lambda _: httpx.Response(200, json={"responses": [7]}), "a query failed"),
    "no list of hits": (
        lambda _: httpx.Response(200, json={"responses": [{"hits": {"hits": {"a": 1}}}]}),
        "a query failed",
    ),
    "hits of another kind": (
        lambda _: httpx.Response(200, json={"responses": [{"hits": 7}]}),
        "a query failed",
    ),
    "cut off": (lambda _: httpx.Response(200, content=b'{"responses": [{"hits"'), "no JSON"),
    "deep": (lambda _: httpx.Response(200, content=b"[" * 9_000), "no JSON"),
    "huge": (lambda _: httpx.Response(200, content=b"x" * 20_000), "more than 10,000 bytes"),
    "packed": (
        lambda _: httpx.Response(200, content=b"x", headers={"Content-Encoding": "br"}),
        "",
    ),
    "overloaded": (lambda _: httpx.Response(503, text="busy"), "status 503: busy"),
    "silent": (_slow, "silent"),
    "refused": (_refused, "connection attempts failed"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_is_told_in_one_line_without_the_key(fault):
    handler, said = FAULTS[fault]
    with pytest.raises(SourceFailed) as raised:
        found(handler, answer_bytes=10_000)
    message = str(raised.value)
    assert "source 'library' at http://127.0.0.1:9200: " in message
    assert said in message
    assert "\n" not in message
    assert SECRET not in message
    assert len(message) < 500


def test_of_a_server_elsewhere_the_address_is_not_told():
    with pytest.raises(SourceFailed, match=r"^source 'library': status 403: no"):
        found(FAULTS["forbidden"][0], private=False)


def test_a_server_that_was_overloaded_is_asked_again():
    answers = [httpx.Response(429), httpx.Response(503)]

    def handler(request):
        return answers.pop() if answers else answered()(request)

    assert found(handler).found == ((),)


def test_words_are_counted_without_reading_records():
    def handler(request):
        bodies = [json.loads(line) for line in request.content.splitlines()[1::2]]
        assert all(body["size"] == 0 for body in bodies)
        totals = [120 if "match_all" in body["query"] else 7 for body in bodies]
        answers: list[Any] = [{"hits": {"total": {"value": total}, "hits": []}} for total in totals]
        answers[-1] = {"hits": {"total": 3, "hits": []}}  # as before version 7
        return httpx.Response(200, json={"responses": answers})

    counted = run(source(handler).frequencies(["methane", "rice"]))
    assert counted == ({"methane": 7, "rice": 3}, 120)


def test_a_count_beyond_all_papers_can_still_be_computed_with():
    counts = {"hits": {"total": {"value": 10**400}, "hits": []}}
    answers = {"responses": [counts] * 2}
    counted = run(source(lambda _: httpx.Response(200, json=answers)).frequencies(["methane"]))
    assert counted is not None
    assert math.isfinite(float(counted[1]))


@pytest.mark.parametrize("total", ["many", -1, None, True, {"value": "7"}])
def test_a_count_that_is_no_number_counts_nothing(total):
    answers = {"responses": [{"hits": {"total": total, "hits": []}}] * 2}
    assert run(source(lambda _: httpx.Response(200, json=answers)).frequencies(["methane"])) is None


def test_of_an_error_the_cause_is_told():
    cause = {"type": "index_not_found_exception", "reason": "no such index [boks]"}
    failed = {"error": {"root_cause": [cause], "type": "x", "reason": "all shards failed"}, "status": 404}
    with pytest.raises(SourceFailed, match=r"a query failed: no such index \[boks\]$"):
        found(lambda _: httpx.Response(200, json={"responses": [failed]}))


def described_by(totals, begun=4):
    """Return what a server says of a description, by how many papers have each field, or a word so begun."""

    def handler(request):
        answers: list[Any] = []
        for line in request.content.splitlines()[1::2]:
            query = json.loads(line)["query"]
            prefix = query.get("multi_match", {}).get("type") == "phrase_prefix"
            total = totals.get(query["exists"]["field"], 3) if "exists" in query else begun if prefix else 2
            answers.append(
                {"error": {"reason": "no"}} if total is None else {"hits": {"total": total, "hits": []}}
            )
        return httpx.Response(200, json={"responses": answers})

    return run(source(handler).wrongly_described())


def test_fields_that_no_paper_has_are_named():
    told = described_by({"summary": 0, "people": 0, "venue": None})  # of the last nothing is known
    assert [line.split("(")[1].split(")")[0] for line in told] == ["abstract", "authors"]


def test_an_index_that_cuts_korean_at_spaces_is_told():
    assert described_by({}, begun=4) == ()
    [told] = described_by({}, begun=40)
    assert 'hangul = "prefixes"' in told


def test_a_search_that_took_its_time_leaves_full_texts_theirs_and_keeps_its_papers():
    async def handler(request):
        [_, body] = map(json.loads, request.content.splitlines())
        await asyncio.sleep(60 if body["_source"] == ["text"] else 0.5)
        return answered({"_id": "B1", "_source": {"name": "Rice"}})(request)

    async def asked():
        opened = source(handler, timeout_s=2)
        limited = LimitedSource(opened, settings_of(timeout_s=2).longest_s)
        return await ask_sources([limited], lambda each: each.search([(METHANE, 10)], filters=Filters()))

    answer = run(asked()).answers["library"]
    assert [each.paper.id for each in answer.found[0]] == ["B1"]
    assert any("full texts were not read" in note for note in answer.notes)


def test_a_server_that_was_silent_once_is_not_waited_for_again():
    asked = []

    async def handler(request):
        asked.append(request)
        await asyncio.sleep(60)

    async def twice():
        opened = source(handler, timeout_s=0.2)
        limited = LimitedSource(opened, 60)
        for _ in range(2):
            with pytest.raises(SourceFailed, match="silent for"):
                await ask_sources([limited], lambda each: each.search([(METHANE, 10)], filters=Filters()))

    run(twice())
    assert len(asked) == 1


LIBRARY: dict[str, dict[str, Any]] = {
    "B1": {"name": "First", "summary": "x", "cites": ["B2", "B1", "B9"]},
    "B2": {"name": "Second", "summary": "x", "cites": ["B1"]},
}


def library(request):
    """Answer look-ups by id, and by what a paper refers to."""
    answers = []
    for line in request.content.splitlines()[1::2]:
        query = json.loads(line)["query"]
        ids = query.get("ids", {}).get("values")
        if ids is None:
            [cited] = query["terms"]["cites"]
            ids = [paper_id for paper_id, record in LIBRARY.items() if cited in record["cites"]]
        hits = [{"_id": paper_id, "_source": LIBRARY[paper_id]} for paper_id in ids if paper_id in LIBRARY]
        answers.append({"hits": {"hits": hits}})
    return httpx.Response(200, json={"responses": answers})


def test_references_are_followed_both_ways():
    async def linked():
        opened = source(library)
        return await opened.references(["B1", "B7"], 10), await opened.citing(["B1"], 10)

    references, citing = run(linked())
    assert {name: [each.paper.id for each in of] for name, of in references.papers.items()} == {
        "B1": ["B2", "B1"]
    }
    assert [each.paper.title for each in citing.papers["B1"]] == ["First", "Second"]


def test_without_a_field_of_references_there_are_none_and_nothing_is_asked():
    def handler(_):
        raise AssertionError

    opened = source(handler, fields={"title": "name"})
    assert not opened.features.references
    assert run(opened.references(["B1"], 10)).papers == {}
