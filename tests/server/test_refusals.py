"""A caller who is refused and does not back off is counted in the logs; the number of processes."""

import json

import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.monitoring.audit import AuditLog, CallLog
from server.serving import default_workers


def lines_of(audit):
    """Return the records of an audit log."""
    return [json.loads(line) for line in audit.read_text("utf-8").splitlines()]


REFUSED = {"route": "/r", "status": 429, "method": "GET", "milliseconds": 1, "time": "t"}


def test_refusals_that_go_on_are_a_line_for_each_minute(tmp_path):
    calls = CallLog(AuditLog(tmp_path / "audit"))
    for _ in range(3):
        for _ in range(5):
            calls.note(REFUSED, caller="key k", is_audited=True)
        calls.write_counted()
    calls.note(REFUSED | {"status": 200}, caller="key k", is_audited=True)
    calls.note(REFUSED, caller="key other", is_audited=True)

    assert [line.get("refused") for line in lines_of(tmp_path / "audit")] == [None, 4, 5, 5, None, None]


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
