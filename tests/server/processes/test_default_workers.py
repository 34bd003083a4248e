"""The number of processes that answer."""

import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.serving import default_workers


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
