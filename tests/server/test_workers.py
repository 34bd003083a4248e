"""Several processes that answer: versions come and go under load, a killed process is replaced."""

import os
import signal
import time
from pathlib import Path

import httpx

from indexer.settings import IndexerSettings
from indexer.store.engines import open_store
from server.access.key_store import FILE
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN, NAME
from tests.server.loading import Load, publish_edition
from tests.server.running import children_of, serving, shrag
from tests.server.test_stopping import ENDLESS, STREAMED, with_model

pytest_plugins = ["tests.generator.sample_index"]

PATIENCE_S = 60
OTHER = "quokkas"


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.1)


def test_versions_are_published_rolled_back_and_deleted_while_two_processes_answer(tmp_path):
    settings = IndexerSettings(home=tmp_path / "home", workers=1)
    publish_edition(settings, OTHER, 1)
    publish_edition(settings, "beside", 1)
    with serving(settings.home, tmp_path / "log", "--workers", "2") as server:
        assert_editions_are_served(server.url, settings)


def assert_editions_are_served(url, settings):
    """Publish, roll back and delete under load: no question fails that may be answered."""
    with Load(url, OTHER) as load, Load(url, "beside") as beside:
        for edition in (2, 3):
            publish_edition(settings, OTHER, edition)
            wait_until(lambda edition=edition: load.last(20) == {edition}, f"edition {edition}")
        with open_store(settings, OTHER) as store:
            store.rollback()
        wait_until(lambda: load.last(20) == {2}, "what was rolled back to")
        assert load.statuses() == {200}
        assert load.editions() == {1, 2, 3}
        with open_store(settings, OTHER) as store:
            store.delete()
        wait_until(lambda: load.last_statuses(20) == {404}, "deletion")
        publish_edition(settings, OTHER, 4)
        wait_until(lambda: load.last(20) == {4}, "an index made again")
    assert load.statuses() == {200, 404}
    assert beside.statuses() == {200}
    assert load.mixed == beside.mixed == 0


def test_a_killed_process_is_replaced_and_what_others_do_goes_on(sample_home, tmp_path):
    with (
        model_served(ENDLESS) as model,
        serving(sample_home, tmp_path / "log", "--workers", "2", **with_model(model)) as server,
        httpx.Client(timeout=60) as reader,
    ):
        workers = children_of(server.process.pid)
        assert len(workers) == 2
        before = {worker: sockets_of(worker) for worker in workers}
        with reader.stream(
            "GET", f"{server.url}/api/v1/ask", params={"question": ENGLISH}, headers=STREAMED
        ) as answer:
            lines = answer.iter_lines()
            assert model.begun.wait(PATIENCE_S)
            [busy] = [worker for worker in workers if sockets_of(worker) > before[worker]][:1]
            [other] = set(workers) - {busy}
            os.kill(other, signal.SIGKILL)
            wait_until(lambda: other not in children_of(server.process.pid), "the end")
            wait_until(lambda: len(children_of(server.process.pid)) == 2, "another process")
            found = httpx.get(f"{server.url}/api/v1/search", params={"question": KOREAN}, timeout=60)
            assert found.status_code == 200
            server.process.terminate()
            assert any('"code": "stopping"' in line for line in lines)


def test_a_process_that_replaces_another_knows_that_keys_were_made(sample_home, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    with serving(home, tmp_path / "log", server__workers=2) as server:
        assert listed(server.url) == 200
        assert shrag(home, "keys", "create").returncode == 0
        wait_until(lambda: listed(server.url) == 401, "closed by the first key")
        (home / FILE).unlink()
        before = set(children_of(server.process.pid))
        for worker in before:
            os.kill(worker, signal.SIGKILL)
        wait_until(lambda: len(set(children_of(server.process.pid)) - before) == 2, "other processes")
        wait_until(lambda: listed(server.url), "an answer")
        assert {listed(server.url) for _ in range(10)} == {401}


def listed(url):
    """Ask for the indexes; return the status, 0 where nobody answers."""
    try:
        return httpx.get(f"{url}/api/v1/indexes", timeout=60).status_code
    except httpx.TransportError:
        return 0


def sockets_of(process: int) -> int:
    """Count the sockets that a process has open."""
    count = 0
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        try:
            count += descriptor.readlink().name.startswith("socket:")
        except OSError:
            continue
    return count


def test_workers_end_with_the_process_that_started_them(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", "--workers", "2") as server:
        workers = children_of(server.process.pid)
        server.process.kill()
        server.process.wait()
        wait_until(lambda: not any(map(alive, workers)), "the workers' end")


def alive(process: int) -> bool:
    """Tell whether a process runs; one that nobody waits for has ended all the same."""
    try:
        return Path(f"/proc/{process}/stat").read_text("ascii").rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
