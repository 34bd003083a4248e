"""Several processes that answer: versions come and go under load, a killed process is replaced."""

import os
import signal
import time
from pathlib import Path

import httpx

from indexer.settings import IndexerSettings
from indexer.store.engines import open_store
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, KOREAN
from tests.server.loading import Load, publish_edition
from tests.server.running import children_of, serving
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
