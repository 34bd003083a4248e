"""The Model Context Protocol over HTTP, with and without a slash at the end: clients follow no redirect."""

from fastapi import APIRouter
from starlette.routing import Route

from server.mcp.over_http import McpEndpoint, answering

router = APIRouter(
    routes=[Route(path, McpEndpoint(), include_in_schema=False) for path in ("/mcp", "/mcp/")],
    lifespan=answering,
)
