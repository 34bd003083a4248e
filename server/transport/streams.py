"""Answers while they are made, sent as events.

A stream always ends by an event for the end or an error. Its generator yields None when the call is admitted.
An error before that has a status of its own; a later one is the last event.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from itertools import count
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from generator.tracing import ended
from server.errors import Stopping, TooSlow
from server.problems import error_response, problem
from server.services import Services
from server.stopping import STOPPING

T = TypeVar("T")
EVENT_STREAM = "text/event-stream"
COMMENT = b": one moment\n\n"
KEPT_ALIVE_EVERY_S = 15.0


class EventStream(Response, Generic[T]):
    """A stream of events, with comments in between: a proxy would close it while a model thinks."""

    media_type = EVENT_STREAM

    def __init__(
        self, arriving: AsyncGenerator[T | None, None], written: Callable[[T | Exception | None], bytes]
    ) -> None:
        """`written` formats the events of a generator that has not started yet, and its error."""
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._arriving, self._written = arriving, written

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one."""

        async def send_body(body: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": body, "more_body": more})

        async def comment() -> None:
            while True:
                await asyncio.sleep(KEPT_ALIVE_EVERY_S)
                await send_body(COMMENT)

        async with aclosing(self._arriving) as arriving:
            try:
                admitted = await anext(arriving)
            except Exception as error:  # noqa: BLE001 - reported to the reader
                await error_response(error, scope)(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            commenting = asyncio.create_task(comment())
            try:
                await send_body(self._written(admitted))
                async for event in arriving:
                    await send_body(self._written(event))
            except Exception as error:  # noqa: BLE001 - reported to the reader
                await send_body(self._written(error))
            finally:
                commenting.cancel()
            await send_body(b"", more=False)


async def streamed_or_whole(
    request: Request, arriving: AsyncGenerator[Any, None]
) -> Response | dict[str, Any]:
    """Return numbered events as a stream if the caller accepts one, else the content of the last event.

    An event has its name as `kind`, and its content as `data`.
    """
    if EVENT_STREAM in ",".join(request.headers.getlist("accept")).lower():
        return EventStream(arriving, _numbered())
    data: Mapping[str, Any] = {}
    async with aclosing(arriving):
        async for event in arriving:
            data = event.data if event else data
    return dict(data)


def _numbered() -> Callable[[Any], bytes]:
    """Return a function that formats events with numbers from 1, and an exception as the event `error`."""
    numbers = count(1)

    def written(event: Any) -> bytes:
        if event is None:
            return b""
        kind, data = ("error", problem(event)) if isinstance(event, Exception) else (event.kind, event.data)
        content = json.dumps(data, ensure_ascii=False)
        return f"event: {kind}\ndata: {content}\nid: {next(numbers)}\n\n".encode()

    return written


async def until_stop(services: Services, arriving: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the items of `arriving`; cancel it when the server stops or the time for an answer is over.

    Raises:
        Stopping: the server is being stopped.
        TooSlow: the time is over.
    """
    within_s = services.server.ask_s
    ends = time.monotonic() + within_s
    stops = asyncio.ensure_future(services.stopping.wait())
    following: asyncio.Future[T | None] | None = None
    async with aclosing(arriving):
        try:
            while True:
                following = asyncio.ensure_future(anext(arriving, None))
                left_s = max(0.0, ends - time.monotonic())
                await asyncio.wait((following, stops), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    raise Stopping(STOPPING) if stops.done() else TooSlow(within_s)
                if (arrived := following.result()) is None:
                    return
                yield arrived
        finally:
            stops.cancel()
            if following and not following.done():
                following.cancel()
                await ended(following)
