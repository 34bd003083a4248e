"""The tools over HTTP: one call a request, nothing kept between two, so that any worker may answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from server.addresses import public_address
from server.errors import Stopping
from server.leaving import while_connected
from server.mcp.protocol import Context, make_server
from server.mcp.tool import Desk
from server.problems import problem_response

MOST_BYTES = 1_000_000  # of a request; a question has at most 20,000 characters
NO_BATCH = {
    "jsonrpc": "2.0",
    "id": None,
    "error": {"code": INVALID_REQUEST, "message": "a body holds one message, not an array of messages"},
}


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

    manager = StreamableHTTPSessionManager(
        make_server(desk_of), json_response=True, stateless=True, max_request_body_size=MOST_BYTES
    )
    async with manager.run():
        yield State(mcp=manager)


class McpEndpoint:
    """Hands a request to the protocol; its work ends when the client leaves or the server stops."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        services = request.state.services
        if not _same_origin(request):
            await PlainTextResponse("Foreign Origin header", 403)(scope, receive, send)
            return
        if request.method != "POST":  # there are no sessions to listen to, or to end
            await PlainTextResponse("Method Not Allowed", 405, {"Allow": "POST"})(scope, receive, send)
            return
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                await PlainTextResponse("Request body too large", 413)(scope, receive, send)
                return
        if body.lstrip()[:1] == b"[":
            await JSONResponse(NO_BATCH, 400)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def once_more() -> Message:
            return messages.pop() if messages else {"type": "http.disconnect"}

        manager: StreamableHTTPSessionManager = request.state.mcp
        try:
            await while_connected(request, services, manager.handle_request(scope, once_more, send))
        except Stopping as error:
            await problem_response(error)(scope, receive, send)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # The reader has left: nobody is answered.


def _same_origin(request: Request) -> bool:
    """Tell whether a browser's request comes from a page of this server; programs send no Origin."""
    origin = request.headers.get("origin")
    if origin is None:
        return True
    public = public_address(request.state.services.server, request)
    return origin in {_origin_of(public), _origin_of(str(request.base_url))}


def _origin_of(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
