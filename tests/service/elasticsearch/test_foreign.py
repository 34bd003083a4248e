"""What in a cluster is called like ours and is not: never written, cleared away, counted or listed."""

import pytest

from indexer.errors import IndexNotWritten, UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.cluster.connection import Cluster
from indexer.versions.store.elasticsearch import index_names
from indexer.versions.store.engines import open_store
from tests.service.elasticsearch.faults import NAME, build, clean, corpus, settings_for
from tests.service.elasticsearch.server import Access

ALIAS = f"foreign-{NAME}"
# Called as versions, as what is being built, as none; and of a name that begins alike.
FOREIGN = (
    f"{ALIAS}@000002",
    f"{ALIAS}@000009",
    f"{ALIAS}@notes",
    f"{ALIAS}@7",
    f"{ALIAS}-notes",
    "foreign-x@y",
)


@pytest.fixture
def settings(elasticsearch: Access, tmp_path):
    made = settings_for(elasticsearch, tmp_path / "home", "foreign", settle_s=0)
    made = made.model_copy(update={"keep_versions": 1})
    corpus(tmp_path, 12)
    yield made
    clean(made)
    with Cluster(made.elasticsearch) as cluster:
        for index in (ALIAS, FOREIGN[4]):
            cluster.run(cluster.client.options(ignore_status=404).indices.delete(index=index))


def make(settings: IndexerSettings, *indexes: str) -> None:
    """Make indexes that hold one document each and do not say that they are ours."""
    with Cluster(settings.elasticsearch) as cluster:
        for index in indexes:
            document = {"note": "do not delete"}
            cluster.run(cluster.client.index(index=index, id="1", document=document, refresh=True))


def alias(settings: IndexerSettings, *indexes: str) -> None:
    with Cluster(settings.elasticsearch) as cluster:
        for index in indexes:
            cluster.run(cluster.client.indices.put_alias(index=index, name=ALIAS))


def unharmed(settings: IndexerSettings, *indexes: str) -> bool:
    with Cluster(settings.elasticsearch) as cluster:
        counts = [cluster.run(cluster.client.count(index=index))["count"] for index in indexes]
        about = cluster.run(cluster.client.indices.get(index=list(indexes)))
    return counts == [1] * len(indexes) and all(not about[index]["aliases"] for index in indexes)


@pytest.mark.nightly
def test_indexes_that_are_called_like_versions_stay(settings: IndexerSettings, tmp_path):
    make(settings, *FOREIGN)

    assert [build(settings, tmp_path / "papers.jsonl", rebuild=True).manifest.version for _ in range(3)] == [
        1,
        3,
        4,
    ]
    with open_store(settings, NAME) as store:
        assert (store.versions(), store.current()) == ([4], 4)
    assert index_names(settings) == [NAME]
    assert unharmed(settings, *FOREIGN)

    with open_store(settings, NAME) as store:
        store.delete()
    assert index_names(settings) == []
    assert unharmed(settings, *FOREIGN)


def test_an_alias_that_names_an_index_of_others_is_not_moved(settings: IndexerSettings, tmp_path):
    make(settings, f"{ALIAS}@notes", f"{ALIAS}@000003")
    alias(settings, f"{ALIAS}@notes", f"{ALIAS}@000003")
    taken = rf"alias {ALIAS} in the cluster is taken by {ALIAS}@\S+, which SHRAG did not create"

    with pytest.raises(IndexNotWritten, match=taken):
        build(settings, tmp_path / "papers.jsonl")
    with open_store(settings, NAME) as store, pytest.raises(UnknownIndex):
        store.delete()
    assert index_names(settings) == []


def test_an_alias_that_names_an_index_of_others_too_is_told_and_ours_answers(settings, tmp_path):
    build(settings, tmp_path / "papers.jsonl")
    make(settings, f"{ALIAS}@000009")
    alias(settings, f"{ALIAS}@000009")

    with open_store(settings, NAME) as store:
        assert store.manifest().version == 1
        with pytest.raises(IndexNotWritten, match=f"is taken by {ALIAS}@000009"):
            store.delete()
        assert store.versions() == [1]


def test_an_index_that_is_called_as_the_alias_is_told_before_anything_is_built(settings, tmp_path):
    make(settings, ALIAS)

    with pytest.raises(IndexNotWritten, match=ALIAS):
        build(settings, tmp_path / "papers.jsonl")
    with open_store(settings, NAME) as store:
        assert store.current() is None
    assert unharmed(settings, ALIAS)


@pytest.mark.nightly
def test_of_two_versions_that_somebody_let_answer_the_latest_does_until_the_next(settings, tmp_path):
    kept = settings.model_copy(update={"keep_versions": 3})
    for _ in range(2):
        build(kept, tmp_path / "papers.jsonl", rebuild=True)
    alias(settings, f"{ALIAS}@000001")

    with open_store(settings, NAME) as store:
        assert store.current() == 2
        assert store.rollback() == 1
        assert store.current() == 1
    build(kept, tmp_path / "papers.jsonl", rebuild=True)
    with Cluster(settings.elasticsearch) as cluster:
        assert list(cluster.run(cluster.client.indices.get_alias(name=ALIAS))) == [f"{ALIAS}@000003"]


def test_a_copy_of_a_version_that_a_killed_update_left_is_no_version(settings: IndexerSettings, tmp_path):
    build(settings, tmp_path / "papers.jsonl")
    with Cluster(settings.elasticsearch) as cluster:  # an update begins so
        cluster.run(cluster.client.indices.clone(index=f"{ALIAS}@000001", target=f"{ALIAS}@000002"))

    with open_store(settings, NAME) as store:
        assert (store.versions(), store.next_version()) == ([1], 2)
    assert build(settings, corpus(tmp_path, 12, version=1)).manifest.version == 2


def test_an_embedded_index_of_the_same_home_and_name_outlives_the_one_in_the_cluster(settings, tmp_path):
    embedded = settings.model_copy(update={"engine": "tantivy"})
    build(embedded, tmp_path / "papers.jsonl")
    for version in range(2):
        build(settings, corpus(tmp_path, 12, version=version))  # of which one version is kept
    with open_store(settings, NAME) as store:
        store.delete()

    with open_store(embedded, NAME) as store:
        assert store.verify_files(1) == []
    assert index_names(settings) == []
