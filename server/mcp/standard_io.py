"""The tools over standard input and output: a client starts `shrag mcp` and speaks with it."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server

from generator.request import Settings
from server.mcp.protocol import Context, make_server
from server.mcp.tool import Desk
from server.services import open_services
from server.settings import ServerSettings


async def serve_standard_io(settings: Settings, server: ServerSettings, index: str | None) -> None:
    """Answer until the client closes its end; a call that names no index asks `index`.

    Raises:
        IndexerError: as opening the index.
    """
    # Its warnings are of clients' malformed messages, which the clients are answered.
    logging.getLogger("mcp").setLevel(logging.ERROR)
    async with open_services(settings, server) as services:
        desk = Desk(services, index=index)
        if index is not None:
            await services.indexes.get(index)

        @asynccontextmanager
        async def lifespan(_: Server[Any]) -> AsyncIterator[Desk]:
            yield desk

        def desk_of(context: Context) -> Desk:
            kept: Desk = context.lifespan_context
            return kept

        protocol = make_server(desk_of, lifespan)
        async with stdio_server() as (read, write):
            await protocol.run(read, write, protocol.create_initialization_options())
