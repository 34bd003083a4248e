"""Deaths in the middle of a build, of the server and of the indexer: what comes out is what would have."""

import random
import signal
import subprocess
import sys
import time

import pytest

from indexer.errors import EngineUnreachable
from indexer.versions.cluster.connection import Cluster
from indexer.versions.store.engines import open_store
from tests.indexer.made_corpora import ROOT
from tests.indexer.made_corpora import command as shrag
from tests.interrupts import interrupts_heeded
from tests.service.elasticsearch.faults import (
    NAME,
    WAITED_S,
    Command,
    Signal,
    build,
    clean,
    command,
    contents,
    corpus,
    environment,
    in_background,
    settings_for,
)
from tests.service.elasticsearch.proxy import proxy_before
from tests.service.elasticsearch.server import Access, Server
from tests.test_kill import INDEXER

__all__ = ["command"]

PAPERS = 120


@pytest.fixture(scope="module")
def undisturbed(elasticsearch: Access, tmp_path_factory):
    """Return what a build that nothing disturbs comes to."""
    settings = settings_for(
        elasticsearch, tmp_path_factory.mktemp("undisturbed"), "undisturbed", commit_every=50
    )
    build(settings, corpus(settings.home, PAPERS))
    yield contents(settings)
    clean(settings)


@pytest.fixture
def papers(tmp_path):
    """Return the same corpus in the test's own folder."""
    return corpus(tmp_path, PAPERS)


@pytest.mark.timeout(3 * WAITED_S)
@pytest.mark.parametrize(
    ("stage", "after"),
    [
        pytest.param("indexing", 70, marks=pytest.mark.nightly),
        pytest.param("merging", 0, marks=pytest.mark.nightly),
        pytest.param("glossary", 0, marks=pytest.mark.nightly),
    ],
)
def test_a_build_goes_on_when_a_killed_server_comes_back(
    own_server: Server, undisturbed, papers, tmp_path, stage: str, after: int
):
    settings = settings_for(own_server.access, tmp_path, commit_every=50, patience_s=WAITED_S)
    at = Signal(stage, after)
    with in_background(lambda: build(settings, papers, at)) as building:
        with at.here():
            own_server.kill()
        time.sleep(1)
        own_server.launch()
        report = building.result()

    assert report.manifest.version == 1
    assert contents(settings) == undisturbed


@pytest.mark.parametrize(  # before the first commit, and behind it
    "after", [30, 70]
)
@pytest.mark.nightly
def test_without_the_server_a_build_ends_and_the_same_command_goes_on(
    own_server: Server, undisturbed, papers, tmp_path, after: int, command: Command
):
    settings = settings_for(own_server.access, tmp_path, commit_every=50)
    at = Signal("indexing", after)
    with in_background(lambda: build(settings, papers, at)) as building:
        with at.here():
            own_server.kill()
            started = time.monotonic()
        with pytest.raises(EngineUnreachable, match="Elasticsearch"):
            building.result()
        assert time.monotonic() - started > 1  # patience is 3 s

    own_server.restart()
    code, told, _ = command(settings, "index", papers, "--name", NAME)
    assert code == 0
    assert f"version 1: {undisturbed['counts'][1]} passages" in told
    assert contents(settings) == undisturbed


@pytest.mark.timeout(3 * WAITED_S)
@pytest.mark.nightly
def test_a_paused_server_is_waited_for(own_server: Server, undisturbed, papers, tmp_path):
    settings = settings_for(own_server.access, tmp_path, commit_every=50)
    hasty = settings_for(own_server.access, tmp_path, commit_every=50, patience_s=WAITED_S, timeout_s=20)
    at = Signal("indexing", 70)
    with in_background(lambda: build(hasty, papers, at)) as building:
        with at.here():
            own_server.pause()
        time.sleep(25)
        own_server.resume()
        building.result()
    assert contents(settings) == undisturbed


class BrokenOff(Exception):
    """What ends a build that a test breaks off."""


def test_a_build_that_somebody_deleted_starts_over(elasticsearch: Access, undisturbed, papers, tmp_path):
    settings = settings_for(elasticsearch, tmp_path, "deleted", commit_every=50)
    records = iter(range(70))

    def break_off(stage: str, done: int, total: int) -> None:
        if stage == "indexing" and next(records, None) is None:
            raise BrokenOff

    with pytest.raises(BrokenOff):  # behind the first commit
        build(settings, papers, break_off)
    with Cluster(settings.elasticsearch) as cluster:
        cluster.run(cluster.client.indices.delete(index=f"deleted-{NAME}@000001"))
    build(settings, papers)
    assert contents(settings) == undisturbed
    clean(settings)


@pytest.mark.nightly  # by day test_ingest.py kills it once in each stage
def test_an_indexer_killed_at_random_ends_as_if_nothing_had_been(elasticsearch: Access, tmp_path):
    draw = random.Random(9)
    undisturbed = settings_for(elasticsearch, tmp_path / "undisturbed", "unkilled", commit_every=100)
    killed = settings_for(elasticsearch, tmp_path / "killed", "killed", commit_every=100)
    first, update = corpus(tmp_path, 300), corpus(tmp_path, 50, version=1, name="update.jsonl")
    landed = 0
    for path in (first, update):
        build(undisturbed, path)
        before = current(killed)
        for stage in ("indexing", "committing", "merging", "glossary", "publishing", "none"):
            if current(killed) == before:
                landed += run_and_kill(killed, path, stage, draw.uniform(0, 0.15))
        assert contents(killed) == contents(undisturbed)
    assert landed >= 2
    clean(killed)
    clean(undisturbed)


def current(settings) -> int | None:
    with open_store(settings, NAME) as folder:
        return folder.current()


def run_and_kill(settings, path, stage: str, seconds: float) -> bool:
    """Run the indexer and kill it some time after the beginning of a stage; tell whether that hit it."""
    process = subprocess.Popen(
        [sys.executable, "-c", INDEXER, "build", str(path)],
        env=environment(settings) | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        for line in process.stdout:
            if line.strip() == stage:
                time.sleep(seconds)
                process.kill()
    assert process.returncode in {0, -signal.SIGKILL}
    return process.returncode != 0


def test_an_interrupted_build_tells_one_line_and_goes_on(elasticsearch: Access, tmp_path):
    settings = settings_for(elasticsearch, tmp_path, "interrupted", commit_every=100)
    path = corpus(tmp_path, 300)
    noted = tmp_path / NAME / "building" / "committed.json"
    with proxy_before(elasticsearch) as proxy:
        busy = 429, {"error": {"type": "es_rejected_execution_exception", "reason": "busy"}}
        proxy.answers = lambda _, path, __: busy if path.endswith("_bulk") and noted.exists() else None
        waiting = settings_for(proxy.access, tmp_path, "interrupted", commit_every=100, patience_s=WAITED_S)
        with interrupts_heeded():
            process = subprocess.Popen(
                shrag("index", path, "--name", NAME),
                env=environment(waiting) | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
                stderr=subprocess.PIPE,
                text=True,
            )
        while not noted.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=WAITED_S)

    assert process.returncode == 130
    assert told.count("\n") == 1
    assert build(settings, path).manifest.papers == 300
    clean(settings)
