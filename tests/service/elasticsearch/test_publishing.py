"""What publishing leaves when it is cut short, and who may still publish."""

import sys

import pytest

from indexer.errors import IndexDamaged, IndexNotWritten, UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.cluster import lease
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.documents import document_id
from indexer.versions.store.elasticsearch import ElasticsearchStore, index_names
from indexer.versions.store.engines import open_store
from retriever.index import open_index
from tests.service.elasticsearch.faults import NAME, build, clean, corpus, settings_for
from tests.service.elasticsearch.server import Access


@pytest.fixture
def settings(elasticsearch: Access, tmp_path):
    """Return settings of a prefix of the test's own, and a corpus in the home's folder."""
    corpus(tmp_path, 12)
    made = settings_for(elasticsearch, tmp_path / "home", "publishing", settle_s=0)
    yield made
    clean(made)


def test_verifying_compares_the_passages_and_the_files_beside_them(settings: IndexerSettings, tmp_path):
    build(settings, tmp_path / "papers.jsonl")
    with open_store(settings, NAME) as store, Cluster(settings.elasticsearch) as cluster:
        assert list(store.manifest().files) == ["glossary.sqlite", "citations.sqlite", "lexicon.bin"]
        assert store.verify_files(1) == []

        index = "publishing-papers@000001"
        cluster.run(cluster.client.indices.put_settings(index=index, settings={"index.blocks.write": None}))
        cluster.run(cluster.client.delete(index=index, id=document_id("P00003"), refresh=True))
        for piece in (f"{index}/0", f"{index}/citations/0", f"{index}/lexicon/0"):
            cluster.run(cluster.client.delete(index="publishing.glossaries", id=piece))

        faults = store.verify_files(1)
        damaged = [index, "glossary.sqlite", "citations.sqlite", "lexicon.bin"]
        assert [fault.partition(": ")[0] for fault in faults] == damaged
        assert faults[0].endswith(": 14 passages instead of 15")


def test_an_index_that_is_closed_is_told_and_the_others_are_listed(settings: IndexerSettings, tmp_path):
    for name in (NAME, "Others", "broken"):
        build(settings, tmp_path / "papers.jsonl", name=name)
    with Cluster(settings.elasticsearch) as cluster:
        indices = cluster.client.indices
        cluster.run(indices.close(index="publishing-papers@000001"))
        cluster.run(indices.put_mapping(index="publishing-broken@000001", meta={"manifest": "?"}))
        with (
            ElasticsearchStore(settings, NAME) as store,
            pytest.raises(IndexDamaged, match="closed or hidden"),
        ):
            store.manifest()
        assert index_names(settings) == ["Others", "broken"]
        cluster.run(indices.open(index="publishing-papers@000001"))
        cluster.run(indices.update_aliases(actions=[{"remove": {"index": "*broken*", "alias": "*broken"}}]))
        cluster.run(indices.put_alias(index="publishing-broken@000001", name="somebody-s-own"))
        assert index_names(settings) == ["Others", NAME]


def test_versions_whose_alias_is_gone_are_damage_and_nothing_clears_them(settings: IndexerSettings, tmp_path):
    for version in range(2):
        build(settings, corpus(tmp_path, 12, version=version))
    with Cluster(settings.elasticsearch) as cluster:
        remove = {"remove": {"index": "publishing-papers@*", "alias": "publishing-papers"}}
        cluster.run(cluster.client.indices.update_aliases(actions=[remove]))

    told = r"alias publishing-papers is missing in the cluster; its versions: 1, 2; name the version"
    for rebuild in (False, True):
        with pytest.raises(IndexDamaged, match=told):
            build(settings, tmp_path / "papers.jsonl", rebuild=rebuild)
    with pytest.raises(IndexDamaged, match=told):
        open_index(settings, NAME)
    assert index_names(settings) == [NAME]
    with open_store(settings, NAME) as store:
        assert (store.versions(), store.verify_files(1)) == ([1, 2], [])
        with pytest.raises(IndexDamaged, match=told):
            store.rollback()
        assert (store.rollback(2), store.current(), store.rollback()) == (2, 2, 1)


def test_a_first_version_that_was_killed_before_its_alias_is_no_damage(
    settings: IndexerSettings, tmp_path, monkeypatch
):
    with monkeypatch.context() as killed:
        killed.setattr(ElasticsearchStore, "point_to", lambda *_: sys.exit("killed"))
        with pytest.raises(SystemExit):
            build(settings, tmp_path / "papers.jsonl")
    with open_store(settings, NAME) as store:
        assert (store.current(), store.versions()) == (None, [])

    assert build(settings, tmp_path / "papers.jsonl").manifest.version == 1
    with open_store(settings, NAME) as store:
        assert (store.current(), store.versions(), store.verify_files(1)) == (1, [1], [])


def test_a_home_that_a_glossary_cannot_be_copied_to_is_told(settings: IndexerSettings, tmp_path):
    build(settings, tmp_path / "papers.jsonl")
    home = tmp_path / "file"
    home.write_text("in the way")
    with pytest.raises(IndexNotWritten, match=r"'papers' .*SHRAG_HOME"):
        open_index(settings.model_copy(update={"home": home}), NAME)


def test_a_build_that_begins_as_a_deletion_ends_keeps_its_files(
    settings: IndexerSettings, tmp_path, monkeypatch
):
    build(settings, tmp_path / "papers.jsonl")
    begun = settings.home / NAME / "building" / "plan.json"
    release = lease.Lease.release

    def release_and_begin(held: lease.Lease) -> None:
        release(held)
        begun.parent.mkdir(parents=True)
        begun.write_text("{}")

    monkeypatch.setattr(lease.Lease, "release", release_and_begin)
    with open_store(settings, NAME) as store:
        store.delete()

    assert begun.read_text() == "{}"
    assert [path.name for path in settings.home.glob(".deleted-*")] == []


def test_what_a_deletion_that_ended_early_left_can_be_deleted(settings: IndexerSettings, tmp_path):
    build(settings, tmp_path / "papers.jsonl")
    elsewhere = settings.model_copy(update={"home": tmp_path / "elsewhere"})
    with Cluster(settings.elasticsearch) as cluster:
        alias = {"index": "publishing-papers@000001", "alias": "publishing-papers"}
        cluster.run(cluster.client.indices.update_aliases(actions=[{"remove": alias}]))
    with open_store(elsewhere, NAME) as store:
        store.delete()
        with pytest.raises(UnknownIndex):
            store.delete()
    with Cluster(settings.elasticsearch) as cluster:
        assert not cluster.run(cluster.client.indices.get(index="publishing-papers@*"))
        cluster.run(cluster.client.indices.refresh(index="publishing.glossaries"))
        assert cluster.run(cluster.client.count(index="publishing.glossaries"))["count"] == 0
