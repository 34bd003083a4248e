"""Numbered server-sent events, always ended by `done` or `error`."""

import asyncio
import json
import math
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, TypeVar

from fastapi.sse import ServerSentEvent

from generator.tracing.progress import ended
from server.errors import Stopping, TooSlow
from server.problems import problem
from server.processes.stopping import STOPPING

T = TypeVar("T")


class Event(Protocol):
    """An event; `data` is JSON."""

    @property
    def kind(self) -> str:
        """The name of the event."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The content of the event."""


async def numbered_events(arriving: AsyncGenerator[Event, None]) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield events with numbers from 1; an exception becomes a last event `error`.

    Closing the generator ends the work before it returns.
    """
    number = 0
    try:
        async with aclosing(arriving):
            async for event in arriving:
                number += 1
                yield _numbered(number, event.kind, event.data)
    except Exception as error:  # noqa: BLE001 - reported to the reader
        yield _numbered(number + 1, "error", problem(error))


def _numbered(number: int, kind: str, data: Mapping[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(event=kind, id=str(number), raw_data=json.dumps(data, ensure_ascii=False))


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
