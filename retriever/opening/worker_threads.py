"""Threads for synchronous work that coroutines wait for, and its cancellation."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
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


class Work:
    """A function that runs in a worker thread, and the request on an event loop that it waits for."""

    def __init__(self) -> None:
        self.cancelled = False
        self._awaited: Future[Any] | None = None

    def cancel(self) -> None:
        """Cancel the awaited request; the function ends at its next check."""
        self.cancelled = True
        if awaited := self._awaited:
            awaited.cancel()

    def wait_for(self, request: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
        """Return the result of a coroutine that runs on an event loop of another thread."""
        awaited = self._awaited = asyncio.run_coroutine_threadsafe(request, loop)
        if self.cancelled:
            awaited.cancel()
        try:
            result: Result = awaited.result()
            return result
        finally:
            self._awaited = None


_work: ContextVar[Work] = ContextVar("_work")


def check_cancelled() -> None:
    """End the work of this thread if its caller has left."""
    if (work := _work.get(None)) and work.cancelled:
        raise CancelledError


def wait_for(request: Coroutine[Any, Any, Result], loop: asyncio.AbstractEventLoop) -> Result:
    """Return the result of a coroutine that runs on an event loop, unless the caller of this work leaves."""
    return _work.get(Work()).wait_for(request, loop)


class WorkerThreads:
    """A few threads, started on demand; callers may be on any event loop."""

    def __init__(self, name: str, count: int = MOST_THREADS) -> None:
        """Name the threads; none is started yet."""
        self._executor = ThreadPoolExecutor(count, name)

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a function in one of the threads, with the context of the caller, and return its result.

        If the caller is cancelled, the function ends at its next `check_cancelled`.

        Raises:
            IndexClosed: the threads have ended.
        """
        work, context = Work(), copy_context()
        context.run(_work.set, work)
        try:
            running = asyncio.get_running_loop().run_in_executor(
                self._executor, partial(context.run, function, *args, **kwargs)
            )
        except RuntimeError as error:  # after `close`
            raise IndexClosed(CLOSED, remedy="open it again") from error
        try:
            return await running
        except asyncio.CancelledError:
            work.cancel()
            raise

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
        self._executor.shutdown()
