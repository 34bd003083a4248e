"""Work for a reader ends when the reader leaves, or the server stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from server.errors import Stopping
from server.processes.stopping import STOPPING
from server.services import Services

T = TypeVar("T")


async def while_connected(
    request: Request, services: Services, work: Coroutine[Any, Any, T], *, heeds_stop: bool = False
) -> T:
    """Await some work; it is cancelled when the reader goes away or the server stops.

    What heeds the stop by itself is not cancelled by it. The request's body has been read. Raises:
        Stopping: the server is being stopped.
    """
    task = asyncio.ensure_future(work)
    left = asyncio.ensure_future(_left(request))
    stops = asyncio.ensure_future(services.stopping.wait())
    waited = {task, left} if heeds_stop else {task, left, stops}
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if left.done():
            raise asyncio.CancelledError("the reader has left")
        raise Stopping(STOPPING)
    finally:
        for each in (task, left, stops):
            each.cancel()
        await asyncio.gather(task, left, stops, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
