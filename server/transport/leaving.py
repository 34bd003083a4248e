"""Cancellation of work when the reader leaves, or the server stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

from starlette.requests import Request

from generator.tracing.progress import ended
from server.errors import Stopping
from server.processes.stopping import STOPPING
from server.services import Backends

T = TypeVar("T")


async def while_connected(
    request: Request, services: Backends, work: Coroutine[Any, Any, T], *, handles_stop: bool = False
) -> T:
    """Await some work; cancel it when the reader leaves or the server stops.

    Work that handles the stop itself is not cancelled by it. The request's body has already been read.

    Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _left(request), *(() if handles_stop else (_stopping(services),)))


async def unless_stopping(services: Backends, work: Coroutine[Any, Any, T]) -> T:
    """Await some work; cancel it when the server stops.

    Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _stopping(services))


async def _unless(work: Coroutine[Any, Any, T], *ends: Coroutine[Any, Any, NoReturn]) -> T:
    """Await some work; cancel it when one of `ends` completes first, and raise its error."""
    task, others = asyncio.ensure_future(work), list(map(asyncio.ensure_future, ends))
    try:
        done, _ = await asyncio.wait((task, *others), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task in done else done.pop().result()
    finally:
        for each in (task, *others):
            each.cancel()
        # A cancellation of this wait is not passed on: it would interrupt the cleanup of the work.
        await ended(asyncio.gather(task, *others, return_exceptions=True))


async def _left(request: Request) -> NoReturn:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    raise asyncio.CancelledError("the reader has left")


async def _stopping(services: Backends) -> NoReturn:
    await services.stopping.wait()
    raise Stopping(STOPPING)
