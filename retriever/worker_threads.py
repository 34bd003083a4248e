"""Threads of one resource's own, so that nobody's work waits for that of another."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from indexer.cores import usable_cores
from indexer.errors import IndexClosed

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Threads that compute or wait for a disk; more of them do not compute faster.
MOST_THREADS = min(8, usable_cores() + 1)


class WorkerThreads:
    """A few threads, begun when they are needed; callers may be on any event loop."""

    def __init__(self, name: str, count: int = MOST_THREADS) -> None:
        """Name the threads, as they are shown; none is begun yet."""
        self._executor = ThreadPoolExecutor(count, name)

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Run a function in one of the threads, with the context of the caller, and return its result.

        Raises:
            IndexClosed: the threads have ended.
        """
        call = partial(copy_context().run, function, *args, **kwargs)
        try:
            running = asyncio.get_running_loop().run_in_executor(self._executor, call)
        except RuntimeError as error:  # after `close`
            raise IndexClosed("the index is closed", remedy="open it again") from error
        return await running

    def begin(self, function: Callable[[], object]) -> None:
        """Run a function in one of the threads, and do not wait for it; it should not raise.

        Raises:
            IndexClosed: the threads have ended.
        """
        try:
            self._executor.submit(function)
        except RuntimeError as error:
            raise IndexClosed("the index is closed", remedy="open it again") from error

    def close(self) -> None:
        """Wait for what is under way; nothing is begun any more."""
        self._executor.shutdown()
