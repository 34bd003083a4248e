"""Limits of a server and of keys: who is refused, and what the answer says."""

import re
from functools import partial
from typing import Any

from server.access.keys import KeyLimits
from server.limits.counting import DAY_S
from tests.generator.sample_index import ENGLISH, NAME
from tests.server.running import TOOL_CALLS, add_key, application, message, tool_call

SLOWLY: dict[str, Any] = {"searches_per_minute": 0.2, "search_burst": 3}  # none comes back while a test runs


def add(home, role="reader", **limits):
    """Add a key; return its header."""
    return {"X-API-Key": add_key(home, role=role, limits=KeyLimits(**limits))}


def call(client, headers=None, path="search"):
    """Ask the sample."""
    return client.post(f"/api/v1/{path}", json={"question": ENGLISH, "index": NAME}, headers=headers)


def statuses(client, number, headers=None, path="search"):
    return [call(client, headers, path).status_code for _ in range(number)]


def test_a_key_has_so_many_searches(home):
    one, other = add(home), add(home)
    with application(home, **SLOWLY, asks_per_minute=0) as client:
        assert statuses(client, 5, one) == [200] * 3 + [429] * 2
        refused = call(client, one)
        assert refused.json()["code"] == "too-often"
        assert 1 <= int(refused.headers["retry-after"]) <= 300
        assert refused.headers["ratelimit-policy"] == '"search";q=3;w=900'
        assert re.fullmatch(r'"search";r=0;t=\d+', refused.headers["ratelimit"])
        assert statuses(client, 5, one, "ask") == [200] * 5
        assert statuses(client, 1, other) == [200]


def test_a_keys_own_rate_is_for_searches_and_questions_together(home):
    slow, free = add(home, per_minute=6), add(home, per_minute=0)
    with application(home, **SLOWLY) as client:
        first = [call(client, slow, path) for path in ("search", "ask", "search")]
        assert [answer.status_code for answer in first] == [200, 200, 429]
        assert first[0].headers["ratelimit-policy"] == '"key";q=2;w=20'
        assert client.get("/api/v1/indexes", headers=slow).status_code == 200
        assert statuses(client, 5, free) == [200] * 5


def test_a_day_has_so_many_searches_and_questions(home):
    key, operator = add(home, per_day=3), add(home, "operator")
    with application(home) as client:
        assert client.post("/api/v1/search", json=[], headers=key).status_code == 422  # not counted
        third = [call(client, key, path) for path in ("search", "ask", "facets")][-1]
        assert third.headers.get_list("ratelimit")[0].startswith('"search"')
        assert '"day";r=0' in third.headers["ratelimit"]
        refused = call(client, key)
        assert (refused.status_code, refused.json()["code"]) == (429, "quota-used")
        assert 1 <= int(refused.headers["retry-after"]) <= DAY_S
        assert client.get("/api/v1/indexes", headers=key).status_code == 200
        found = client.post("/v1/chat/completions", json={"model": NAME, "messages": []}, headers=key)
        assert found.json()["error"]["code"] == "insufficient_quota"
        listed = client.get("/api/v1/status", headers=operator).json()["keys"]
        assert [each["today"] for each in listed if each["id"] == key["X-API-Key"].split("_")[1]] == [3]


def test_what_programs_look_up_of_the_tools_is_reading_and_the_work_of_a_tool_that_of_the_api(home):
    key = add(home)
    with application(home, reads_per_minute=0.2, read_burst=2) as client:
        listed = (client.post("/mcp", json=message("tools/list"), headers=TOOL_CALLS | key) for _ in "abc")
        assert [answer.status_code for answer in listed] == [200, 200, 429]
    with application(home, **SLOWLY) as client:
        first, *_, last = (tool_call(client, "search", {"query": ENGLISH}, **key) for _ in range(4))
        assert call(client, key).status_code == 429
    assert not first.get("isError")
    assert "more calls (search)" in last["content"][0]["text"]


def test_only_reported_nobody_is_refused(home):
    with application(home, report_only=True, open=True, **SLOWLY) as client:
        for headers in (None, add(home, per_day=3, per_minute=0)):
            answers = [call(client, headers) for _ in range(5)]
            assert {answer.status_code for answer in answers} == {200}
            assert answers[-1].headers["x-ratelimit-report-only"] == "exceeded"
            assert "x-ratelimit-report-only" not in answers[0].headers


def test_addresses_are_those_that_trusted_proxies_name(home):
    with application(home, address="192.0.2.7", proxies="192.0.2.7", open=True, **SLOWLY) as client:
        seen = {
            forwarded: statuses(client, 4, {"X-Forwarded-For": forwarded})
            for forwarded in ("198.51.100.1", "203.0.113.5, 198.51.100.1", "198.51.100.2")
        }
        network = [call(client, {"X-Forwarded-For": f"2001:db8::{part}"}).status_code for part in range(1, 5)]
    # An entry before the proxy's own one is what the caller pretends.
    assert list(seen.values()) == [[200] * 3 + [429], [429] * 4, [200] * 3 + [429]]
    assert network == [200] * 3 + [429]


def test_work_that_takes_too_long_is_ended(home):
    with application(home, search_s=0.001) as client:
        answer = call(client)
    assert (answer.status_code, answer.json()["code"]) == (503, "too-slow")


def test_a_flood_of_wrong_keys_is_refused(home):
    right = add(home)
    wrong = {"Authorization": f"Bearer {right['X-API-Key'][:-1]}"}
    with application(home) as client:
        flood = partial(client.get, "/api/v1/indexes")
        assert flood(headers=wrong).status_code == 401
        for each in (wrong, {"Cookie": "shrag=made-up"}):
            assert 429 in {flood(headers=each).status_code for _ in range(60)}
        assert client.get("/", headers=wrong).status_code == 200
        assert call(client, right).status_code == 200
