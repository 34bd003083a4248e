"""Versions in a cluster: builds, updates, publishing, rollback, removal, names, and two machines."""

import os
import re
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime

import pytest

from base.errors import InvalidCall
from indexer.errors import EmptyCorpus, IndexBusy, IndexDamaged, UnknownIndex
from indexer.ingest import remove_records
from indexer.versions.store.elasticsearch import ElasticsearchStore
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from tests.indexer.made_corpora import answers, paper
from tests.retriever.made_papers import found
from tests.service.elasticsearch.cluster import (
    NAME,
    BrokenOff,
    break_off,
    build,
    client_of,
    corpus,
    documents,
    ids,
    own_prefix,
    some,
    state,
    versions,
)

HASTY = {"settle_s": 0.0}  # scores are not compared, so deleted passages are not waited for


@pytest.fixture
def make(elasticsearch, tmp_path):
    """Return a function that makes settings of a machine with a home of its own, in one cluster."""
    with own_prefix(elasticsearch) as settings_for:
        yield lambda home="home", cluster=HASTY, **options: settings_for(
            tmp_path / home, cluster=cluster, **options
        )


@pytest.fixture
def settings(make):
    return make()


def there(settings) -> list[str]:
    """Name the indices of the prefix, without it."""
    prefix = settings.elasticsearch.prefix
    with client_of(settings.elasticsearch) as client:
        found = client.indices.get(index=f"{prefix}*", expand_wildcards="all")
    return sorted(index.removeprefix(f"{prefix}-") for index in found)


def versions_of(name, *numbers) -> list[str]:
    """Name the indices of some versions."""
    return [f"{name}@{number:06}{files}" for number in numbers for files in ("", ".files")]


def test_records_are_indexed_replaced_added_removed_and_deleted(settings, tmp_path):
    manifest = build(settings, corpus(tmp_path, some(0, 20))).manifest
    assert (manifest.engine, manifest.version, manifest.papers, manifest.passages) == (
        *("elasticsearch", 1, 20),
        24,
    )
    assert ids(settings)[:4] == ["P00000", "P00000@en", "P00001", "P00002"]
    assert [document["sequence"] for document in documents(settings)][:4] == [0, 0, 1, 2]
    assert there(settings) == versions_of("papers", 1)

    same = build(settings, corpus(tmp_path, some(0, 20), "same"))
    assert (same.is_published, same.manifest.counts["unchanged"]) == (False, 20)
    changes = [*some(10, 15), *some(15, 24, version=1), paper(24) | {"journal": "가" * 13_334}]
    update = build(settings, corpus(tmp_path, changes, "update")).manifest
    counts = update.counts
    assert (update.version, update.papers, counts["unchanged"], counts["replaced"]) == (2, 25, 5, 5)
    assert list(dict.fromkeys(name[:6] for name in ids(settings))) == [f"P{n:05}" for n in range(25)]
    found = {document["passage_id"]: document for document in documents(settings)}
    assert paper(17, version=1)["abstract"] in found["P00017"]["given"][1]
    assert len(found["P00024"]["journal"]) == 13_334  # longer than the cluster searches

    manifest, absent = remove_records(NAME, ["P00005", "P00003", "none"], settings)
    assert (manifest.version, manifest.papers, manifest.counts, absent) == (3, 23, {"removed": 2}, ["none"])
    assert not {"P00005", "P00005@en", "P00003"} & {*ids(settings)}
    with pytest.raises(InvalidCall, match=": none"):
        remove_records(NAME, ["none"], settings)
    assert versions(settings) == (3, [1, 2, 3])

    with pytest.raises(EmptyCorpus):
        build(settings, corpus(tmp_path, ["no JSON"], "none"), "none")
    build(settings, corpus(tmp_path, some(0, 2), "other"), "other")
    with open_store(settings, NAME) as store:
        store.delete()
    assert index_names(settings) == ["other"]
    assert not (settings.home / NAME).exists()
    assert there(settings) == versions_of("other", 1)
    with pytest.raises(UnknownIndex, match="no index 'papers'"):
        open_index(settings, NAME)


