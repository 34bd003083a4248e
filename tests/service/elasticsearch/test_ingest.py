"""Builds, updates and removals in a cluster, disturbed and undisturbed."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from elasticsearch import Elasticsearch

from base.errors import InvalidCall
from indexer.errors import EmptyCorpus, UnknownIndex
from indexer.ingest import IngestRequest, build_index, remove_records
from indexer.versions.cluster import names
from indexer.versions.store.build_folder import GLOSSARY
from indexer.versions.store.engines import index_names, open_store
from retriever.index import open_index
from tests.indexer.made_corpora import ROOT, answers, paper, write_jsonl
from tests.indexer.made_corpora import environment_of as hidden_environment
from tests.needs import mostly_nightly
from tests.service.elasticsearch.own_prefix import environment_of, own_prefix

NAME = "papers"


@pytest.fixture(scope="module")
def settings_for(elasticsearch):
    with own_prefix(elasticsearch) as settings_for:
        yield settings_for


@pytest.fixture
def make(elasticsearch, tmp_path):
    """Return a function that makes settings with a prefix of the test's own."""
    with own_prefix(elasticsearch) as settings_for:
        yield lambda home="home", **options: settings_for(tmp_path / home, **options)


@pytest.fixture
def corpus(tmp_path):
    """Return a function that writes records to a file."""
    return lambda records, name="corpus": write_jsonl(tmp_path / f"{name}.jsonl", records)


@pytest.fixture
def _hurried(monkeypatch):
    """Do not wait until the cluster lets go of deleted passages, half a minute; scores are not compared."""
    monkeypatch.setenv("SHRAG_ELASTICSEARCH__SETTLE_S", "0")


hurried = pytest.mark.usefixtures("_hurried")


def build(settings, path, name=NAME, **options):
    return build_index(IngestRequest(name, [str(path)], **options), settings)


def some(first, last, version=0):
    return [paper(number, version=version) for number in range(first, last)]


def documents(settings, name=NAME):
    """Return all documents of the version that answers, by record and passage."""
    cluster = settings.elasticsearch
    with Elasticsearch(
        cluster.url, basic_auth=(cluster.user, cluster.password.get_secret_value()), request_timeout=240
    ) as client:
        found = client.search(
            index=names.alias_of(cluster.prefix, name),
            size=10_000,
            sort=[{"sequence": "asc"}, {"passage_id": "asc"}],
        )
    return [hit["_source"] for hit in found["hits"]["hits"]]


def ids(settings, name=NAME):
    return [document["passage_id"] for document in documents(settings, name)]


def state(settings, name=NAME):
    """Return what should not depend on how an index came about: documents, counts, dead letters, glossary."""
    with open_store(settings, name) as store:
        manifest = store.manifest()
        letters = store.local.dead_letter_path(manifest.version)
        with closing(sqlite3.connect(store.companion_path(manifest, GLOSSARY))) as glossary:
            pairs = list(glossary.iterdump())
    return {
        "documents": documents(settings, name),
        "size": (manifest.papers, manifest.passages, manifest.unit),
        "counts": manifest.counts,
        "dead letters": sorted(letters.read_text(encoding="utf-8").splitlines()) if letters.exists() else [],
        "glossary": pairs,
        "answers": answers(settings, name),
    }


def versions(settings, name=NAME):
    with open_store(settings, name) as store:
        return store.current(), store.versions()


def left_in_the_cluster(settings):
    """Name the indices of the prefix, with those of glossaries, leases and readers."""
    cluster = settings.elasticsearch
    with Elasticsearch(
        cluster.url, basic_auth=(cluster.user, cluster.password.get_secret_value()), request_timeout=240
    ) as client:
        return sorted(client.indices.get(index=f"{cluster.prefix}*"))


# Builds, publishes and removes


def test_a_build_holds_what_was_read_in_the_order_of_the_corpus(make, corpus):
    settings = make()
    manifest = build(settings, corpus(some(0, 25))).manifest

    assert (manifest.engine, manifest.version, manifest.papers, manifest.passages) == (
        "elasticsearch",
        1,
        25,
        30,
    )
    assert ids(settings)[:4] == ["P00000", "P00000@en", "P00001", "P00002"]
    assert [document["sequence"] for document in documents(settings)][:4] == [0, 0, 1, 2]


@hurried
def test_an_update_indexes_only_changed_records(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 20)))

    same = build(settings, corpus(some(0, 20), "same"))
    update = build(settings, corpus([*some(0, 18), *some(18, 20, version=1)], "update"))

    assert (same.is_published, same.manifest.counts["unchanged"]) == (False, 20)
    counts = update.manifest.counts
    assert (update.manifest.version, counts["unchanged"], counts["replaced"]) == (2, 18, 2)


@hurried
def test_an_update_replaces_and_adds(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 20)))

    manifest = build(settings, corpus(some(15, 25, version=1), "update")).manifest

    assert (manifest.version, manifest.papers) == (2, 25)
    assert manifest.counts["replaced"] == 5
    assert ids(settings) == [
        *(name for n in range(15) for name in ids_of(n)),
        *(name for n in range(15, 25) for name in ids_of(n)),
    ]
    texts = {document["passage_id"]: document["given"] for document in documents(settings)}
    assert paper(17, version=1)["abstract"] in texts["P00017"][1]


