"""The Model Context Protocol over HTTP, with and without a slash at the end: clients follow no redirect."""

from fastapi import APIRouter
from starlette.routing import Route

from server.mcp.over_http import McpEndpoint, answering

PATHS = ("/mcp", "/mcp/")

router = APIRouter(  # there are no sessions to listen to by GET, or to end by DELETE
    routes=[Route(path, McpEndpoint(), methods=["POST"], include_in_schema=False) for path in PATHS],
    lifespan=answering,
)
