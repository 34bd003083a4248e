"""The tools over HTTP: one call a request, nothing kept between two, so that any worker may answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from server.mcp.protocol import Context, make_server
from server.mcp.tool import Desk
from server.transport.leaving import while_connected

NO_BATCH = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": INVALID_REQUEST, "message": "a body holds one message, not an array of messages"},
}


ODD_ID = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": INVALID_REQUEST, "message": "the id of a request is a text or a whole number"},
}


def _has_odd_id(body: bytes) -> bool:
    """Tell whether a message has an id that is none: the package takes it for a notification."""
    try:
        message = from_json(body)
    except ValueError:
        return False  # told by the package
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return False
    return isinstance(message["id"], bool) or not isinstance(message["id"], str | int)


class State(TypedDict):
    """What each request finds in its state."""

    mcp: StreamableHTTPSessionManager


@asynccontextmanager
async def answering(_: object) -> AsyncIterator[State]:
    """Answer requests for as long as the application runs."""

    def desk_of(context: Context) -> Desk:
        request = context.request
        assert isinstance(request, Request)  # noqa: S101 - as came in below
        return Desk(request.state.services, request)

    manager = StreamableHTTPSessionManager(make_server(desk_of), json_response=True, stateless=True)
    async with manager.run():
        yield State(mcp=manager)


class McpEndpoint:
    """Hands a request to the protocol; its work ends when the client leaves or the server stops."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        body = await request.body()
        if body.lstrip()[:1] == b"[":
            await JSONResponse(NO_BATCH, 400)(scope, receive, send)
            return
        if _has_odd_id(body):
            await JSONResponse(ODD_ID, 400)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def once_more() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        manager: StreamableHTTPSessionManager = request.state.mcp
        answering = manager.handle_request(scope, once_more, send)
        await while_connected(request, request.state.services, answering)
