"""The number of processes that answer."""

import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.serving import default_workers

WIKI = {"KIND": "wikipedia", "LANGUAGE": "en", "CONTACT": "library@example.org"}


@pytest.mark.parametrize(
    ("settings", "sources", "workers"),
    [
        ({}, [], usable_cores()),
        ({"encoder": {"provider": "local"}}, [], 1),  # one process alone loads a model
        ({"reranker": {"provider": "local"}}, [], 1),
        ({"check": {"judge": "local", "model": "/m"}}, [], 1),
        ({}, ["wiki"], 1),  # and asks services on the network
    ],
)
def test_one_process_answers_for_each_core_unless_one_alone_may(monkeypatch, settings, sources, workers):
    for key, value in WIKI.items():
        monkeypatch.setenv(f"SHRAG_SOURCES__WIKI__{key}", value)

    assert default_workers(IndexerSettings(**settings), read_declared(sources)) == workers
