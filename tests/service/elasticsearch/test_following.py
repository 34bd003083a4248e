"""An open index while versions are published in a cluster; who may keep one there, and what ends that."""

import time
from typing import Any

import pytest

from indexer.cluster import readers
from indexer.cluster.connection import Cluster
from indexer.cluster.names import version_of
from indexer.errors import VersionGone
from indexer.settings import IndexerSettings
from retriever.index import open_index
from tests.retriever.following_contract import *  # noqa: F403
from tests.retriever.following_contract import NAME, answered, publish
from tests.service.elasticsearch.own_prefix import own_prefix
from tests.service.elasticsearch.server import Access
from tests.service.elasticsearch.test_faults_rights import with_key


@pytest.fixture
def settings_for(elasticsearch: Access):
    with own_prefix(elasticsearch) as make:
        yield make


@pytest.fixture
def spoil():
    def edit(settings: IndexerSettings, version: int) -> None:
        index = f"{settings.elasticsearch.prefix}-{NAME}@{version:06}"
        with Cluster(settings.elasticsearch) as cluster:
            indices = cluster.client.indices
            meta = cluster.run(indices.get_mapping(index=index))[index]["mappings"]["_meta"]
            meta["manifest"]["fingerprint"]["tokens"] = "others"
            cluster.run(indices.put_mapping(index=index, meta=meta))

    return edit


@pytest.fixture
def remains():
    def numbers(settings: IndexerSettings) -> list[int]:
        alias = f"{settings.elasticsearch.prefix}-{NAME}"
        with Cluster(settings.elasticsearch) as cluster:
            found = cluster.run(cluster.client.indices.get(index=f"{alias}@*"))
        return sorted(version for index in found if (version := version_of(index, alias)))

    return numbers


def key_of_docs(settings: IndexerSettings) -> dict[str, Any]:
    """Return the rights of the key for searching, as docs/cluster.md has them."""
    prefix = settings.elasticsearch.prefix
    names = [f"{prefix}-*", f"{prefix}.*"]
    searching = {"names": names, "privileges": ["read", "view_index_metadata", "monitor"]}
    holding = {"names": [f"{prefix}.readers"], "privileges": ["index", "delete"]}
    return {"cluster": ["monitor"], "indices": [searching, holding]}


def test_the_key_for_searching_that_the_documentation_gives_holds_a_version(settings, elasticsearch):
    searching = with_key(settings, elasticsearch, key_of_docs(settings))
    with open_index(searching, NAME) as index:
        publish(settings, 2)
        publish(settings, 3)
        assert answered(index) == 1


def test_a_key_that_may_only_read_follows_and_is_told_where_it_stays(settings, elasticsearch):
    rights = key_of_docs(settings)
    reading = with_key(settings, elasticsearch, rights | {"indices": rights["indices"][:1]})
    with open_index(reading, NAME) as staying, open_index(reading, NAME, follow=True) as following:
        assert (answered(staying), answered(following)) == (1, 1)
        publish(settings, 2)
        assert answered(following) == 2  # at once, as the version before is gone
        with pytest.raises(VersionGone, match="is gone from the cluster: it was replaced by a newer version"):
            answered(staying)


def test_a_reader_that_crashed_is_forgotten_when_its_time_is_up(settings, remains, monkeypatch):
    monkeypatch.setattr(readers, "LASTS_S", 1)
    monkeypatch.setattr(readers, "RENEWED_EVERY_S", 600)
    with open_index(settings, NAME):
        time.sleep(2)
        publish(settings, 2)
        assert remains(settings) == [2]


def test_a_reader_is_remembered_as_long_as_it_reads(settings, remains, monkeypatch):
    monkeypatch.setattr(readers, "LASTS_S", 3)
    monkeypatch.setattr(readers, "RENEWED_EVERY_S", 0.1)
    with open_index(settings, NAME) as index:
        time.sleep(4)
        publish(settings, 2)
        assert answered(index) == 1
    publish(settings, 3)
    assert remains(settings) == [3]
