"""Work of an index runs in its threads, or where it is asked for."""

import asyncio
import threading
from contextlib import closing

import pytest

from indexer.errors import IndexClosed
from retriever.opening.worker_threads import WorkerThreads, in_caller_thread, together


@pytest.fixture
def threads():
    with closing(WorkerThreads("test", 2)) as made:
        yield made


async def where(threads):
    return await threads.run(threading.current_thread)


def test_a_function_runs_in_another_thread(threads):
    assert asyncio.run(where(threads)).name.startswith("test")


def test_a_function_runs_in_the_callers_thread_where_that_is_said(threads):
    with in_caller_thread():
        assert asyncio.run(where(threads)) is threading.current_thread()
    assert asyncio.run(where(threads)) is not threading.current_thread()


def test_a_single_thread_keeps_its_work_to_itself():
    with closing(WorkerThreads("single", 1)) as single, in_caller_thread():
        assert asyncio.run(where(single)).name.startswith("single")


def test_a_whole_coroutine_runs_in_one_thread(threads):
    async def whole():
        return await together(where(threads), where(threads))

    first, second = asyncio.run(threads.run_whole(whole))
    assert first is second
    assert first is not threading.current_thread()


def test_an_error_of_a_whole_coroutine_is_the_callers(threads):
    async def broken():
        raise KeyError("P1")

    with pytest.raises(KeyError, match="P1"):
        asyncio.run(threads.run_whole(broken))


def test_a_whole_coroutine_that_waits_for_an_event_loop_is_an_error(threads):
    with pytest.raises(RuntimeError):
        asyncio.run(threads.run_whole(lambda: asyncio.sleep(1)))


def test_closed_threads_run_nothing(threads):
    threads.close()
    for inline in (False, True):

        async def run(inline=inline):
            if inline:
                with in_caller_thread():
                    return await where(threads)
            return await where(threads)

        with pytest.raises(IndexClosed):
            asyncio.run(run())
