"""What is kept of calls: the audit log, metrics, log lines; and what is kept nowhere."""

import json
import re

import pytest

from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.needs import mostly_nightly
from tests.server.running import serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server

SECRET = "a-question-that-stands-nowhere"
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+|NaN|\+Inf)$")


def lines_of(path):
    """Return the records of an audit log."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def metrics_of(server, headers=None):
    """Return the samples of /metrics, by name and labels."""
    text = server.get("/metrics", headers=headers).raise_for_status().text
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            found[sample[1], sample[2] or ""] = float(sample[3])
    return found


def test_the_audit_log_says_who_asked_what_where_and_when(home, tmp_path):
    key = shrag("keys", "create", "--label", 'room\n{"key": "forged"}', home=home).stdout.strip()
    audit = tmp_path / "audit.jsonl"
    with serving(home, tmp_path / "log", server__audit_file=audit) as server:
        headers = {"X-API-Key": key, "X-Request-ID": "r-1"}
        call = {"question": SECRET, "index": NAME, "k": 3}
        server.post("/api/v1/search", json=call, headers=headers)
        found = server.post("/api/v1/find-papers", json={"question": f"{SECRET} {ENGLISH}"}, headers=headers)
        search_id = found.json()["search"]
        server.get(f"/api/v1/find-papers/{search_id}", headers=headers)
        server.get("/api/v1/search", params={"question": SECRET, "key": key})
        server.get("/%0a{forged}", headers=headers)
        server.get("/healthz")

    found, papers, shown, refused, unknown = lines_of(audit)
    assert (papers["route"], shown["route"]) == ("/api/v1/find-papers", "/api/v1/find-papers/{search_id}")
    assert papers["known"] > 0
    assert found["key"] == key.split("_")[1]
    assert found["label"] == 'room\n{"key": "forged"}'
    assert (found["method"], found["route"], found["status"]) == ("POST", "/api/v1/search", 200)
    assert (found["index"], found["hits"], found["request_id"]) == (NAME, 3, "r-1")
    assert found["address"] == "127.0.0.1"
    assert found["time"].endswith("+00:00")
    assert (refused["key"], refused["status"]) == (None, 401)
    assert unknown["status"] == 404
    text = audit.read_text("utf-8")
    assert search_id not in text
    assert SECRET not in text
    assert key not in text
    assert "forged}" not in text.replace('{\\"key\\": \\"forged\\"}', "")


@pytest.mark.parametrize("workers", mostly_nightly([1, 2], by_day={2}))
def test_metrics_count_all_processes_and_name_routes_not_questions(sample_home, tmp_path, workers):
    with serving(sample_home, tmp_path / "log", server__workers=workers) as server:
        for _ in range(6):
            call = {"question": f"{SECRET} {ENGLISH}"}
            server.post("/api/v1/search", json=call)
        server.post("/api/v1/ask", json={"question": ENGLISH})
        server.post("/api/v1/find-papers", json={"question": f"{SECRET} {ENGLISH}"})
        stream = {"Accept": "text/event-stream"}
        server.post("/api/v1/ask", json={"question": ENGLISH}, headers=stream)
        for path in ("/nothing", f"/{SECRET}", f"/api/v1/indexes/{SECRET}"):
            server.get(path)
        server.request(SECRET.upper(), "/healthz")
        expected = {
            ("shrag_calls_total", 'method="POST",route="/api/v1/search",status="200"'): 6,
            ("shrag_calls_total", 'method="GET",route="",status="404"'): 2,
            ("shrag_calls_total", 'method="GET",route="/api/v1/indexes/{name}",status="404"'): 1,
            ("shrag_paper_searches_total", f'complete="true",index="{NAME}",judged_by="rules"'): 1,
            ("shrag_searches_total", f'index="{NAME}",method="shrag"'): 8,
            ("shrag_first_event_seconds_count", 'route="/api/v1/ask"'): 1,
            ("shrag_queue_wait_seconds_count", 'work="search"'): 6,
            ("shrag_index_version", f'index="{NAME}"'): 1,
            ("shrag_running", 'work="search"'): 0,
        }
        # A call is counted when its answer has been sent.
        found = wait_for(lambda: metrics_of(server), lambda found: expected.items() <= found.items())

    assert sum(value for (name, _), value in found.items() if name == "shrag_answers_total") == 2
    assert any(name == "shrag_search_stage_seconds_count" for name, _ in found)
    assert SECRET not in str(found)
    assert len(found) < 2_000