def ids_of(number):
    return [f"P{number:05}", f"P{number:05}@en"] if number % 5 == 0 else [f"P{number:05}"]


@pytest.mark.slow
def test_an_updated_index_answers_as_one_built_of_the_same(make, corpus):
    """Deleted passages no longer count when a version is published."""
    settings = make()
    build(settings, corpus(some(0, 60)))
    build(settings, corpus(some(40, 80, version=1), "update"))
    build(settings, corpus([*some(0, 40), *some(40, 80, version=1)], "whole"), "whole")

    assert answers(settings) == answers(settings, "whole")


@hurried
def test_removed_records_are_gone_with_all_their_passages(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 10)))

    manifest, absent = remove_records(NAME, ["P00005", "P00003", "none"], settings)

    assert (manifest.version, manifest.papers, manifest.counts, absent) == (2, 8, {"removed": 2}, ["none"])
    assert not {"P00005", "P00005@en", "P00003"} & {*ids(settings)}
    with pytest.raises(InvalidCall, match=": none"):
        remove_records(NAME, ["none"], settings)
    assert versions(settings) == (2, [1, 2])


@hurried
@pytest.mark.parametrize(
    ("first", "second"), [("X", "X@en"), pytest.param("X@en", "X", marks=pytest.mark.nightly)]
)
def test_of_two_papers_that_claim_a_passage_id_the_second_is_a_dead_letter(make, corpus, first, second):
    """Both in one corpus, or one after the other: no document takes the place of another paper's."""
    settings, other = make(), {"id": "O", "title": "other"}
    papers = {
        "X": {"id": "X", "title": "논", "abstract": "논의 메탄", "abstract2": "methane"},
        "X@en": {"id": "X@en", "title": "ammonia"},
    }
    passages = {"X": ["X", "X@en"], "X@en": ["X@en"]}

    at_once = build(settings, corpus([papers[first], papers[second]]), "one")
    assert ids(settings, "one") == passages[first]
    build(settings, corpus([papers[first]]), "two")
    later = build(settings, corpus([papers[second], other]), "two")
    assert ids(settings, "two") == [*passages[first], "O"]

    for report, line in ((at_once, 2), (later, 1)):
        assert [(letter.line, letter.reason[:3]) for letter in report.dead_letters] == [(line, "id:")]


@hurried
def test_a_rollback_answers_from_the_version_before(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 5)))
    before = state(settings)
    build(settings, corpus(some(5, 9), "more"))
    assert state(settings) != before

    with open_store(settings, NAME) as store:
        assert store.rollback() == 1
        with pytest.raises(InvalidCall, match="no version before 1"):
            store.rollback()

    assert state(settings) == before


def test_the_last_versions_are_kept_with_their_glossaries(make, corpus):
    settings = make(keep_versions=2)
    for last in (3, 4, 5, 6):
        build(settings, corpus(some(0, last)), rebuild=True)

    assert versions(settings) == (4, [3, 4])
    prefix = settings.elasticsearch.prefix
    assert left_in_the_cluster(settings) == [
        f"{prefix}-papers@000003",
        f"{prefix}-papers@000004",
        f"{prefix}.glossaries",
        f"{prefix}.leases",
        f"{prefix}.readers",
    ]


def test_a_deleted_index_leaves_nothing(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 5)))
    build(settings, corpus(some(0, 5), "other"), "other")

    with open_store(settings, NAME) as store:
        store.delete()

    assert index_names(settings) == ["other"]
    assert not (settings.home / NAME).exists()
    assert [one for one in left_in_the_cluster(settings) if NAME in one] == []
    with pytest.raises(UnknownIndex, match="no index 'papers'"):
        open_index(settings, NAME)


# Documents that the cluster will not take


def refused_paper(number):
    """Make a paper whose journal is longer than a value of an exact field may be."""
    return paper(number) | {"journal": "가" * 13_334}  # 40,002 bytes


def test_a_corpus_of_refused_documents_is_told_so(make, corpus):
    settings = make()

    with pytest.raises(EmptyCorpus, match="immense term"):
        build(settings, corpus([refused_paper(1), refused_paper(2)]))

    assert index_names(settings) == []


# Names


def test_names_that_differ_in_capitals_are_two_indexes(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 3)), "papers")
    for _ in range(2):
        build(settings, corpus(some(3, 5), "other"), "Papers", rebuild=True)

    assert index_names(settings) == ["Papers", "papers"]
    assert ids(settings, "papers") == ["P00000", "P00000@en", "P00001", "P00002"]
    assert ids(settings, "Papers") == ["P00003", "P00004"]
    assert versions(settings, "papers") == (1, [1])
    assert versions(settings, "Papers") == (2, [1, 2])
    with open_store(settings, "Papers") as store:
        store.delete()
    assert index_names(settings) == ["papers"]
    assert len(ids(settings, "papers")) == 4


