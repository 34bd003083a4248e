"""Searching while versions are published: nothing fails, and nobody sees two versions at once."""

import asyncio
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.conftest import BY_NIGHT
from tests.indexer.made_corpora import ROOT, build, environment_of, write_jsonl

SEARCHES = 1_000 if BY_NIGHT else 100
THREADS = 4

# Publishes versions, in each of which every paper holds the version's own word, until it is ended.
PUBLISHER = """
import itertools, json, sys
from pathlib import Path
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings

corpus = Path(sys.argv[1])
for version in itertools.count(2):
    corpus.write_text("".join(
        json.dumps({"id": f"P{n}", "title": f"paper {n}", "abstract": f"methane version{version}"}) + chr(10)
        for n in range(5)
    ))
    build_index(IngestRequest("papers", [str(corpus)], rebuild=version % 2 == 0), IndexerSettings())
    print(version, flush=True)
"""


def versions_seen(result):
    return {version for hit in result.hits for version in re.findall(r"version\d+", hit.passage.text)}


@pytest.fixture
def home(tmp_path):
    records = [{"id": f"P{n}", "title": f"paper {n}", "abstract": "methane version1"} for n in range(5)]
    build(tmp_path / "home", write_jsonl(tmp_path / "first.jsonl", records))
    return tmp_path / "home"


@pytest.mark.slow
def test_hundreds_of_searches_while_versions_are_published(home, tmp_path):
    request = SearchRequest("methane", method="or")

    def search_once(_):
        with open_index(IndexerSettings(home=home), "papers") as index:
            result = asyncio.run(search(index, request, RetrieverSettings()))
        assert len(result.hits) == 5
        return versions_seen(result)

    with (
        open_index(IndexerSettings(home=home), "papers") as held,
        subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, str(tmp_path / "corpus.jsonl")],
            env=environment_of(home, workers=1, keep_versions=2) | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        ) as publisher,
        ThreadPoolExecutor(THREADS) as threads,
    ):
        assert publisher.stdout
        try:
            publisher.stdout.readline()  # the first has been published
            seen = list(threads.map(search_once, range(SEARCHES)))
            while len(set().union(*seen)) < 3:
                seen.append(search_once(None))
            still = [
                versions_seen(asyncio.run(search(held, request, RetrieverSettings()))) for _ in range(10)
            ]
        finally:
            publisher.kill()

    assert {len(versions) for versions in seen} == {1}
    assert still == [{"version1"}] * 10
