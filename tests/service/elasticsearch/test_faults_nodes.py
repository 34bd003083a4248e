"""Three nodes, of which one dies: while it is searched, and while a version is built on it. By night alone.

By day test_faults_servers.py and test_faults_indexing.py have it with one server, and
tests/indexer/versions/test_cluster_node.py has the nodes of a client, of which one does not answer.
SHRAG_TEST_THREE_NODES_S=120 goes on for two minutes with one open index, as `.ci/run nightly` does.
"""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from indexer.errors import EngineRefused, EngineUnreachable
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found
from tests.service.elasticsearch.faults import (
    NAME,
    Signal,
    answers,
    build,
    clean,
    contents,
    corpus,
    in_background,
    settings_for,
)
from tests.service.elasticsearch.server import Access, Server

pytestmark = pytest.mark.nightly

FIRST = f"faults-{NAME}@000001"
QUESTION = "지식 그래프 검색"
SECONDS = float(os.environ.get("SHRAG_TEST_THREE_NODES_S", "0"))
PATIENCE_S = 1_200  # with servers that start on a slow machine


@pytest.fixture
def settings(cluster: tuple[Server, ...], tmp_path) -> IndexerSettings:
    corpus(tmp_path, 120)
    access = cluster[0].access
    everywhere = Access(",".join(server.access.url for server in cluster), access.username, access.password)
    # Three servers on few cores take seconds for what one does at once.
    return settings_for(everywhere, tmp_path, commit_every=50, replicas="1", shards=2, timeout_s=60)


@pytest.fixture(scope="module")
def undisturbed(elasticsearch: Access, tmp_path_factory):
    """Return what a build that nothing disturbs comes to, on one server with as many shards."""
    settings = settings_for(
        elasticsearch, tmp_path_factory.mktemp("undisturbed"), "whole", commit_every=50, shards=2
    )
    build(settings, corpus(settings.home, 120))
    yield contents(settings)
    clean(settings)


def ask(cluster: tuple[Server, ...], path: str):
    alive = next(server for server in cluster if server.running)
    auth = alive.access.basic_auth
    answer = httpx.get(f"{alive.access.url}{path}", auth=auth, trust_env=False, timeout=PATIENCE_S)
    return answer.raise_for_status().json()


def holder_of(cluster: tuple[Server, ...], index: str) -> Server:
    """Return a node on which a primary shard lies."""
    shards = ask(cluster, f"/_cat/shards/{index}?format=json")
    name = next(shard["node"] for shard in shards if shard["prirep"] == "p")
    return next(server for server in cluster if server.node.name == name)


def test_searches_go_on_when_a_node_dies(cluster, settings: IndexerSettings):
    build(settings, settings.home / "papers.jsonl")
    ask(cluster, f"/_cluster/health/{FIRST}?wait_for_status=green&timeout=240s")
    before = answers(settings)
    results, errors, ended = [], [], threading.Event()

    def keep_searching() -> None:
        with open_index(settings, NAME) as index:
            while not ended.is_set():
                try:
                    hits = found(index, QUESTION).hits
                    results.append([(hit.passage_id, hit.score) for hit in hits])
                except (EngineUnreachable, EngineRefused) as error:
                    errors.append(str(error))

    def wait_for_results(count: int) -> None:
        while len(results) < count and not errors:
            time.sleep(0.1)

    searcher = threading.Thread(target=keep_searching, daemon=True)
    searcher.start()
    wait_for_results(1)
    holder_of(cluster, FIRST).kill()
    wait_for_results(len(results) + 10)
    ended.set()
    searcher.join()

    assert errors == []
    assert all(result == before[0] for result in results)
    assert answers(settings) == before


@pytest.mark.timeout(SECONDS + PATIENCE_S)
def test_one_open_index_answers_while_versions_are_published_and_a_node_dies(cluster, settings):
    """Two questions a second; one version is kept, and each answer is that of the version it names."""
    settings = settings.model_copy(update={"keep_versions": 1})
    patiently = changed(settings, patience_s=PATIENCE_S)
    answers_of = {}  # by version
    given, errors, ended = [], [], threading.Event()

    def publish(edition: int) -> None:
        """Publish, and note what that version answers before it is replaced."""
        path = corpus(settings.home, 120, version=edition, name=f"edition-{edition}.jsonl")
        build(patiently, path, rebuild=True)
        with open_index(settings, NAME) as index:
            answers_of[index.manifest.version] = answer(index)[1]

    def answer(index):
        result = asyncio.run(search(index, SearchRequest(QUESTION), RetrieverSettings()))
        return result.version, [(hit.passage_id, hit.score) for hit in result.hits]

    def keep_asking() -> None:
        with open_index(settings, NAME, follow=True) as index:
            while not ended.wait(0.5):
                try:
                    given.append(answer(index))
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a failed question
                    errors.append(repr(error))

    publish(1)
    ask(cluster, f"/_cluster/health/{FIRST}?wait_for_status=green&timeout=240s")
    begun, edition = time.monotonic(), 1
    with ThreadPoolExecutor(1) as asker:
        asking = asker.submit(keep_asking)
        try:
            while edition < 3 or time.monotonic() < begun + SECONDS:
                if edition % 3 == 1:
                    node = holder_of(cluster, f"faults-{NAME}@{edition:06}")
                    node.kill()
                edition += 1
                publish(edition)
                if not node.running:
                    node.launch()
                    node.wait_until_ready(len(cluster))
                ask(
                    cluster, f"/_cluster/health/faults-{NAME}@{edition:06}?wait_for_status=green&timeout=240s"
                )
        finally:
            ended.set()
        asking.result()
    print(  # noqa: T201 - what the long form is run for
        f"{len(given)} questions, {len(errors)} failed, versions {sorted({version for version, _ in given})}"
    )
    assert errors == []
    assert len({version for version, _ in given}) >= 2
    assert all(found == answers_of[version] for version, found in given)


@pytest.mark.timeout(PATIENCE_S)
def test_a_build_goes_on_when_the_node_that_holds_it_comes_back(cluster, settings, undisturbed):
    settings = changed(settings, patience_s=PATIENCE_S)
    at = Signal("indexing", 70)
    with in_background(lambda: build(settings, settings.home / "papers.jsonl", at)) as building:
        with at.here():
            node = holder_of(cluster, FIRST)
            node.kill()
        time.sleep(2)
        node.launch()
        building.result()
    assert contents(settings) == undisturbed


def test_a_build_whose_node_is_lost_starts_over_on_the_others(cluster, settings, undisturbed):
    # The cluster holds what is written for a minute, in case that the node comes back: once is enough.
    impatient = changed(settings, patience_s=0)
    at = Signal("indexing", 70)
    with in_background(lambda: build(impatient, settings.home / "papers.jsonl", at)) as building:
        with at.here():
            holder_of(cluster, FIRST).kill()
        with pytest.raises((EngineRefused, EngineUnreachable)):
            building.result()
    alive = [server.access.url for server in cluster if server.running]
    settings = changed(settings, url=",".join(alive))

    build(settings, settings.home / "papers.jsonl")

    assert contents(settings) == undisturbed


def changed(settings: IndexerSettings, **of_cluster) -> IndexerSettings:
    return settings.model_copy(update={"elasticsearch": settings.elasticsearch.model_copy(update=of_cluster)})
