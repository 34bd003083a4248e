"""A caller who is refused and does not back off: held back, then disconnected; counted in the logs."""

import asyncio
import json
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.monitoring.audit import AuditLog
from server.monitoring.call_log import CallLog
from server.processes.worker_count import default_workers
from server.transport.holding import ANSWERED_AT_ONCE
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.running import START_S, serving, wait_for, workers_of
from tests.virtual_clock import run

BODY = json.dumps({"question": ENGLISH, "index": NAME})
ONE_SEARCH = {"server__searches_per_minute": 0.2, "server__search_burst": 1}  # no other while a test runs
JSON = {"Content-Type": "application/json"}
AT_ONCE = ANSWERED_AT_ONCE.burst


@pytest.fixture
def home(sample_home, tmp_path):
    """Return a home with the sample, to make keys in."""
    (tmp_path / NAME).symlink_to(sample_home / NAME)
    return tmp_path


@pytest.fixture(scope="module")
def limited(sample_home, tmp_path_factory):
    """Serve the sample to keys that may search once; yield the server and the header of an operator."""
    home = tmp_path_factory.mktemp("limited")
    (home / NAME).symlink_to(sample_home / NAME)
    admin = make(home, "--role", "operator")
    with serving(home, home / "log", **ONE_SEARCH) as server:
        yield server, admin


def make(home, *options):
    """Make a key by the command; return the header of it."""
    return {"X-API-Key": shrag("keys", "create", *options, home=home).stdout.strip()}


def search(server, headers):
    """Search the sample."""
    return server.post("/api/v1/search", content=BODY, headers={**JSON, **headers})


