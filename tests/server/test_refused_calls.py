"""Calls that are refused: each line of `refused_calls.jsonl` is a call, and what its answer must be.

The page shows the note of a problem in both languages; programs rely on status and code. In a line, `c*N` is
a text of N such characters; the calls of `/mcp` that name a tool are answered with an error of that tool.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from base.notes import Note
from tests.generator.sample_index import ENGLISH, NAME
from tests.server.running import TOOL_CALLS, UNLIMITED, application, tool_call

PROBLEM = "application/problem+json"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
STREAM = {"Accept": "text/event-stream"}
LINES = Path(__file__).with_name("refused_calls.jsonl").read_text("utf-8").splitlines()
STREAMED = {"search": "/ask", "ask": "/ask", "find-papers": "/find-papers"}
CHAT = {"model": NAME, "messages": [{"role": "user", "content": "rice"}]}


def whole(value: Any) -> Any:
    """Return a value of a line with its repeated parts."""
    if isinstance(value, list):
        return [*map(whole, value)]
    if isinstance(value, dict):
        repeated = value.keys() == {"times", "of"}
        return [value["of"]] * value["times"] if repeated else {key: whole(value[key]) for key in value}
    found = re.fullmatch(r"(.)\*(\d{3,})", value) if isinstance(value, str) else None
    return found[1] * int(found[2]) if found else value


@pytest.fixture(scope="module")
def operator(sample_home):
    """Run the application for its operator, who may do everything as often as he likes."""
    with application(sample_home, address="127.0.0.1", judgements=True, **UNLIMITED) as client:
        yield client


def assert_problem(response, status, code="", words="", note=""):
    """Check a problem: of this status and code, with these words in English, and this note in Korean."""
    described = response.json()
    assert response.headers["content-type"] == PROBLEM
    assert (response.status_code, described["status"]) == (status, status), response.text
    assert described["code"] == (code or described["code"])
    assert described["type"] == f"urn:shrag:problem:{described['code']}"
    assert words in described["detail"], described["detail"]
    assert "Traceback" not in response.text
    if note:
        found = Note(described["note"]["code"], **described["note"]["values"])
        assert found.code == note
        assert found in described["detail"]
        assert found.in_language("ko") != found
    return described


@pytest.mark.parametrize("line", LINES, ids=range(1, len(LINES) + 1))
def test_a_call_is_refused_with_its_status_code_place_and_words(operator, line):
    call = json.loads(line)
    path, headers, place = call.pop("path"), call.pop("headers", {}), call.pop("place", None)
    body, raw, tool = (whole(call.pop(name, None)) for name in ("body", "raw", "tool"))
    if tool:
        refused = tool_call(operator, tool, body)
        assert refused["isError"]
        assert call["words"] in refused["content"][0]["text"]
        return
    if path == "/mcp":
        headers = TOOL_CALLS | headers
    if path.startswith("/v1/"):
        body = CHAT | body
    given = {"json": body} if raw is None else {"content": raw.encode("latin-1")}
    content_type = {} if raw is None else {"Content-Type": "application/json"}
    response = operator.request(call.pop("method", "POST"), path, headers=content_type | headers, **given)
    if path.startswith(("/mcp", "/v1/")):
        assert response.status_code == call["status"], response.text
        assert "Traceback" not in response.text
        error = response.json()["error"] if path.startswith("/v1/") else {}
        assert error.get("code") == call.get("code", error.get("code"))
        assert place in {None, error.get("param")}
        return
    described = assert_problem(response, **call)
    assert place in {None, described.get("place")}
    if call["status"] == 405:
        assert response.headers["allow"] == call["words"]
    name = path.removeprefix("/api/v1/")
    if name in STREAMED and raw is None and call["code"] not in {"bad-request", "wrong-method"}:
        streamed = operator.post(f"/api/v1{STREAMED[name]}", json=body, headers=STREAM)
        if streamed.status_code == 200:  # found out while the stream was open
            assert "event: error" in streamed.text
            assert f'"{call["code"]}"' in streamed.text
        else:
            assert streamed.json() == described


def test_a_compressed_body_is_refused(operator):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = operator.post("/api/v1/search", content=gzip.compress(b"{}", mtime=0), headers=headers)
    assert_problem(response, 415, "wrong-media-type")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nope", 404, ("이 주소에는 아무것도 없습니다", "There is nothing at this address")),
        ("/page/1/nope.js", 404, ()),
        ("/<script>", 404, ()),
        ("/plain?q=a&k=none", 422, ()),
        ("/plain?q=a&year=never", 422, ()),
        ("/plain?q=a&index=nowhere", 404, ()),
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
        ({"request": {"question": "x", "k": 1_001}}, "bad-filter"),
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
