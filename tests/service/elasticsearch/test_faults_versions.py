"""Versions that are published, cleared away or deleted while others search."""

import asyncio
import itertools
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.errors import IndexDamaged
from indexer.settings import IndexerSettings
from indexer.versions.cluster.connection import Cluster
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from retriever.search import SearchRequest, search
from retriever.settings import RetrieverSettings
from tests.conftest import BY_NIGHT
from tests.indexer.made_corpora import write_jsonl
from tests.needs import mostly_nightly
from tests.retriever.made_papers import found
from tests.service.elasticsearch.faults import NAME, build, clean, settings_for
from tests.service.elasticsearch.server import Access

SEARCHES = 1_000 if BY_NIGHT else 50
SEARCHERS = 4


def edition(folder, number: int):
    """Write a corpus in which every paper names its edition."""
    titles = {f"P{one}": f"quokka edition{number}x {one}" for one in range(12)}
    texts = ({"id": one, "title": title, "abstract": title} for one, title in titles.items())
    return write_jsonl(folder / f"edition-{number}.jsonl", texts)


@pytest.fixture
def settings(elasticsearch: Access, tmp_path):
    settings = settings_for(elasticsearch, tmp_path / "indexing", "moving")
    settings.home.mkdir()
    build(settings, edition(settings.home, 1))
    yield settings
    clean(settings)


@pytest.mark.parametrize("homes", mostly_nightly(["one home", "two homes"], by_day={"two homes"}))
def test_no_search_fails_while_versions_are_published(settings: IndexerSettings, tmp_path, homes: str):
    """Each index that is opened sees one version whole, and the version it opened."""
    searching = settings
    if homes == "two homes":
        searching = settings.model_copy(update={"home": tmp_path / "searching"})
    settings = settings.model_copy(update={"keep_versions": 2})
    done, published = [0], threading.Event()
    seen: set[int] = set()

    def keep_searching() -> None:
        while not published.is_set() or done[0] < SEARCHES:
            with open_index(searching, NAME) as index:
                results = asyncio.run(some(index))
            done[0] += len(results)
            seen.add(index.manifest.version)
            wanted = {f"quokka edition{index.manifest.version}x {one}" for one in range(12)}
            for titles in results:
                assert len(titles) == 10
                assert titles <= wanted
            published.wait(0.3)  # leaves cores to who publishes

    async def some(index):
        requests = [SearchRequest("quokka", "or") for _ in range(10)]
        found = await asyncio.gather(*(search(index, one, RetrieverSettings()) for one in requests))
        return [{hit.passage.title for hit in result.hits} for result in found]

    with ThreadPoolExecutor(SEARCHERS) as pool:
        searchers = [pool.submit(keep_searching) for _ in range(SEARCHERS)]
        try:
            for number in itertools.count(2):
                build(settings, edition(settings.home, number), rebuild=True)
                if number >= 5 and len(seen) > 2:
                    break
        finally:
            published.set()
        for searcher in searchers:
            searcher.result()
    assert done[0] >= SEARCHES


def test_an_opened_index_that_is_deleted_is_told(settings: IndexerSettings):
    with open_index(settings, NAME) as index:
        with open_store(settings, NAME) as store:
            store.delete()
        with pytest.raises(IndexDamaged, match="gone"):
            found(index, "quokka", "or")


def test_what_a_kill_between_publishing_and_pointing_leaves_is_replaced(settings: IndexerSettings):
    """The version has its manifest already, and the alias stands on the one before."""
    build(settings, edition(settings.home, 2), rebuild=True)
    with open_store(settings, NAME) as store:
        store.rollback()
    with open_index(settings, NAME) as index:
        assert index.manifest.version == 1
    assert build(settings, edition(settings.home, 3), rebuild=True).manifest.version == 3
    with open_store(settings, NAME) as store:
        assert store.versions() == [1, 3]


def test_a_glossary_that_lacks_a_piece_is_told(settings: IndexerSettings):
    shutil.rmtree(settings.home / NAME / "versions", ignore_errors=True)
    with Cluster(settings.elasticsearch) as cluster:
        cluster.run(cluster.client.delete(index="moving.glossaries", id=f"moving-{NAME}@000001/0"))
    with pytest.raises(IndexDamaged, match=r"glossary .* missing"):
        open_index(settings, NAME)
