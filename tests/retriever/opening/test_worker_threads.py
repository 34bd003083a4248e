"""Synchronous work runs in threads, and ends when its caller leaves."""

import asyncio
import threading
from contextlib import closing

import pytest

from indexer.errors import IndexClosed
from retriever.opening.worker_threads import WorkerThreads, check_cancelled, wait_for


def fail():
    raise KeyError("P1")


def test_a_function_runs_in_another_thread_and_its_errors_are_the_callers():
    with closing(WorkerThreads("test", 2)) as threads:
        assert asyncio.run(threads.run(threading.current_thread)).name.startswith("test")
        with pytest.raises(KeyError, match="P1"):
            asyncio.run(threads.run(fail))
        threads.close()
        with pytest.raises(IndexClosed):
            asyncio.run(threads.run(threading.current_thread))


def test_a_thread_waits_for_a_coroutine_of_the_event_loop():
    async def answer():
        return await asyncio.sleep(0, 7)

    async def ask(threads):
        loop = asyncio.get_running_loop()
        return await threads.run(lambda: wait_for(answer(), loop))

    with closing(WorkerThreads("test", 2)) as threads:
        assert asyncio.run(ask(threads)) == 7


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