@pytest.mark.slow
def test_an_updated_index_answers_as_one_built_of_the_same(make, tmp_path):
    """Deleted passages no longer count when a version is published."""
    settings = make(cluster={})
    build(settings, corpus(tmp_path, some(0, 60)))
    build(settings, corpus(tmp_path, some(40, 80, version=1), "update"))
    build(settings, corpus(tmp_path, [*some(0, 40), *some(40, 80, version=1)], "whole"), "whole")

    assert answers(settings) == answers(settings, "whole")


def test_a_rollback_answers_from_the_version_before(settings, tmp_path):
    build(settings, corpus(tmp_path, some(0, 5)))
    before = state(settings)
    build(settings, corpus(tmp_path, some(5, 9), "more"))
    assert state(settings) != before

    with open_store(settings, NAME) as store:
        assert store.rollback() == 1
        with pytest.raises(InvalidCall, match="no version before 1"):
            store.rollback()
    assert state(settings) == before
    assert build(settings, corpus(tmp_path, some(0, 3)), rebuild=True).manifest.version == 3
    assert versions(settings) == (3, [1, 3])  # what was rolled back from is removed


def test_the_last_versions_are_kept_with_their_files(make, tmp_path):
    settings = make(keep_versions=2)
    for last in (3, 4, 5):
        build(settings, corpus(tmp_path, some(0, last)), rebuild=True)

    assert there(settings) == versions_of("papers", 2, 3)


def test_names_may_be_long_or_differ_in_capitals_only(settings, tmp_path):
    build(settings, corpus(tmp_path, some(0, 3)), "papers")
    build(settings, corpus(tmp_path, some(0, 3)), long := "가" * 64)
    for _ in range(2):
        build(settings, corpus(tmp_path, some(3, 5), "other"), "Papers", rebuild=True)

    assert index_names(settings) == ["Papers", "papers", long]
    assert (len(ids(settings, "papers")), ids(settings, "Papers")) == (4, ["P00003", "P00004"])
    assert (versions(settings, "papers"), versions(settings, "Papers")) == ((1, [1]), (2, [1, 2]))
    with open_store(settings, "Papers") as store:
        store.delete()
    assert index_names(settings) == ["papers", long]


def test_verifying_compares_the_passages_and_the_files_beside_them(settings, tmp_path):
    build(settings, corpus(tmp_path, some(0, 12)))
    index = f"{settings.elasticsearch.prefix}-papers@000001"
    with open_store(settings, NAME) as store, client_of(settings.elasticsearch) as client:
        assert store.verify_files(1) == []
        client.indices.put_settings(index=index, settings={"index.blocks.write": None})
        client.delete(index=index, id="P00003", refresh=True)
        client.delete(index=f"{index}.files", id="glossary.sqlite/0")
        client.update(index=f"{index}.files", id="lexicon.bin/0", doc={"data": "YQ=="})

        faults = store.verify_files(1)
    assert [fault.partition(": ")[0] for fault in faults] == [index, "glossary.sqlite", "lexicon.bin"]
    assert faults[0].endswith(": 14 passages instead of 15")
    assert ("lacks a piece" in faults[1], "wrong checksum" in faults[2]) == (True, True)


def test_versions_without_a_pointer_are_damage_and_nothing_clears_them(settings, tmp_path):
    for version in range(2):
        build(settings, corpus(tmp_path, some(0, 5, version)))
    alias = f"{settings.elasticsearch.prefix}-papers"
    with client_of(settings.elasticsearch) as client:
        client.indices.update_aliases(actions=[{"remove": {"index": f"{alias}@*", "alias": alias}}])

    told = "is missing in the cluster; its versions: 1, 2; name the version"
    with pytest.raises(IndexDamaged, match=told):
        build(settings, corpus(tmp_path, some(0, 5)))
    with pytest.raises(IndexDamaged, match=told):
        open_index(settings, NAME)
    assert index_names(settings) == [NAME]
    with open_store(settings, NAME) as store:
        assert (store.rollback(2), store.current(), store.rollback()) == (2, 2, 1)


def test_an_index_that_others_made_under_such_a_name_is_not_ours(settings, tmp_path):
    prefix = settings.elasticsearch.prefix
    build(settings, corpus(tmp_path, some(0, 3)))
    with client_of(settings.elasticsearch) as client:
        client.index(index=f"{prefix}-papers@000009", document={"note": "theirs"}, refresh=True)
        client.index(index=f"{prefix}-theirs@notes", document={"note": "theirs"}, refresh=True)

    build(settings, corpus(tmp_path, some(0, 4)), rebuild=True)
    assert versions(settings) == (2, [1, 2])
    assert index_names(settings) == [NAME]
    with open_store(settings, NAME) as store:
        store.delete()
    assert there(settings) == ["papers@000009", "theirs@notes"]


