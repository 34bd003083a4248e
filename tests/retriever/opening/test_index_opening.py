"""Opening an index: what is refused, and with what next step; work in threads that ends with its caller."""

import asyncio
import shutil
import threading
from contextlib import closing

import pytest

from base.files.durable import describe_error
from indexer.errors import IndexClosed, IndexDamaged, IndexMismatch
from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.opening.worker_threads import WorkerThreads, check_cancelled, wait_for
from tests.indexer.made_corpora import edit_manifest
from tests.retriever.made_papers import NAME, built, found, opened


@pytest.fixture
def home(tmp_path_factory, tmp_path):
    """Return a copy of the index for the test to spoil."""
    return shutil.copytree(built(tmp_path_factory), tmp_path / "home")


def version(home):
    return home / NAME / "versions" / "000001"


def test_another_fingerprint_is_refused_with_what_differs(home):
    edit_manifest(version(home), fingerprint={"tantivy": "0.1.0"})

    with pytest.raises(IndexMismatch, match=r"tantivy: 0\.1\.0, now .*; upgrade it .*, or build it again"):
        open_index(IndexerSettings(home=home), NAME)


@pytest.mark.parametrize("name", ["tantivy", "tantivy/meta.json"])
def test_a_missing_part_is_damage_with_the_way_back(home, name):
    path = version(home) / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    with pytest.raises(IndexDamaged) as damage:
        open_index(IndexerSettings(home=home), NAME)

    assert str(damage.value).startswith("index 'papers', version 1: tantivy/")
    assert describe_error(damage.value).endswith(
        "is missing; build it again (shrag index PATH --name papers --rebuild), or roll back to the "
        "previous version (shrag indexes rollback papers)"
    )


def test_a_search_of_a_closed_index_says_that_it_is_closed(tmp_path_factory):
    with opened(tmp_path_factory) as index:
        pass

    with pytest.raises(IndexClosed, match="open it again"):
        found(index, "graph retrieval")


@pytest.mark.parametrize("waits", [False, True])
def test_work_and_the_request_that_it_waits_for_end_when_the_caller_leaves(waits):
    begun, ended, left = threading.Event(), threading.Event(), []

    async def request():
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            left.append("request")
            raise

    def work(loop):
        try:
            if waits:
                wait_for(request(), loop)
            begun.set()
            while True:
                check_cancelled()
        finally:
            ended.set()

    async def leave(threads):
        task = asyncio.ensure_future(threads.run(work, asyncio.get_running_loop()))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 10)
        assert left == (["request"] if waits else [])

    with closing(WorkerThreads("test", 2)) as threads:
        asyncio.run(leave(threads))
