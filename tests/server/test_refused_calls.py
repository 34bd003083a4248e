"""Calls that are refused: one table of calls, each with its status, code, place, note and words.

The page shows the note of a problem in both languages; programs rely on the code.
"""

import gzip
from typing import Any

import pytest

from base.notes import Note
from tests.generator.sample_index import ENGLISH

PROBLEM = "application/problem+json"
JSON = {"Content-Type": "application/json"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
STREAM = {"Accept": "text/event-stream"}
ASKED = {"question": ENGLISH}
RICE = {"question": "rice"}
PAPER = {"ids": ["SAMPLE-BAT-011"]}
SENTENCE = {"text": "It fell.", "section": "body", "citations": [], "check": "supported"}
OVERCITED = SENTENCE | {"citations": ["x"] * 101}
EVIDENCE = [{"passage_id": "SAMPLE-AGR-002", "doc_id": "SAMPLE-AGR-002"}]
ANSWER = {"format": "text", "answer": {"sentences": [SENTENCE]}}
BOTH = {"index": "sample", "sources": ["library"]}
PAPER_QA = RICE | {"way": "paper-qa-1"}


def assert_problem(response, status, code, words="", note=""):
    """Check a problem: of this status and code, with these words in English, and this note in Korean."""
    described = response.json()
    assert response.headers["content-type"] == PROBLEM
    assert (response.status_code, described["status"]) == (status, status), response.text
    assert described["code"] == code
    assert described["type"] == f"urn:shrag:problem:{code}"
    assert words in described["detail"], described["detail"]
    assert "Traceback" not in response.text
    if note:
        found = Note(described["note"]["code"], **described["note"]["values"])
        assert found.code == note
        assert found in described["detail"]
        assert found.in_language("ko") != found
    return described


@pytest.mark.parametrize(
    ("call", "place", "words", "note"),
    [
        ({"question": "x", "kk": 1}, "kk", "did you mean k?", ""),
        ({"question": "x", "exlude": ["a"]}, "exlude", "did you mean exclude?", ""),
        ({"question": "x", "\x00": 1}, "\x00", "unknown field", ""),
        ({}, "question", "is missing", "field_missing"),
        ({"question": ["x"]}, "question", "must be text", "field_not_text"),
        ({"question": "x", "k": 0}, "k", "must be at least 1", "field_at_least"),
        ({"question": "x", "k": 1_001}, "k", "must be at most 1000", "field_at_most"),
        ({"question": "x", "k": "many"}, "k", "must be a whole number", "field_not_whole"),
        ({"question": "x", "k": 10**400}, "k", "", ""),
        ({"question": "x", "conditions": "perhaps"}, "conditions", "must be true or false", ""),
        ({"question": "x", "strategy": {"en": "a"}}, "strategy.en", "must be a list", ""),
        ({"question": "x", "strategy": {"en": ["a"] * 51}}, "strategy.en", "at most 50 items", ""),
        ({"question": "x", "strategy": {"years": [2020, 2010]}}, "strategy.years", "after the last year", ""),
        ({"question": "x", "strategy": "{"}, "strategy", "", ""),
        ({"question": "x", "exclude": "a"}, "exclude", "must be a list", ""),
        ([], "", "must be a JSON object", ""),
        (True, "", "must be a JSON object", ""),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_named_in_plain_words(api, call, place, words, note):
    refused = api.post("/api/v1/search", json=call)
    described = assert_problem(refused, 422, "bad-request", words, note)
    assert described["place"] == (f"body.{place}" if place else "body")
    assert "input" not in described["detail"].lower()


@pytest.mark.parametrize(
    ("path", "call", "code", "words", "note"),
    [
        ("search", {"question": ""}, "bad-question", "the question is empty", "question_empty"),
        ("search", {"question": "x" * 20_001}, "bad-question", "20,001", "question_too_long"),
        ("search", RICE | {"year": "soon"}, "bad-filter", "no year", "no_such_years"),
        ("search", RICE | {"year": "2024..2019"}, "bad-filter", "2019..2024", "years_backwards"),
        ("search", RICE | {"lang": "fr"}, "bad-filter", "no language", "no_such_language"),
        ("search", RICE | {"method": "guess"}, "bad-filter", "guess", "no_such_method"),
        ("search", RICE | {"method": "dense"}, "bad-filter", "", "dense_without_vectors"),
        ("search", RICE | {"keywords": [""]}, "bad-question", "at least 1 character", "strategy_invalid"),
        ("search", RICE | {"exclude": ["a" * 201]}, "bad-question", "at most 200 characters", ""),
        ("search", RICE | {"skip": ["SQ99"]}, "bad-filter", "SQ99", "no_such_query"),
        (
            "search",
            RICE | {"question": "rice NOT (", "method": "boolean"},
            "bad-expression",
            "",
            "bracket_not_closed",
        ),
        ("search", {"question": "(a OR", "method": "boolean"}, "bad-expression", "", "operator_needs_sides"),
        ("search", RICE | {"index": "nope"}, "unknown-index", "no index 'nope'", "no_such_index"),
        ("search", RICE | BOTH, "invalid-call", "not both", ""),
        ("queries", RICE | BOTH, "invalid-call", "not both", ""),
        ("ask", RICE | BOTH, "invalid-call", "not both", ""),
        ("ask", RICE | {"model": "other"}, "unknown-model", "other", "no_such_model"),
        ("ask", RICE | {"way": "stroll"}, "unknown-way", "stroll", "no_such_way"),
        ("ask", PAPER_QA | {"method": "or"}, "bad-filter", "paper-qa-1", "way_takes_no_method"),
        ("ask", PAPER_QA | {"keywords": ["of"]}, "bad-filter", "", "way_takes_no_keywords"),
        ("ask", PAPER_QA | {"strategy": {"ko": ["배터리"]}}, "bad-filter", "", ""),
        ("ask", PAPER_QA | {"skip": ["SQ1"]}, "bad-filter", "", "way_takes_no_skip"),
        ("ask", RICE | {"way": "shrag", "topic": "X1"}, "bad-filter", "shrag", "way_takes_no_topic"),
        ("ask", PAPER_QA | {"topic": "X1"}, "unknown-paper", "X1", "no_such_title"),
        ("find-papers", {}, "bad-question", "", ""),
        ("find-papers", {"question": " "}, "bad-question", "", ""),
        ("find-papers", {"question": "x" * 20_001}, "bad-question", "", ""),
        ("find-papers", RICE | BOTH, "invalid-call", "", ""),
        ("find-papers", RICE | {"index": "nope"}, "unknown-index", "", ""),
        ("find-papers", RICE | {"without": ["wizard"]}, "bad-request", "", ""),
        ("find-papers", RICE | {"papers": 501}, "bad-request", "", ""),
        ("find-papers", RICE | {"max_seconds": 0}, "bad-request", "", ""),
        ("find-papers", RICE | {"year": "soon"}, "bad-filter", "", ""),
        ("find-papers", {"resume": "0f" * 16}, "unknown-search", "", ""),
        ("find-papers", {"resume": "../../sample"}, "unknown-search", "", ""),
        ("export", {"format": "ris"}, "invalid-call", "", "ids_question_or_answer"),
        ("export", {"format": "ris"} | ASKED | PAPER, "invalid-call", "", "ids_question_or_answer"),
        ("export", ANSWER | PAPER | {"evidence": EVIDENCE}, "invalid-call", "answer", ""),
        ("export", ANSWER, "invalid-call", "evidence", ""),
        ("export", ANSWER | {"format": "ris", "evidence": EVIDENCE}, "invalid-call", "docx", ""),
        ("export", ANSWER | {"answer": {"sentences": [SENTENCE] * 101}}, "bad-request", "100", ""),
        ("export", ANSWER | {"answer": {"sentences": [OVERCITED]}}, "bad-request", "100", ""),
        ("export", PAPER | {"format": "ris", "cite": "apa"}, "invalid-call", "cite", ""),
        ("export", PAPER | {"format": "text", "cite": "harvard"}, "bad-filter", "vancouver", ""),
        ("export", PAPER | {"format": "pdf"}, "bad-filter", "docx", "no_such_format"),
        ("export", {"format": "text", "ids": [*map(str, range(201))]}, "invalid-call", "200", ""),
        ("export", ASKED | {"format": "docx", "k": 201}, "invalid-call", "200", "style_too_many"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_in_the_commands_words_whole_or_streamed(
    api, path, call, code, words, note
):
    status = 404 if code in {"unknown-index", "unknown-paper", "unknown-search"} else 422
    refused = api.post(f"/api/v1/{path}", json=call)
    described = assert_problem(refused, status, code, words, note)
    if path in {"search", "ask", "find-papers"}:
        streamed = api.post(f"/api/v1/{path.replace('search', 'ask')}", json=call, headers=STREAM)
        if streamed.status_code == 200 and path != "find-papers":  # found out while the stream was open
            assert "event: error" in streamed.text
            assert f'"{code}"' in streamed.text
        else:
            assert streamed.json() == described


@pytest.mark.parametrize(
    "call", [ASKED | {"index": "sample", "sources": []}, ASKED | {"way": "paper-qa-1", "hops": "never"}]
)
def test_empty_lists_and_taken_options_are_answered(api, call):
    assert api.post("/api/v1/ask", json=call).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (b"{", JSON, "bad-request"),
        (b"null", JSON, "bad-request"),
        (b"", JSON, "bad-request"),
        (b"\xff\xfe\xfd", JSON, "bad-request"),
        (b'{"question": "\xff"}', JSON, "bad-request"),
        (b'{"question": "\\ud800"}', JSON, "bad-request"),
        (b'{"question": "x", "exclude": ["\\udfff"]}', JSON, "bad-request"),
        (b'{"question": "x", "k": NaN}', JSON, "bad-request"),
        (b'{"question": "x", "k": Infinity}', JSON, "bad-request"),
        (b'{"question": "x", "exclude": ' + b"[" * 60 + b"]" * 60 + b"}", JSON, "bad-request"),
        (b"question=x", {"Content-Type": "application/x-www-form-urlencoded"}, "wrong-media-type"),
        (b'{"question": "x"}', {"Content-Type": "text/plain"}, "wrong-media-type"),
        (b'{"question": "x"}', {}, "wrong-media-type"),
        (gzip.compress(b"{}", mtime=0), JSON | {"Content-Encoding": "gzip"}, "wrong-media-type"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_that_is_no_json_object_is_refused(api, body, headers, code):
    status = 415 if code == "wrong-media-type" else 422
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
    ("path", "status", "words"),
    [
        ("/nope", 404, ("이 주소에는 아무것도 없습니다", "There is nothing at this address")),
        ("/page/1/nope.js", 404, ()),
        ("/docs/nope.js", 404, ()),
        ("/<script>", 404, ()),
        ("/plain?q=a&k=none", 422, ()),
        ("/plain?q=a&year=never", 422, ()),
        ("/plain?q=a&index=nowhere", 404, ()),
        (f"/plain?q={'a' * 16_000}", 414, ()),
        (f"/?q={'a' * 16_000}", 414, ()),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_browser_gets_a_page_in_its_language(api, path, status, words):
    for language in ("ko", "en"):
        response = api.get(path, headers={**BROWSER, "Accept-Language": language})
        assert response.status_code == status
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert (f'lang="{language}"' in response.text, "<script>" in response.text) == (True, False)
        assert '<a href="/">' in response.text
        assert not words or words[language == "en"] in response.text


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
def test_a_record_that_was_tampered_with_does_no_more_than_a_call_may(api, changed: dict[str, Any], code):
    saved = api.post("/api/v1/record", json={"question": ENGLISH, "k": 1}).json()
    refused = api.post("/api/v1/rerun", json=saved | changed)
    assert_problem(refused, 404 if code == "unknown-index" else 422, code)