# Two machines


def test_a_second_machine_searches_with_copies_of_the_files(make, tmp_path):
    first, second = make("first"), make("second")
    about = "지식 그래프(knowledge graph)"
    build(
        first,
        corpus(tmp_path, [{"id": f"A{n}", "title": about, "abstract": f"{about} {n}"} for n in range(3)]),
    )
    assert not second.home.exists()

    assert state(second) == state(first)
    [glossary] = (second.home / NAME).rglob("*-glossary.sqlite")
    with closing(sqlite3.connect(glossary)) as opened:
        assert any("knowledge graph" in line for line in opened.iterdump())
    glossary.write_bytes(b"damaged")
    with open_index(second, NAME) as index:  # and fetches it again
        assert found(index, "지식 그래프", "or").hits

    theirs = glossary.with_name("of-others.txt")
    theirs.write_text("stays")
    build(first, corpus(tmp_path, some(0, 3)), rebuild=True)
    build(second, corpus(tmp_path, some(0, 5)), rebuild=True)
    with open_store(first, NAME) as store:
        store.rollback(2)
    assert versions(second) == (2, [1, 2, 3])
    third = build(first.model_copy(update={"keep_versions": 1}), corpus(tmp_path, some(0, 4)), rebuild=True)
    assert answers(second) == answers(first)
    assert (third.manifest.version, theirs.read_text()) == (4, "stays")
    kept = {path.parent.name for path in (second.home / NAME / "versions").rglob("*-lexicon.bin")}
    assert kept == {"000004"}


def test_a_second_machine_is_refused_until_the_first_has_ended_or_its_index_is_removed(make, tmp_path):
    first, second = make("first"), make("second")
    build(first, corpus(tmp_path, some(0, 3)))
    path = corpus(tmp_path, some(0, 30))
    with pytest.raises(BrokenOff):
        build(first, path, progress=break_off("indexing", 10), rebuild=True)

    for attempt in ("delete", "rollback"):
        with open_store(second, NAME) as store, pytest.raises(IndexBusy):
            getattr(store, attempt)()
    build(second, corpus(tmp_path, some(0, 2), "beside"), "beside")  # other names are free
    with pytest.raises(IndexBusy) as told:
        build(second, path)
    today = datetime.now(UTC).date().isoformat()
    assert re.search(rf"process {os.getpid()} on \S+, since {today}T", str(told.value))
    assert versions(second) == (1, [1])
    with client_of(first.elasticsearch) as client:
        [request] = re.findall(r"DELETE http://[^/]+(/\S+)\)", str(told.value))
        client.perform_request("DELETE", request)
    assert build(second, path, rebuild=True).manifest.version == 2
    assert build(first, corpus(tmp_path, some(0, 4)), rebuild=True).manifest.version == 3
    assert versions(first) == versions(second) == (3, [1, 2, 3])


# Builds that are broken off


# While it is written, before all is there, and when all is there but the pointer.
@pytest.mark.parametrize(("stage", "after"), [("indexing", 10), ("publishing", 0), ("pointing", 0)])
def test_a_build_that_is_broken_off_goes_on_and_ends_as_an_undisturbed_one(make, tmp_path, stage, after):
    settings = make()
    path = corpus(tmp_path, [*some(0, 60), '{"id": "no end', *some(61, 200)])
    with pytest.MonkeyPatch.context() as broken:
        if stage == "pointing":
            broken.setattr(ElasticsearchStore, "point_to", lambda *_: sys.exit("killed"))
        with pytest.raises((BrokenOff, SystemExit)):
            build(settings, path, progress=break_off(stage, after))
    with pytest.raises(UnknownIndex):
        open_index(settings, NAME)

    stages: list[str] = []
    build(settings, path, progress=lambda now, *_: stages.append(now))
    build(settings, path, "undisturbed")

    assert stages[0] == "indexing"  # the corpus is not read again
    assert state(settings) == state(settings, "undisturbed")
    assert versions(settings) == (1, [1])
