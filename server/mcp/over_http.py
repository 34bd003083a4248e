"""The tools over HTTP: stateless, one call per request, so that any worker may answer."""

from functools import cache
from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from server.mcp.malformed import message_refused
from server.mcp.protocol import Context, make_server
from server.mcp.tool import ToolContext
from server.transport.bodies import replayed
from server.transport.headers import EVENT_STREAM
from server.transport.leaving import while_connected


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request; its work ends when the client leaves or the server stops.

    The answer is JSON, or a stream if the client asks for progress reports.
    """
    request = Request(scope, receive)
    body = await request.body()
    try:
        message = from_json(body)
    except ValueError:
        message = None  # the package reports it
    if refused := message_refused(message):
        await JSONResponse(refused.model_dump(mode="json", exclude_unset=True), 400)(scope, receive, send)
        return
    streams = _wants_progress(message) and EVENT_STREAM in request.headers.get("accept", "")
    manager = StreamableHTTPSessionManager(_server(), json_response=not streams, stateless=True)

    async def answered() -> None:
        async with manager.run():
            await manager.handle_request(scope, replayed(body, receive), send)

    await while_connected(request, request.state.services, answered(), handles_stop=True)


@cache
def _server() -> Server[Any]:
    return make_server(_tool_context)


def _tool_context(context: Context) -> ToolContext:
    request = context.request
    assert isinstance(request, Request)  # noqa: S101 - set by `answer`
    return ToolContext(request.state.services, request)


def _wants_progress(message: Any) -> bool:
    match message:
        case {"params": {"_meta": {"progressToken": _}}}:
            return True
    return False
