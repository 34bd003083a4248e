"""The tools over HTTP, stateless so that any worker may answer, and over standard input and output."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from threading import Thread
from typing import TYPE_CHECKING, cast

from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic_core import from_json
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from generator.request import Settings
from server.mcp.protocol import ToolContext
from server.mcp.tools import make_tools
from server.services import open_backends
from server.settings import ServerSettings
from server.transport.bodies import replayed
from server.transport.streams import EVENT_STREAM, while_connected

if TYPE_CHECKING:
    from collections.abc import Iterator

    import anyio

http_tools = cache(make_tools)


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request; its work ends when the client leaves or the server stops.

    The answer is JSON, or a stream if the client asks for progress reports. The manager lives as long as the
    request, so that its tasks end with it.
    """
    request = Request(scope, receive)
    body = await request.body()
    streams = _wants_progress(body) and EVENT_STREAM in request.headers.get("accept", "")
    manager = StreamableHTTPSessionManager(http_tools().lowlevel, json_response=not streams, stateless=True)

    async def answered() -> None:
        async with manager.run():
            await manager.handle_request(scope, replayed(body, receive), send)

    await while_connected(request, request.state.services, answered(), handles_stop=True)


def _wants_progress(body: bytes) -> bool:
    try:
        message = from_json(body)
    except ValueError:
        return False  # the package reports it
    match message:
        case {"params": {"_meta": {"progressToken": _}}}:
            return True
    return False


async def serve_standard_io(settings: Settings, server: ServerSettings, index: str | None) -> None:
    """Answer until the client closes its end; a call without an index uses `index`.

    Raises:
        ResourceError: as opening the index.
    """
    async with open_backends(settings, server) as backends:
        if index is not None:
            await backends.indexes.get(index)
        protocol = make_tools(ToolContext(backends, index=index)).lowlevel
        with _until_client_gone():
            lines = cast("anyio.AsyncFile[str]", _lines())
            async with stdio_server(stdin=lines) as (read, write):
                await protocol.run(read, write, protocol.create_initialization_options())


@contextmanager
def _until_client_gone() -> "Iterator[None]":
    """Return without an error when the client stops reading."""
    try:
        yield
    except* BrokenPipeError:
        pass


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
