"""The tools over standard input and output: a client starts `shrag mcp` and writes to it."""

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
from server.mcp.tool import ToolContext
from server.services import open_backends
from server.settings import ServerSettings


async def serve_standard_io(settings: Settings, server: ServerSettings, index: str | None) -> None:
    """Answer until the client closes its end; a call without an index uses `index`.

    Raises:
        ResourceError: as opening the index.
    """
    async with open_backends(settings, server) as backends:
        tool_context = ToolContext(backends, index=index)
        if index is not None:
            await backends.indexes.get(index)

        @asynccontextmanager
        async def lifespan(_: Server[Any]) -> AsyncIterator[ToolContext]:
            yield tool_context

        def context_of(context: Context) -> ToolContext:
            kept: ToolContext = context.lifespan_context
            return kept

        protocol = make_server(context_of, lifespan)
        with _until_client_gone():
            lines = cast("anyio.AsyncFile[str]", _messages(lambda error: write.send(SessionMessage(error))))
            async with stdio_server(stdin=lines) as (read, write):
                await protocol.run(read, write, protocol.create_initialization_options())


@contextmanager
def _until_client_gone() -> Iterator[None]:
    """Return without an error when the client stops reading."""
    try:
        yield
    except* BrokenPipeError:
        pass


async def _messages(refuse: Callable[[JSONRPCError], Awaitable[None]]) -> AsyncIterator[str]:
    """Yield the lines with a valid message; answer the others, which the package would ignore."""
    async for line in _lines():
        if not line.strip():
            continue
        if error := line_refused(line):
            await refuse(error)
        else:
            yield line


async def _lines() -> AsyncIterator[str]:
    """Yield the lines of standard input, read by a daemon thread.

    A thread that reads cannot be interrupted; the package's thread would delay Ctrl-C until the next line.
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
