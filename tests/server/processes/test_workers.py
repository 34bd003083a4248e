"""Several processes that answer: versions come and go under load, a killed process is replaced."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from base.cores import usable_cores
from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store
from retriever.sources.configuration import read_declared
from server.serving import default_workers
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.loading import Load, publish_edition
from tests.server.processes.test_stopping import ENDLESS, STREAMED, with_model
from tests.server.running import START_S, serving, wait_for

WIKI = {"KIND": "wikipedia", "LANGUAGE": "en", "CONTACT": "library@example.org"}
OTHER = "quokkas"


def until_answered_by(load, edition):
    """Wait until all questions are answered by an edition."""
    wait_for(lambda: load.editions(last=20), lambda found: found == {edition})


@pytest.mark.parametrize(
    ("settings", "sources", "workers"),
    [
        ({}, [], usable_cores()),
        ({"encoder": {"provider": "local"}}, [], 1),  # one process alone loads a model
        ({"reranker": {"provider": "local"}}, [], 1),
        ({"check": {"judge": "local", "model": "/m"}}, [], 1),
        ({}, ["wiki"], 1),  # and asks services on the network
    ],
)
def test_one_process_answers_for_each_core_unless_one_alone_may(monkeypatch, settings, sources, workers):
    for key, value in WIKI.items():
        monkeypatch.setenv(f"SHRAG_SOURCES__WIKI__{key}", value)

    assert default_workers(IndexerSettings(**settings), read_declared(sources)) == workers


@pytest.mark.slow
def test_versions_are_published_rolled_back_and_deleted_while_two_processes_answer(tmp_path):
    settings = IndexerSettings(home=tmp_path / "home", workers=1)
    publish_edition(settings, OTHER, 1)
    publish_edition(settings, "beside", 1)
    with serving(settings.home, tmp_path / "log", "--workers", "2") as server:
        assert_editions_are_served(server.url, settings)


def assert_editions_are_served(url, settings):
    """Publish, roll back and delete under load: no question fails that may be answered."""
    with Load(url, OTHER) as load, Load(url, "beside") as beside:
        until_answered_by(load, 1)
        for edition in (2, 3):
            publish_edition(settings, OTHER, edition)
            until_answered_by(load, edition)
        with open_store(settings, OTHER) as store:
            store.rollback()
        until_answered_by(load, 2)
        assert load.statuses() == {200}
        assert load.editions() == {1, 2, 3}
        with open_store(settings, OTHER) as store:
            store.delete()
        wait_for(lambda: load.statuses(last=20), lambda found: found == {404})
        publish_edition(settings, OTHER, 4)
        until_answered_by(load, 4)
    assert load.statuses() == {200, 404}
    assert beside.statuses() == {200}
    assert load.mixed == beside.mixed == 0


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_what_others_do_goes_on(sample_home, tmp_path):
    with (
        model_served(ENDLESS) as model,
        serving(
            sample_home, tmp_path / "log", server__workers=2, server__stop_s=START_S, **with_model(model)
        ) as server,
        httpx.Client(timeout=START_S) as reader,
    ):
        workers = workers_of(server)
        with reader.stream(
            "GET", f"{server.url}/api/v1/ask", params={"question": ENGLISH}, headers=STREAMED
        ) as answer:
            lines = answer.iter_lines()
            assert model.begun.wait(START_S)
            [other] = [worker for worker in workers if not is_connected(worker, model.base_url)]
            os.kill(other, signal.SIGKILL)
            wait_for(lambda: other in children_of(server.process.pid), lambda there: not there)
            workers_of(server)
            found = server.get("/api/v1/search", params={"question": KOREAN})
            assert found.status_code == 200
            server.process.terminate()
            assert any('"code": "stopping"' in line for line in lines)


@pytest.mark.slow
def test_a_worker_that_hangs_does_not_keep_the_server_from_stopping(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", server__workers=2, server__stop_s=0.5) as server:
        os.kill(workers_of(server)[0], signal.SIGSTOP)
        server.process.terminate()
        assert server.process.wait(START_S) == 0


def children_of(process: int) -> list[int]:
    """Return the worker processes of a server, the oldest first."""
    found = []
    for child in Path(f"/proc/{process}/task/{process}/children").read_text("ascii").split():
        with suppress(OSError):  # it has just ended
            found += [int(child)] if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes() else []
    return found


def workers_of(server):
    """Return both worker processes of a server when they are there."""
    return wait_for(lambda: children_of(server.process.pid), lambda found: len(found) == 2)


def is_connected(process: int, url: str) -> bool:
    """Tell whether a process has a connection to a server of this machine (proc(5), /proc/net/tcp)."""
    port = f":{httpx.URL(url).port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()]
    connections = {f"socket:[{row[9]}]" for row in rows if row[2].endswith(port)}
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if descriptor.readlink().name in connections:
                return True
    return False
