"""Two indexers of one name: on one machine, on two, after a kill, and after a sleep."""

import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from indexer.errors import IndexBusy
from indexer.settings import IndexerSettings
from indexer.versions.cluster import lease, names
from indexer.versions.cluster.connection import Cluster
from indexer.versions.cluster.lease import Lease
from tests.indexer.made_corpora import ROOT
from tests.needs import mostly_nightly
from tests.service.elasticsearch.faults import (
    NAME,
    WAITED_S,
    Command,
    Signal,
    answers,
    build,
    clean,
    command,
    contents,
    corpus,
    environment,
    in_background,
    settings_for,
)
from tests.service.elasticsearch.server import Access
from tests.test_kill import INDEXER

__all__ = ["command"]


@pytest.fixture
def two(elasticsearch: Access, tmp_path):
    """Return the settings of two machines, of which each has a home of its own."""
    corpus(tmp_path, 60)
    corpus(tmp_path, 70, version=3, name="other.jsonl")
    one, other = (settings_for(elasticsearch, tmp_path / home, "leased") for home in ("one", "other"))
    yield one, other
    clean(one)


@pytest.mark.nightly
def test_a_second_machine_is_told_who_writes(two, tmp_path, command: Command):
    one, other = two
    at = Signal("indexing", 30)
    with in_background(lambda: build(one, tmp_path / "papers.jsonl", at)) as first, at.here():
        told = command.told(other, "index", tmp_path / "other.jsonl", "--name", NAME)
    assert re.match(f"IndexBusy: .* {socket.gethostname()}, .*'papers'", told)
    assert re.search(r"expires in \d+ s", told)
    assert first.result().manifest.version == 1
    assert build(other, tmp_path / "other.jsonl", rebuild=True).manifest.version == 2


def test_two_names_are_written_at_once(two, tmp_path):
    one, other = two
    at = Signal("indexing", 30)
    with in_background(lambda: build(one, tmp_path / "papers.jsonl", at)) as first, at.here():
        build(other, tmp_path / "other.jsonl", name="others")
    assert first.result().manifest.papers == 60
    assert answers(other, "others") != answers(one)


def test_deleting_and_going_back_wait_for_a_writer(two, tmp_path, command: Command):
    one, other = two
    build(one, tmp_path / "papers.jsonl")
    at = Signal("indexing", 30)
    with in_background(lambda: build(one, tmp_path / "other.jsonl", at, rebuild=True)) as first, at.here():
        for arguments in (("delete", NAME, "--yes"), ("rollback", NAME), ("remove", NAME, "P00001")):
            told = command.told(other, "indexes", *arguments)
            assert "IndexBusy: " in told
    assert first.result().manifest.version == 2


def kill_while_indexing(settings: IndexerSettings, path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INDEXER, "build", str(path)],
        env=environment(settings)
        | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "WAITS_AT": "indexing"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        for line in process.stdout:
            if line.strip() == "indexing":
                process.kill()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.nightly
def test_after_a_kill_the_same_home_goes_on_at_once_and_another_waits(two, tmp_path, command: Command):
    one, other = two
    kill_while_indexing(one, tmp_path / "papers.jsonl")
    told = command.told(other, "index", tmp_path / "other.jsonl", "--name", NAME)
    assert re.search(r"expires in \d+ s", told)
    assert build(one, tmp_path / "papers.jsonl").manifest.papers == 60


@pytest.mark.nightly
def test_another_home_takes_over_when_the_hold_of_a_killed_one_has_run_out(
    two, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    one, other = two
    kill_while_indexing(one, tmp_path / "papers.jsonl")
    with Cluster(one.elasticsearch) as cluster:  # as if two minutes had gone by
        index = names.leases("leased")
        key = names.alias_of("leased", NAME)
        held = cluster.run(cluster.client.get(index=index, id=key))["_source"]
        cluster.run(cluster.client.index(index=index, id=key, document=held | {"until": int(time.time())}))

    report = build(other, tmp_path / "other.jsonl")
    assert report.manifest.papers == 70
    clean_build = contents(other)

    build(one, tmp_path / "papers.jsonl", rebuild=True)  # what it had begun is not mixed in
    assert contents(one)["counts"][0] == 60
    assert clean_build["counts"][0] == 70


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let leases last a second, and be renewed too late: as if the holder slept."""
    monkeypatch.setattr(lease, "LEASE_S", 1)
    monkeypatch.setattr(lease, "RENEWAL_INTERVAL_S", 3600)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "stage", mostly_nightly(["indexing", "merging", "publishing"], by_day={"publishing"})
)
def test_who_slept_past_its_lease_does_not_publish_over_the_work_of_another(two, tmp_path, stage: str):
    one, other = two
    at = Signal(stage, 30 if stage == "indexing" else 0)
    with in_background(lambda: build(one, tmp_path / "papers.jsonl", at)) as sleeper:
        with at.here():
            time.sleep(2.1)
            published = build(other, tmp_path / "other.jsonl").manifest
            whole = contents(other)
        with pytest.raises(IndexBusy, match="'papers'"):
            sleeper.result()
    assert contents(other) == whole
    assert published.version == 1
    assert build(one, tmp_path / "papers.jsonl", rebuild=True).manifest.version == 2


@pytest.mark.usefixtures("short")
@pytest.mark.nightly
def test_who_slept_while_another_writes_mixes_nothing_in(two, tmp_path):
    one, other = two
    first, second = Signal("indexing", 30), Signal("merging")
    with (
        in_background(lambda: build(one, tmp_path / "papers.jsonl", first)) as sleeper,
        in_background(lambda: taking_over(other, tmp_path / "other.jsonl", second, first)) as taker,
    ):
        with second.here():
            first.acted.set()
            with pytest.raises(IndexBusy, match="suspended"):
                sleeper.result()
        taker.result()
    undisturbed = settings_for_prefix(other, "alone", tmp_path)
    build(undisturbed, tmp_path / "other.jsonl")
    assert contents(other) == contents(undisturbed)
    clean(undisturbed)


def taking_over(settings, path, at: Signal, after: Signal):
    assert after.reached.wait(WAITED_S)
    time.sleep(2.1)
    return build(settings, path, at)


def settings_for_prefix(settings: IndexerSettings, prefix: str, folder) -> IndexerSettings:
    changed = settings.elasticsearch.model_copy(update={"prefix": prefix})
    return settings.model_copy(update={"elasticsearch": changed, "home": folder / prefix})


@pytest.mark.usefixtures("short")
def test_who_slept_alone_publishes(two, tmp_path):
    at = Signal("indexing", 30)
    with in_background(lambda: build(two[0], tmp_path / "papers.jsonl", at)) as sleeper:
        with at.here():
            time.sleep(2.1)
        assert sleeper.result().manifest.papers == 60


def test_a_lease_renewed_by_two_threads_at_once_is_still_held(two, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lease, "RENEWAL_INTERVAL_S", 0.005)
    with Cluster(two[0].elasticsearch) as cluster:
        held = Lease(cluster, names.leases("leased"), "key", "host-1")
        held.take("papers")
        for _ in range(100):
            held.check("papers")
        with pytest.raises(IndexBusy):
            Lease(cluster, names.leases("leased"), "key", "host-2").take("papers")
        held.release()
