"""The gate that all work passes, whichever door it came by: who may, how much at once, how much in a time."""

import os
from asyncio import Semaphore
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Literal, TypeAlias

from fastapi import Depends
from starlette.requests import HTTPConnection

from server.settings import ServerSettings

Work: TypeAlias = Literal["read", "search", "ask", "admin"]


class Gate:
    """Lets in as much work at once as the machine bears."""

    def __init__(self, settings: ServerSettings) -> None:
        """Take the limits of the settings."""
        del settings
        self._searches = Semaphore(2 * (os.cpu_count() or 1))

    @asynccontextmanager
    async def admit(self, connection: HTTPConnection, work: Work) -> AsyncIterator[None]:
        """Wait for a place to do some work in, and hold it meanwhile.

        Raises:
            TooBusy: too many wait already.
        """
        del connection
        if work in {"read", "admin"}:
            yield
            return
        async with self._searches:
            yield


def admitted(work: Work) -> Callable[[HTTPConnection], AsyncIterator[None]]:
    """Make the dependency of a route whose work passes the gate."""

    async def admit(connection: HTTPConnection) -> AsyncIterator[None]:
        gate: Gate = connection.state.services.gate
        async with gate.admit(connection, work):
            yield

    return admit


Search = Annotated[None, Depends(admitted("search"))]
Ask = Annotated[None, Depends(admitted("ask"))]
Read = Annotated[None, Depends(admitted("read"))]
Admin = Annotated[None, Depends(admitted("admin"))]
