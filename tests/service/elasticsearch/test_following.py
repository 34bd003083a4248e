"""An open index while versions are published in a cluster; who may keep one there, and what ends that."""

import sys
import time
from typing import Any

import pytest
from tests.service.elasticsearch.test_faults_rights import with_key

from indexer.errors import EngineRefused, VersionGone
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings
from indexer.versions.cluster import readers
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.names import version_of
from indexer.versions.store.elasticsearch import ElasticsearchStore
from retriever.index import open_index
from tests.retriever.following_contract import *  # noqa: F403
from tests.retriever.following_contract import NAME, answered, publish
from tests.service.elasticsearch.own_prefix import own_prefix
from tests.service.elasticsearch.server import Access


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
    """Return the rights of the key for searching, as docs/how-to/cluster.md has them."""
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
        with pytest.raises(VersionGone, match="replaced"):
            answered(staying)


@pytest.mark.nightly
def test_a_reader_that_crashed_is_forgotten_when_its_time_is_up(settings, remains, monkeypatch):
    monkeypatch.setattr(readers, "LEASE_S", 1)
    monkeypatch.setattr(readers, "RENEWAL_INTERVAL_S", 600)
    with open_index(settings, NAME):
        time.sleep(2)
        publish(settings, 2)
        assert remains(settings) == [2]


@pytest.mark.nightly
def test_a_reader_is_remembered_as_long_as_it_reads(settings, remains, monkeypatch):
    monkeypatch.setattr(readers, "RENEWAL_INTERVAL_S", 0.1)
    with open_index(settings, NAME) as index:
        first = remembered_until(settings)
        while remembered_until(settings) == first:
            time.sleep(0.1)
        publish(settings, 2)
        assert answered(index) == 1
    publish(settings, 3)
    assert remains(settings) == [3]


def remembered_until(settings: IndexerSettings) -> int:
    where = f"{settings.elasticsearch.prefix}.readers"
    with Cluster(settings.elasticsearch) as cluster:
        cluster.run(cluster.client.indices.refresh(index=where))
        [found] = cluster.run(cluster.client.search(index=where))["hits"]["hits"]
    return int(found["_source"]["until"])


def test_who_stays_is_told_where_its_version_cannot_be_held_just_now(settings):
    blocked: dict[str, Any] = {"index": f"{settings.elasticsearch.prefix}.readers"}
    with open_index(settings, NAME), Cluster(settings.elasticsearch) as cluster:
        cluster.run(cluster.client.indices.put_settings(settings={"index.blocks.write": True}, **blocked))
        with pytest.raises(EngineRefused, match="is read-only"):
            open_index(settings, NAME)
        cluster.run(cluster.client.indices.put_settings(settings={"index.blocks.write": None}, **blocked))


@pytest.mark.nightly
def test_a_machine_that_only_searches_keeps_copies_of_versions_that_are_there(settings, tmp_path):
    elsewhere = settings.model_copy(update={"home": tmp_path / "elsewhere"})
    others = elsewhere.home / NAME / "versions" / "000001" / "of-others.txt"
    for version in (1, 2, 3):
        if version > 1:
            publish(settings, version)
        with open_index(elsewhere, NAME, follow=True) as index:
            assert answered(index) == version
        if version == 1:
            others.write_text("stays")

    copies = sorted(path for path in others.parent.parent.rglob("*") if path.is_file() and path != others)
    assert {path.parent.name for path in copies} == {"000003"}
    assert others.read_text() == "stays"
    assert not (others.parent.parent / "000002").exists()


@pytest.mark.parametrize("name", ["glossary.sqlite", "citations.sqlite", "lexicon.bin"])
def test_a_copy_of_a_file_that_is_damaged_is_fetched_again(settings, name):
    with open_index(settings, NAME):
        [copy] = (settings.home / NAME / "versions").rglob(f"*-{name}")
    written = copy.read_bytes()
    copy.write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    with open_index(settings, NAME) as index:
        assert answered(index) == 1
    assert copy.read_bytes() == written


def test_a_version_that_was_killed_before_it_answered_is_published_and_not_built_again(settings, monkeypatch):
    index = f"{settings.elasticsearch.prefix}-{NAME}@000002"

    def about():
        with Cluster(settings.elasticsearch) as cluster:
            found = cluster.run(cluster.client.indices.get(index=index))[index]
        return found["settings"]["index"]["uuid"], set(found["mappings"]["_meta"])

    with monkeypatch.context() as killed:
        killed.setattr(ElasticsearchStore, "point_to", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            publish(settings, 2)
    built, _ = about()
    again = IngestRequest(NAME, [str(settings.home.parent / "edition-2.jsonl")], rebuild=True)
    assert build_index(again, settings).manifest.version == 2
    assert about() == (built, {"manifest", "glossary", "citations", "lexicon"})
    with open_index(settings, NAME) as opened:
        assert answered(opened) == 2
