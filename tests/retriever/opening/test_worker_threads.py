"""Work of an index runs in its threads, or as a whole in one of them."""

import asyncio
import threading
from contextlib import closing

import pytest

from indexer.errors import IndexClosed
from retriever.opening.worker_threads import WorkerThreads, together


async def where(threads):
    return await threads.run(threading.current_thread)


def test_a_function_runs_in_another_thread_and_a_whole_coroutine_in_one():
    with closing(WorkerThreads("test", 2)) as threads:
        assert asyncio.run(where(threads)).name.startswith("test")
        whole = threads.run_whole(lambda: together(where(threads), where(threads)))
        first, second = asyncio.run(whole)
        assert first is second
        assert first is not threading.current_thread()


def test_errors_are_the_callers():
    async def broken():
        raise KeyError("P1")

    with closing(WorkerThreads("test", 2)) as threads:
        with pytest.raises(KeyError, match="P1"):
            asyncio.run(threads.run_whole(broken))
        with pytest.raises(RuntimeError):
            asyncio.run(threads.run_whole(lambda: asyncio.sleep(1)))
        threads.close()
        with pytest.raises(IndexClosed):
            asyncio.run(where(threads))