def test_a_longer_prefix_is_another_s(make, corpus):
    settings = make()
    other = settings.elasticsearch.model_copy(update={"prefix": f"{settings.elasticsearch.prefix}-x"})
    build(settings.model_copy(update={"elasticsearch": other}), corpus(some(0, 3)))

    assert index_names(settings.model_copy(update={"elasticsearch": other})) == ["papers"]
    assert index_names(settings) == []


@pytest.mark.parametrize(
    "name", mostly_nightly(["학술논문", "논문.2024-1_A", "가" * 64, "a" * 64], by_day={"가" * 64})
)
def test_names_may_be_hangul_and_long(make, corpus, name):
    settings = make()
    build(settings, corpus(some(1, 3)), name)

    assert index_names(settings) == [name]
    assert answers(settings, name)
    with open_store(settings, name) as store:
        store.delete()
    assert index_names(settings) == []


# Two machines


def test_a_second_machine_searches_and_fetches_the_glossary(make, corpus):
    first, second = make("first"), make("second")
    papers = [
        {
            "id": f"A{n}",
            "title": "지식 그래프(knowledge graph)",
            "abstract": f"지식 그래프(knowledge graph) {n}",
        }
        for n in range(3)
    ]
    build(first, corpus(papers))
    assert not second.home.exists()

    there, here = state(first), state(second)
    assert here == there
    assert any("knowledge graph" in line for line in here["glossary"])
    assert list((second.home / NAME).rglob("*-glossary.sqlite"))


# Killed

# Builds as `shrag index` does, and kills itself the n-th time that a stage is told.
KILLED = """
import os, signal, sys
from indexer.ingest import IngestRequest, build_index
from indexer.settings import IndexerSettings

path, stage, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
told = 0
def show(now, done, total):
    global told
    told += now == stage
    if told == times:
        os.kill(os.getpid(), signal.SIGKILL)

if stage == "pointing":
    from indexer.versions.store.elasticsearch import ElasticsearchStore
    ElasticsearchStore.point_to = lambda self, version: show("pointing", 0, 0)
build_index(IngestRequest("papers", [path]), IndexerSettings(), show)
"""


def kill(settings, path, stage, times=1):
    """Build in a process of its own that is killed on the way."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), stage, str(times)],
        env=hidden_environment(settings.home)
        | environment_of(settings)
        | {"SHRAG_ELASTICSEARCH__REQUEST_BYTES": "20000"},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")


def stages_of(settings, path):
    told: list[str] = []
    build_index(IngestRequest(NAME, [str(path)]), settings, lambda stage, *_: told.append(stage))
    return list(dict.fromkeys(told))


@pytest.fixture(scope="module")
def disturbed_corpus(tmp_path_factory):
    """Return a corpus with refused records of both kinds near its beginning and its end."""
    records = [*some(0, 60), refused_paper(60), '{"id": "no end', *some(61, 380), refused_paper(380)]
    return write_jsonl(tmp_path_factory.mktemp("disturbed") / "corpus.jsonl", [*records, *some(381, 400)])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, settings_for, disturbed_corpus):
    settings = settings_for(tmp_path_factory.mktemp("undisturbed"), commit_every=100)
    build(settings, disturbed_corpus)
    return state(settings)


@pytest.mark.parametrize(
    ("kills", "goes_on"),
    [
        pytest.param([("indexing", 10)], False, marks=pytest.mark.nightly),  # before the first commit
        # Passages that are written again are deleted first, and that is waited for.
        pytest.param([("committing", 2), ("indexing", 90)], True, marks=pytest.mark.nightly),
        pytest.param([("indexing", 350), ("merging", 1)], True, marks=pytest.mark.nightly),
        pytest.param([("glossary", 7)], True, marks=pytest.mark.nightly),
        pytest.param([("publishing", 1)], True, marks=pytest.mark.nightly),
        ([("pointing", 1)], True),  # all is there but the pointer
    ],
)
def test_a_killed_build_ends_as_an_undisturbed_one(make, disturbed_corpus, undisturbed, kills, goes_on):
    settings = make(commit_every=100)
    for stage, times in kills:
        kill(settings, disturbed_corpus, stage, times)
        with pytest.raises(UnknownIndex):
            open_index(settings, NAME)

    stages = stages_of(settings, disturbed_corpus)

    assert stages[0] == ("reading" if goes_on else "indexing")
    assert state(settings) == undisturbed
    version, kept = versions(settings)
    assert kept == [version]
    assert [index for index in left_in_the_cluster(settings) if "@" in index] == [
        f"{settings.elasticsearch.prefix}-{NAME}@{version:06}"
    ]


@pytest.mark.nightly
@hurried
def test_a_killed_update_starts_over_and_the_version_answers_meanwhile(make, corpus):
    settings = make()
    build(settings, corpus(some(0, 40)))
    before = state(settings)
    update = corpus(some(30, 50, version=1), "update")

    kill(settings, update, "merging")

    assert state(settings) == before
    assert stages_of(settings, update)[0] == "indexing"
    assert versions(settings) == (2, [1, 2])
    assert len([one for one in ids(settings) if "@" not in one]) == 50
