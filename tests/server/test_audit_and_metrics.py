"""What is kept of calls: the audit log with its files, and metrics; and what is kept nowhere."""

import json
import os
import re
import time
from threading import Event

import pytest

from server.monitoring.audit import AuditLog, CallLog
from tests.generator.sample_index import ENGLISH, NAME
from tests.needs import mostly_nightly
from tests.server.running import add_key, application, serving, wait_for

DAY_S = 86_400
SECRET = "a-question-that-stands-nowhere"
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+|NaN|\+Inf)$")


def lines_of(*files):
    """Return the lines of audit logs."""
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


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
    label, audit = 'room\n{"key": "forged"}', tmp_path / "audit.jsonl"
    key = add_key(home, label=label)
    with application(home, address="127.0.0.1", audit_file=audit) as client:
        headers = {"X-API-Key": key, "X-Request-ID": "r-1"}
        call = {"question": SECRET, "index": NAME, "k": 3}
        client.post("/api/v1/search", json=call, headers=headers)
        call = {"question": f"{SECRET} {ENGLISH}"}
        search_id = client.post("/api/v1/find-papers", json=call, headers=headers).json()["search"]
        client.get(f"/api/v1/find-papers/{search_id}", headers=headers)
        client.get("/api/v1/search", params={"question": SECRET, "key": key})
        client.get("/%0a{forged}", headers=headers)
        client.get("/healthz")

    found, papers, shown, refused, unknown = lines_of(audit)
    assert (papers["route"], shown["route"]) == ("/api/v1/find-papers", "/api/v1/find-papers/{search_id}")
    assert papers["known"] > 0
    assert (found["key"], found["label"], found["address"]) == (key.split("_")[1], label, "127.0.0.1")
    assert (found["method"], found["route"], found["status"]) == ("POST", "/api/v1/search", 200)
    assert (found["index"], found["hits"], found["request_id"]) == (NAME, 3, "r-1")
    assert found["time"].endswith("+00:00")
    assert (refused["key"], refused["status"], unknown["status"]) == (None, 401, 404)
    text = audit.read_text("utf-8").replace('{\\"key\\": \\"forged\\"}', "")
    assert [secret for secret in (search_id, SECRET, key, "forged}") if secret in text] == []


@pytest.mark.slow  # starts processes of the server
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


# The files of the audit log.


def numbers_in(folder):
    """Return the numbers in all audit logs of a folder."""
    return sorted(line["n"] for line in lines_of(*folder.iterdir()))


def test_a_full_file_is_renamed_and_no_line_is_lost(tmp_path):
    log = AuditLog(tmp_path / "audit", most_bytes=100)
    for number in range(40):
        log.write({"n": number})

    assert numbers_in(tmp_path) == [*range(40)]
    assert all(file.stat().st_size < 120 for file in tmp_path.iterdir())
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.iterdir())


def test_renamed_files_are_deleted_after_their_days_and_no_others(tmp_path):
    old = time.time() - 8 * DAY_S
    names = ["audit.20200101T000000000000-7", "audit.1", "other.20200101T000000000000-7", "audit.bak-7"]
    for name in names:
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (old, old))

    AuditLog(tmp_path / "audit", days=7)

    assert {file.name for file in tmp_path.iterdir()} == {"audit", *names[1:]}


def test_an_audit_log_of_a_previous_day_or_that_others_rotate_is_begun_anew(tmp_path):
    path = tmp_path / "audit"
    log = AuditLog(path)
    log.write({"n": 1})
    yesterday = time.time() - DAY_S
    os.utime(path, (yesterday, yesterday))
    log.write({"n": 2})
    assert (lines_of(path), numbers_in(tmp_path)) == ([{"n": 2}], [1, 2])
    path.rename(tmp_path / "audit.1")
    log.write({"n": 3})
    assert (lines_of(path), numbers_in(tmp_path)) == ([{"n": 3}], [1, 2, 3])
    path.unlink()
    log.write({"n": 4})
    assert lines_of(path) == [{"n": 4}]
    assert path.stat().st_mode & 0o077 == 0


REFUSED = {"route": "/r", "status": 429, "method": "GET", "milliseconds": 1, "time": "t"}


def test_refusals_that_go_on_are_a_line_for_each_minute(tmp_path):
    calls = CallLog(AuditLog(tmp_path / "audit"))
    for _ in range(3):
        for _ in range(5):
            calls.note(REFUSED, caller="key k", is_audited=True)
        calls.write_counted()
    calls.note(REFUSED | {"status": 200}, caller="key k", is_audited=True)
    calls.note(REFUSED, caller="key other", is_audited=True)
    calls.close()

    assert [line.get("refused") for line in lines_of(tmp_path / "audit")] == [None, 4, 5, 5, None, None]


def test_a_slow_disk_delays_no_call_and_lines_keep_their_order(tmp_path):
    disk_responds = Event()

    class Slow(AuditLog):
        def write(self, record):
            disk_responds.wait()
            super().write(record)

    calls = CallLog(Slow(tmp_path / "audit"))
    for number in range(3):
        calls.note(REFUSED | {"status": 200, "n": number}, caller="key k", is_audited=True)
    assert not lines_of(tmp_path / "audit")
    disk_responds.set()
    calls.close()

    assert [line["n"] for line in lines_of(tmp_path / "audit")] == [0, 1, 2]
