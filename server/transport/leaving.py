"""Work for a reader ends when the reader leaves, or the server stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

from starlette.requests import Request

from generator.tracing.following import ended
from server.errors import Stopping
from server.processes.stopping import STOPPING
from server.services import Backends

T = TypeVar("T")


async def while_connected(
    request: Request, services: Backends, work: Coroutine[Any, Any, T], *, heeds_stop: bool = False
) -> T:
    """Await some work; it is cancelled when the reader goes away or the server stops.

    What heeds the stop by itself is not cancelled by it. The request's body has been read. Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _left(request), *(() if heeds_stop else (_stopping(services),)))


async def unless_stopping(services: Backends, work: Coroutine[Any, Any, T]) -> T:
    """Await some work; it is cancelled when the server stops.

    Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _stopping(services))


async def _unless(work: Coroutine[Any, Any, T], *ends: Coroutine[Any, Any, NoReturn]) -> T:
    """Await some work, which is cancelled when one of the ends comes before; raises what that raises."""
    task, others = asyncio.ensure_future(work), list(map(asyncio.ensure_future, ends))
    try:
        done, _ = await asyncio.wait((task, *others), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task in done else done.pop().result()
    finally:
        for each in (task, *others):
            each.cancel()
        # What cancels the waiting is not passed on: it would cut off what the work closes.
        await ended(asyncio.gather(task, *others, return_exceptions=True))


async def _left(request: Request) -> NoReturn:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    raise asyncio.CancelledError("the reader has left")


async def _stopping(services: Backends) -> NoReturn:
    await services.stopping.wait()
    raise Stopping(STOPPING)
