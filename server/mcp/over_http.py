"""The tools over HTTP: one call a request, nothing kept between two, so that any worker may answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCError
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from server.mcp.malformed import message_refused
from server.mcp.protocol import Context, make_server
from server.mcp.tool import Desk
from server.transport.leaving import while_connected


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
        if refused := _refused(body):
            await JSONResponse(refused.model_dump(mode="json", exclude_unset=True), 400)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def once_more() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        manager: StreamableHTTPSessionManager = request.state.mcp
        answering = manager.handle_request(scope, once_more, send)
        await while_connected(request, request.state.services, answering)


def _refused(body: bytes) -> JSONRPCError | None:
    try:
        return message_refused(from_json(body))
    except ValueError:  # the package says so
        return None
