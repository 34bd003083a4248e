"""Calls that nobody should make: each is answered or refused in plain words, and nothing else happens."""

import gzip
from unicodedata import normalize
from urllib.parse import quote

import httpx
import pytest

from tests.generator.sample_index import ENGLISH
from tests.indexer.made_corpora import build, write_jsonl
from tests.server.running import serving

PROBLEM = "application/problem+json"
JSON = {"Content-Type": "application/json"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ODD_IDS = [
    "10.1000/xyz#1",
    "a%2Fb",
    "a%b",
    "what?is=this&that",
    "/leading",
    "trailing/",
    "a//b",
    "../../etc/passwd",
    "..%2f..",
    "a\\b",
    "한국어/논문#2",
    "😀",
    "a+b",
    "a;b,c:d@e!$'()*",
    '"><script>alert(1)</script>',
    "${7*7}{{7*7}}",
    "x" * 512,
    "가" * 512,
    "@en",
    "#",
    "ü\u200b\u202e",
    "null",
    "ER-",
    "=1+1",
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Serve an index of a Korean name whose papers have all odd ids."""
    home = tmp_path_factory.mktemp("odd")
    records = [
        {
            "id": doc_id,
            "title": f"Aerogel {number}",
            "abstract": f"Aerogel number {number} slows the runaway of cells.",
            "references": ODD_IDS[:number][-2:],
        }
        for number, doc_id in enumerate(ODD_IDS)
    ]
    build(home, write_jsonl(home.parent / "odd.jsonl", records), name="논문.모음")
    build(home, write_jsonl(home.parent / "two.jsonl", records[:2]), name="other")
    with (
        serving(
            home, home.parent / "log", server__searches_per_minute=0, server__reads_per_minute=0
        ) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        yield client


def assert_problem(response, status, code, words=""):
    described = response.json()
    assert response.headers["content-type"] == PROBLEM
    assert (response.status_code, described["status"]) == (status, status), response.text
    assert described["code"] == code
    assert described["type"] == f"urn:shrag:problem:{code}"
    assert words in described["detail"], described["detail"]
    assert "Traceback" not in response.text
    return described


@pytest.mark.parametrize("doc_id", ODD_IDS)
def test_a_paper_of_any_id_has_an_address(odd, doc_id):
    address = f"/api/v1/papers/{quote(doc_id, safe='')}"
    paper = odd.get(address, params={"index": "논문.모음"})
    assert paper.status_code == 200, paper.text
    assert paper.json()["doc_id"] == doc_id
    assert paper.json()["record"]["id"] == doc_id
    passage_id = paper.json()["passages"][0]["passage_id"]
    passage = odd.get(f"/api/v1/passages/{quote(passage_id, safe='')}", params={"index": "논문.모음"})
    assert passage.json()["doc_id"] == doc_id
    if doc_id.isascii():  # a decomposed one is the same one
        return
    decomposed = quote(normalize("NFD", doc_id), safe="")
    assert odd.get(f"/api/v1/papers/{decomposed}", params={"index": "논문.모음"}).json() == paper.json()


@pytest.mark.parametrize(
    ("call", "place", "words"),
    [
        ({"question": "x", "kk": 1}, "body.kk", "did you mean k?"),
        ({"question": "x", "exlude": ["a"]}, "body.exlude", "did you mean exclude?"),
        ({"question": "x", "\x00": 1}, "body.\x00", "unknown field"),
        ({}, "body.question", "is missing"),
        ({"question": ["x"]}, "body.question", "must be text"),
        ({"question": "x", "k": 0}, "body.k", "must be at least 1"),
        ({"question": "x", "k": 1_001}, "body.k", "must be at most 1000"),
        ({"question": "x", "k": "many"}, "body.k", "must be a whole number"),
        ({"question": "x", "k": 10**400}, "body.k", ""),
        ({"question": "x", "conditions": "perhaps"}, "body.conditions", "must be true or false"),
        ({"question": "x", "strategy": {"en": "a"}}, "body.strategy.en", "must be a list"),
        ({"question": "x", "strategy": {"en": ["a"] * 51}}, "body.strategy.en", "at most 50 items"),
        (
            {"question": "x", "strategy": {"years": [2020, 2010]}},
            "body.strategy.years",
            "after the last year",
        ),
        ({"question": "x", "strategy": "{"}, "body.strategy", ""),
        ({"question": "x", "exclude": "a"}, "body.exclude", "must be a list"),
        ([], "body", "must be a JSON object"),
        (True, "body", "must be a JSON object"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_named_in_plain_words(api, call, place, words):
    described = assert_problem(api.post("/api/v1/search", json=call), 422, "bad-request", words)
    assert described["place"] == place
    assert "input" not in described["detail"].lower()


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        ({"question": ""}, "bad-question", "the question is empty"),
        ({"question": "x", "year": "soon"}, "bad-filter", "no year"),
        ({"question": "x", "lang": "fr"}, "bad-filter", "no language"),
        ({"question": "x", "keywords": [""]}, "bad-question", "at least 1 character"),
        ({"question": "x", "exclude": ["a" * 201]}, "bad-question", "at most 200 characters"),
        ({"question": "(a OR", "method": "boolean"}, "bad-expression", ""),
        ({"question": "x", "index": "nope"}, "unknown-index", "no index 'nope'"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_in_the_commands_words_whole_or_streamed(api, call, code, words):
    status = 404 if code.startswith("unknown") else 422
    found = api.post("/api/v1/search", json=call)
    assert_problem(found, status, code, words)
    whole = api.post("/api/v1/ask", json=call)
    streamed = api.post("/api/v1/ask", json=call, headers={"Accept": "text/event-stream"})
    if streamed.status_code == 200:  # found out while the stream was open
        assert "event: error" in streamed.text
        assert f'"{code}"' in streamed.text
    else:
        assert streamed.json() == whole.json() == found.json()


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", JSON, 422, "bad-request"),
        (b"null", JSON, 422, "bad-request"),
        (b"", JSON, 422, "bad-request"),
        (b"\xff\xfe\xfd", JSON, 422, "bad-request"),
        (b'{"question": "\xff"}', JSON, 422, "bad-request"),
        (b'{"question": "\\ud800"}', JSON, 422, "bad-request"),
        (b'{"question": "x", "exclude": ["\\udfff"]}', JSON, 422, "bad-request"),
        (b'{"question": "x", "k": NaN}', JSON, 422, "bad-request"),
        (b'{"question": "x", "k": Infinity}', JSON, 422, "bad-request"),
        (b'{"question": "x", "exclude": ' + b"[" * 60 + b"]" * 60 + b"}", JSON, 422, "bad-request"),
        (b"question=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "wrong-media-type"),
        (b'{"question": "x"}', {"Content-Type": "text/plain"}, 415, "wrong-media-type"),
        (b'{"question": "x"}', {}, 415, "wrong-media-type"),
        (
            gzip.compress(b'{"question": "x"}', mtime=0),
            JSON | {"Content-Encoding": "gzip"},
            415,
            "wrong-media-type",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_that_is_no_json_object_is_refused(api, body, headers, status, code):
    for path in ("search", "ask", "keywords", "queries", "facets"):
        assert_problem(api.post(f"/api/v1/{path}", content=body, headers=headers), status, code)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/v1/search", "GET, HEAD, POST"),
        ("PUT", "/api/v1/ask", "GET, HEAD, POST"),
        ("OPTIONS", "/api/v1/search", "GET, HEAD, POST"),
        ("GET", "/api/v1/keywords", "POST"),
        ("POST", "/api/v1/papers/x", "GET, HEAD"),
        ("PATCH", "/api/v1/indexes", "GET, HEAD"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_told_which_are_right(api, method, path, allowed):
    response = api.request(method, path)
    assert_problem(response, 405, "wrong-method", allowed)
    assert response.headers["allow"] == allowed


@pytest.mark.parametrize(
    ("language", "words"),
    [("ko", "이 주소에는 아무것도 없습니다"), ("en", "There is nothing at this address")],
)
@pytest.mark.parametrize("path", ["/nope", "/page/1/nope.js", "/docs/nope.js", "/<script>"])
def test_a_browser_gets_a_page_where_there_is_none(api, path, language, words):
    response = api.get(path, headers={**BROWSER, "Accept-Language": language})
    assert response.status_code == 404
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert words in response.text
    assert '<a href="/">' in response.text
    assert "<script>" not in response.text


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"request": {"question": ""}}, "bad-question"),
        ({"request": {"question": "x" * 20_001}}, "bad-question"),
        ({"request": {"question": "x", "k": 1_001}}, "bad-filter"),
        ({"request": {"question": "x", "k": 10**9}}, "bad-filter"),
        ({"request": {"question": "x", "method": "../../shrag"}}, "bad-filter"),
        ({"request": {"question": "x", "filters": {"doc_ids": "a"}}}, "invalid-call"),
        ({"index": {"name": "../../etc", "version": 1, "fingerprint": {}}}, "invalid-call"),
        ({"index": {"name": "nope", "version": 1, "fingerprint": {}}}, "unknown-index"),
        ({"hits": [{"rank": 1}]}, "invalid-call"),
    ],
    ids=str,
)
def test_a_record_that_was_tampered_with_does_no_more_than_a_call_may(api, changed, code):
    saved = api.post("/api/v1/record", json={"question": ENGLISH, "k": 1}).json()
    refused = api.post("/api/v1/rerun", json=saved | changed)
    assert_problem(refused, 404 if code == "unknown-index" else 422, code)
