"""The Model Context Protocol over HTTP, with and without a slash at the end: clients follow no redirect."""

import asyncio
from importlib import import_module

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

PATHS = ("/mcp", "/mcp/")


class McpEndpoint:
    """Answer requests; the modules are loaded by the first one, in a thread, as this takes a second."""

    _answer: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._answer is None:
            self._answer = (await asyncio.to_thread(import_module, "server.mcp.protocol")).answer
        await self._answer(scope, receive, send)


router = APIRouter(  # there are no sessions to listen to by GET, or to end by DELETE
    routes=[Route(path, McpEndpoint(), methods=["POST"], include_in_schema=False) for path in PATHS]
)