def asking(stack, server, headers):
    """Open a connection, and send a search."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=START_S)
    stack.callback(connection.close)
    connection.request("POST", "/api/v1/search", BODY, {**JSON, **headers})
    return connection


def lines_of(audit):
    """Return the records of an audit log."""
    return [json.loads(line) for line in audit.read_text("utf-8").splitlines()]


def held(server, admin):
    """Return how many refusals are held back."""
    lines = server.get("/metrics", headers=admin).text.splitlines()
    [value] = [float(line.split()[1]) for line in lines if line.startswith("shrag_held_refusals")]
    return value


@pytest.mark.slow
def test_refusals_are_answered_at_once_at_first_and_then_end_the_connection(limited):
    server, _ = limited
    key = make(server.home)
    with ExitStack() as stack:
        connection = asking(stack, server, key)
        answers = [connection.getresponse()]
        answers[0].read()
        while answers[-1].headers["Connection"] != "close" and len(answers) < 5 * AT_ONCE:
            connection.request("POST", "/api/v1/search", BODY, {**JSON, **key})
            answers.append(connection.getresponse())
            answers[-1].read()

    assert [answer.status for answer in answers[:2]] == [200, 429]
    assert (answers[-1].status, answers[-1].headers["Connection"]) == (429, "close")
    assert answers[-1].headers["Retry-After"]
    assert len(answers) > AT_ONCE + 1


@pytest.mark.slow
def test_others_are_answered_while_refusals_of_a_caller_are_held_back(limited):
    server, admin = limited
    busy, other = make(server.home), make(server.home)
    with ExitStack() as stack:
        calls = [asking(stack, server, busy) for _ in range(3 * AT_ONCE)]
        wait_for(lambda: held(server, admin), lambda number: number > 0)
        found = search(server, other)
        statuses = [call.getresponse().status for call in calls]

    assert found.status_code == 200
    assert sorted(statuses) == [200] + [429] * (3 * AT_ONCE - 1)


@pytest.mark.slow
def test_who_has_no_key_is_held_back_as_well(limited):
    server, admin = limited
    with ExitStack() as stack:
        calls = [asking(stack, server, {}) for _ in range(3 * AT_ONCE)]
        wait_for(lambda: held(server, admin), lambda number: number > 0)
        assert {call.getresponse().status for call in calls} == {401}


@pytest.mark.slow
def test_a_caller_who_leaves_is_not_held(limited):
    server, admin = limited
    busy = make(server.home)
    with ExitStack() as stack:
        for _ in range(3 * AT_ONCE):
            asking(stack, server, busy)
        wait_for(lambda: held(server, admin), lambda number: number > 0)
        stack.close()
        wait_for(lambda: held(server, admin), lambda number: number == 0)


@pytest.mark.slow
def test_the_audit_log_counts_refusals_of_a_caller(home):
    key, audit = make(home), home / "audit"
    with serving(home, home / "log", server__audit_file=audit, **ONE_SEARCH) as server:
        statuses = [search(server, key).status_code for _ in range(AT_ONCE)]
    found, first, counted = lines_of(audit)

    assert statuses == [200] + [429] * (AT_ONCE - 1)
    assert found["status"] == 200
    assert first["status"] == counted["status"] == 429
    assert "refused" not in first
    assert counted["refused"] == AT_ONCE - 2
    assert counted["key"] == key["X-API-Key"].split("_")[1]
    assert first["time"] <= counted["since"] <= counted["time"]


REFUSED = {"route": "/r", "status": 429, "method": "GET", "milliseconds": 1, "time": "t"}


def test_refusals_that_go_on_are_a_line_for_each_interval(tmp_path):
    async def refuse_for_three_intervals():
        with AuditLog(tmp_path / "audit") as audit:
            async with CallLog(audit, interval_s=60).keeping() as calls:
                for _ in range(3):
                    for _ in range(5):
                        calls.note(REFUSED, caller="key k", is_audited=True)
                    await asyncio.sleep(61)
                calls.note(REFUSED | {"status": 200}, caller="key k", is_audited=True)
                calls.note(REFUSED, caller="key other", is_audited=True)

    run(refuse_for_three_intervals())

    assert [line.get("refused") for line in lines_of(tmp_path / "audit")] == [None, 4, 5, 5, None, None]


def test_refusals_that_are_audited_are_counted_apart_from_those_that_are_not(tmp_path):
    async def refuse():
        with AuditLog(tmp_path / "audit") as audit:
            async with CallLog(audit).keeping() as calls:
                calls.note(REFUSED, caller="address 192.0.2.1", is_audited=False)
                for _ in range(3):
                    calls.note(REFUSED, caller="address 192.0.2.1", is_audited=True)

    run(refuse())

    assert [line.get("refused") for line in lines_of(tmp_path / "audit")] == [None, 2]


@pytest.mark.slow
def test_refusals_of_an_ipv6_network_are_counted_together(home):
    make(home)
    audit = home / "audit"
    settings = {"server__audit_file": audit, "server__proxies": "127.0.0.1"}
    with serving(home, home / "log", **settings) as server:
        for number in range(1, 6):
            search(server, {"X-Forwarded-For": f"2001:db8::{number}"})
    first, counted = lines_of(audit)

    assert (first["status"], first["address"], "refused" in first) == (401, "2001:db8::1", False)
    assert (counted["refused"], counted["address"]) == (4, "2001:db8::5")


def test_one_process_answers_for_each_core():
    assert default_workers(IndexerSettings(), []) == usable_cores()


@pytest.mark.parametrize(
    "model",
    [
        {"encoder": {"provider": "local"}},
        {"reranker": {"provider": "local"}},
        {"check": {"judge": "local", "model": "/m"}},
    ],
)
def test_one_process_alone_loads_a_model(model):
    assert default_workers(IndexerSettings(**model), []) == 1


def test_one_process_alone_asks_services_on_the_network(monkeypatch):
    monkeypatch.setenv("SHRAG_SOURCES__WIKI__KIND", "wikipedia")
    monkeypatch.setenv("SHRAG_SOURCES__WIKI__LANGUAGE", "en")
    monkeypatch.setenv("SHRAG_SOURCES__WIKI__CONTACT", "library@example.org")

    assert default_workers(IndexerSettings(), read_declared(["wiki"])) == 1


@pytest.mark.nightly
@pytest.mark.slow
def test_a_server_starts_a_process_for_each_core(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", server__workers=0) as server:
        if usable_cores() > 1:
            workers_of(server, usable_cores())
        assert server.get("/api/v1/status").json()["server"]["workers"] == usable_cores()
