"""A caller who is refused and does not back off is counted in the logs; the number of processes."""

import asyncio
import json

import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.monitoring.audit import AuditLog
from server.monitoring.call_log import CallLog
from server.processes.worker_count import default_workers
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.running import serving, workers_of
from tests.virtual_clock import run

BODY = json.dumps({"question": ENGLISH, "index": NAME})
ONE_SEARCH = {"server__searches_per_minute": 0.2, "server__search_burst": 1}  # no other while a test runs
JSON = {"Content-Type": "application/json"}
CALLS = 20


@pytest.fixture
def home(sample_home, tmp_path):
    """Return a home with the sample, to make keys in."""
    (tmp_path / NAME).symlink_to(sample_home / NAME)
    return tmp_path


def make(home, *options):
    """Make a key by the command; return the header of it."""
    return {"X-API-Key": shrag("keys", "create", *options, home=home).stdout.strip()}


def search(server, headers):
    """Search the sample."""
    return server.post("/api/v1/search", content=BODY, headers={**JSON, **headers})


def lines_of(audit):
    """Return the records of an audit log."""
    return [json.loads(line) for line in audit.read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_the_audit_log_counts_refusals_of_a_caller(home):
    key, audit = make(home), home / "audit"
    with serving(home, home / "log", server__audit_file=audit, **ONE_SEARCH) as server:
        statuses = [search(server, key).status_code for _ in range(CALLS)]
    found, first, counted = lines_of(audit)

    assert statuses == [200] + [429] * (CALLS - 1)
    assert found["status"] == 200
    assert first["status"] == counted["status"] == 429
    assert "refused" not in first
    assert counted["refused"] == CALLS - 2
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
