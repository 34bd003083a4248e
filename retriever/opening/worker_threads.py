"""Threads of one resource, so that resources do not wait for each other."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from base.cores import usable_cores
from indexer.errors import IndexClosed

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Threads that compute or wait for a disk; more of them do not compute faster.
MOST_THREADS = min(8, usable_cores() + 1)
CLOSED = "the index is closed"

_in_one_thread = ContextVar("_in_one_thread", default=False)  # within `run_whole`


async def together(*awaitables: Coroutine[Any, Any, Any]) -> list[Any]:
    """Return the results of coroutines: run concurrently, or one by one within `run_whole`."""
    if not _in_one_thread.get():
        return await asyncio.gather(*awaitables)
    try:
        return [await awaitable for awaitable in awaitables]
    finally:
        for awaitable in awaitables:
            awaitable.close()  # of those behind one that failed


class WorkerThreads:
    """A few threads, started on demand; callers may be on any event loop.

    With a count of 1, all functions run in that thread, one after the other, even within `run_whole`.
    """

    def __init__(self, name: str, count: int = MOST_THREADS) -> None:
        """Name the threads; none is started yet."""
        self._executor = ThreadPoolExecutor(count, name)
        self._closed, self._is_single = False, count == 1

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a function in one of the threads, with the context of the caller, and return its result.

        Raises:
            IndexClosed: the threads have ended.
        """
        if _in_one_thread.get() and not self._is_single and not self._closed:
            return function(*args, **kwargs)
        call = partial(copy_context().run, function, *args, **kwargs)
        try:
            running = asyncio.get_running_loop().run_in_executor(self._executor, call)
        except RuntimeError as error:  # after `close`
            raise IndexClosed(CLOSED, remedy="open it again") from error
        return await running

    async def run_whole(self, begin: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run a coroutine from beginning to end in one of the threads, which saves switches between threads.

        It may await only `together` and functions run by `WorkerThreads` of several threads.

        Raises:
            IndexClosed: the threads have ended.
            RuntimeError: it awaits something else.
        """

        def whole() -> Result:
            _in_one_thread.set(True)  # in the context of this call
            coroutine = begin()
            try:
                coroutine.send(None)
            except StopIteration as end:
                result: Result = end.value
                return result
            coroutine.close()
            raise RuntimeError("a coroutine that was to run in one thread waits for an event loop")

        return await self.run(whole)

    def begin(self, function: Callable[[], object]) -> None:
        """Run a function in one of the threads, and do not wait for it; it should not raise.

        Raises:
            IndexClosed: the threads have ended.
        """
        try:
            self._executor.submit(function)
        except RuntimeError as error:
            raise IndexClosed(CLOSED, remedy="open it again") from error

    def close(self) -> None:
        """Wait for running functions; later calls raise IndexClosed."""
        self._closed = True
        self._executor.shutdown()
