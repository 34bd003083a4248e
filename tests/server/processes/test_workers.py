"""Several processes that answer: versions come and go under load, a killed process is replaced."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from indexer.settings import IndexerSettings
from indexer.versions.store.engines import open_store
from server.store import FILE
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN, NAME, shrag
from tests.server.loading import Load, publish_edition
from tests.server.processes.test_stopping import ENDLESS, STREAMED, with_model
from tests.server.running import START_S, children_of, serving, wait_for, workers_of

pytest_plugins = ["tests.generator.sample_index"]

pytestmark = pytest.mark.slow  # starts processes of the server

OTHER = "quokkas"


def until_answered_by(load, edition):
    """Wait until all questions are answered by an edition."""
    wait_for(lambda: load.last(20), lambda found: found == {edition})


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
        wait_for(lambda: load.last_statuses(20), lambda found: found == {404})
        publish_edition(settings, OTHER, 4)
        until_answered_by(load, 4)
    assert load.statuses() == {200, 404}
    assert beside.statuses() == {200}
    assert load.mixed == beside.mixed == 0


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


@pytest.mark.nightly
def test_a_process_that_replaces_another_knows_that_keys_were_made(sample_home, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    with serving(home, tmp_path / "log", server__workers=2) as server:
        assert listed(server) == 200
        assert shrag("keys", "create", home=home).returncode == 0
        wait_for(lambda: listed(server), lambda status: status == 401)  # closed by the first key
        (home / FILE).unlink()
        before = set(workers_of(server))
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        wait_for(lambda: set(children_of(server.process.pid)) - before, lambda others: len(others) == 2)
        wait_for(lambda: listed(server), bool)
        assert {listed(server) for _ in range(10)} == {503}


def listed(server):
    """Ask for the indexes; return the status, 0 where nobody answers."""
    try:
        return server.get("/api/v1/indexes").status_code
    except httpx.TransportError:
        return 0


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


def test_workers_end_with_the_process_that_started_them(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", "--workers", "2") as server:
        workers = workers_of(server)
        server.process.kill()
        server.process.wait()
        wait_for(lambda: any(map(alive, workers)), lambda there: not there)


def alive(process: int) -> bool:
    """Tell whether a process runs; one that nobody waits for has ended all the same."""
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.nightly
def test_a_worker_that_hangs_does_not_hold_up_the_end(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", server__workers=2, server__stop_s=1) as server:
        hung, *_ = workers_of(server)
        os.kill(hung, signal.SIGSTOP)
        server.process.terminate()
        assert server.process.wait(START_S) == 0
    wait_for(lambda: is_running(hung), lambda running: not running)


def is_running(process):
    """Check whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
