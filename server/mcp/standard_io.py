"""The tools over standard input and output: a client starts `shrag mcp` and speaks with it."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import chain
from threading import Thread
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from generator.request import Settings
from server.mcp.malformed import line_refused
from server.mcp.protocol import Context, make_server
from server.mcp.tool import Desk
from server.services import open_backends
from server.settings import ServerSettings


async def serve_standard_io(settings: Settings, server: ServerSettings, index: str | None) -> None:
    """Answer until the client closes its end; a call that names no index asks `index`.

    Raises:
        ResourceError: as opening the index.
    """
    async with open_backends(settings, server) as backends:
        desk = Desk(backends, index=index)
        if index is not None:
            await backends.indexes.get(index)

        @asynccontextmanager
        async def lifespan(_: Server[Any]) -> AsyncIterator[Desk]:
            yield desk

        def desk_of(context: Context) -> Desk:
            kept: Desk = context.lifespan_context
            return kept

        protocol = make_server(desk_of, lifespan)
        with _until_client_gone():
            lines = cast("anyio.AsyncFile[str]", _messages(lambda error: write.send(SessionMessage(error))))
            async with stdio_server(stdin=lines) as (read, write):
                await protocol.run(read, write, protocol.create_initialization_options())


@contextmanager
def _until_client_gone() -> Iterator[None]:
    """End where the client reads no more: there is nobody to tell."""
    try:
        yield
    except* BrokenPipeError:
        pass


async def _messages(refuse: Callable[[JSONRPCError], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield the lines that hold a message, and answer the others, which the package passes over."""
    async for line in _lines():
        if not line.strip():
            continue
        if error := line_refused(line):
            await refuse(error)
        else:
            yield line


async def _lines() -> AsyncIterator[str]:
    """Yield the lines of standard input, read by a thread of which nothing waits for the end.

    Nothing can interrupt a thread that reads; that of the package would keep Ctrl-C waiting for a line.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[str] = asyncio.Queue(1)

    def read() -> None:
        with (
            suppress(RuntimeError),  # the loop has ended
            open(os.dup(0), encoding="utf-8", errors="replace") as stream,  # noqa: PTH123
        ):
            for line in chain(stream, [""]):
                asyncio.run_coroutine_threadsafe(arrived.put(line), loop).result()

    Thread(target=read, name="standard input", daemon=True).start()
    while line := await arrived.get():
        yield line
