"""Answers while they are made: cancelled when the reader leaves or the server stops, or sent as events.

Events are numbered and always ended by `done` or `error`. The generator of a stream yields None when the call
is admitted. An error before that has a status of its own; a later one is the last event.
"""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, NoReturn, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from generator.tracing import ended
from server.errors import Stopping, TooSlow
from server.problems import error_response, problem
from server.services import Backends
from server.stopping import STOPPING

T = TypeVar("T")
EVENT_STREAM = "text/event-stream"
COMMENT = b": one moment\n\n"
KEPT_ALIVE_EVERY_S = 15.0


async def while_connected(
    request: Request, services: Backends, work: Coroutine[Any, Any, T], *, handles_stop: bool = False
) -> T:
    """Await some work; cancel it when the reader leaves or the server stops.

    Work that handles the stop itself is not cancelled by it. The request's body has already been read.

    Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _left(request), *(() if handles_stop else (_stopping(services),)))


async def unless_stopping(services: Backends, work: Awaitable[T]) -> T:
    """Await some work; cancel it when the server stops.

    Raises:
        Stopping: the server is being stopped.
    """
    return await _unless(work, _stopping(services))


async def _unless(work: Awaitable[T], *ends: Coroutine[Any, Any, NoReturn]) -> T:
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


class Event(Protocol):
    """An event; `data` is JSON."""

    @property
    def kind(self) -> str:
        """The name of the event."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The content of the event."""


class EventStream(Response):
    """A stream of events; the work ends when the reader leaves."""

    media_type = EVENT_STREAM

    def __init__(self, arriving: AsyncGenerator[bytes | None, None]) -> None:
        """`arriving`: a generator that has not started yet; it yields None when the call is admitted."""
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._arriving, self._began = arriving, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one, or until the reader leaves."""
        await _unless(self._send(scope, receive, send), _left(Request(scope, receive)), self._comment(send))

    async def _send(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._arriving) as arriving:
            try:
                await anext(arriving)
            except Exception as error:  # noqa: BLE001 - reported to the reader
                await error_response(error, scope)(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            self._began = True
            async for event in arriving:
                await send({"type": "http.response.body", "body": event, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _comment(self, send: Send) -> NoReturn:
        """Send a comment regularly, so that proxies do not close the stream while a model thinks."""
        while True:
            await asyncio.sleep(KEPT_ALIVE_EVERY_S)
            if self._began:
                await send({"type": "http.response.body", "body": COMMENT, "more_body": True})


async def streamed_or_whole(
    request: Request, services: Backends, arriving: AsyncGenerator[Event | None, None]
) -> Response | dict[str, Any]:
    """Return the events as a stream if the caller accepts one, else the content of the last event."""
    if EVENT_STREAM in ",".join(request.headers.getlist("accept")).lower():
        return EventStream(_numbered(arriving))

    async def last() -> dict[str, Any]:
        data: Mapping[str, Any] = {}
        async with aclosing(arriving):
            async for event in arriving:
                data = event.data if event else data
        return dict(data)

    return await while_connected(request, services, last(), handles_stop=True)


async def _numbered(arriving: AsyncGenerator[Event | None, None]) -> AsyncGenerator[bytes | None, None]:
    """Format events with numbers from 1; an exception after the admission becomes a last event `error`."""
    number = 1
    async with aclosing(arriving):
        await anext(arriving)
        yield None
        try:
            async for event in arriving:
                if event:
                    yield _formatted(number, event.kind, event.data)
                    number += 1
        except Exception as error:  # noqa: BLE001 - reported to the reader
            yield _formatted(number, "error", problem(error))


def _formatted(number: int, kind: str, data: Mapping[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\nid: {number}\n\n".encode()


async def until(
    stopping: asyncio.Event, arriving: AsyncGenerator[T, None], within_s: float = math.inf
) -> AsyncGenerator[T, None]:
    """Yield the items of `arriving`; cancel it when the server stops or the time is over.

    Raises:
        Stopping: the server is being stopped.
        TooSlow: the time is over.
    """
    ends = time.monotonic() + within_s
    stops = asyncio.ensure_future(stopping.wait())
    async with aclosing(arriving):
        following: asyncio.Future[T] | None = None
        try:
            while True:
                following = asyncio.ensure_future(anext(arriving))
                left_s = None if within_s == math.inf else max(0.0, ends - time.monotonic())
                await asyncio.wait((following, stops), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    raise Stopping(STOPPING) if stops.done() else TooSlow(within_s)
                try:
                    arrived = following.result()
                except StopAsyncIteration:
                    return
                yield arrived
        finally:
            stops.cancel()
            if following and not following.done():
                following.cancel()
                await ended(following)
