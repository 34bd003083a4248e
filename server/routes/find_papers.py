"""Finding papers: whole as JSON, or as they are found for who accepts server-sent events."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from server.api.find_requests import FindCall
from server.finding.running import PreparedSearch, finding_events
from server.limits.gate import AskStream, Find
from server.services import Services, Shared
from server.transport.leaving import while_connected
from server.transport.negotiation import StreamRoute
from server.transport.streams import numbered_events

streamed = APIRouter(prefix="/api/v1", route_class=StreamRoute, include_in_schema=False)
whole = APIRouter(prefix="/api/v1", tags=["find-papers"])


async def _prepared(call: FindCall, services: Services) -> PreparedSearch:
    request = call.request()
    name = await services.indexes.chosen(call.index)
    return PreparedSearch(name, await services.indexes.get(name), request)


async def _by_address(call: Annotated[FindCall, Query()], services: Shared) -> PreparedSearch:
    return await _prepared(call, services)


async def _by_body(call: FindCall, services: Shared) -> PreparedSearch:
    return await _prepared(call, services)


AddressCall = Annotated[PreparedSearch, Depends(_by_address)]
BodyCall = Annotated[PreparedSearch, Depends(_by_body)]


@streamed.get("/find-papers", response_class=EventSourceResponse)
async def stream_by_address(
    call: AddressCall, services: Shared, _: AskStream
) -> AsyncIterator[ServerSentEvent]:
    """Find papers as they are found."""
    async for event in numbered_events(finding_events(call, services)):
        yield event


@streamed.post("/find-papers", response_class=EventSourceResponse)
async def stream_by_body(call: BodyCall, services: Shared, _: AskStream) -> AsyncIterator[ServerSentEvent]:
    """Find papers as they are found."""
    async for event in numbered_events(finding_events(call, services)):
        yield event


@whole.get("/find-papers")
async def find_by_address(request: Request, call: AddressCall, services: Shared, _: Find) -> dict[str, Any]:
    """Find papers; the address can be kept and sent."""
    return await while_connected(request, services, _found(call, services))


@whole.post("/find-papers")
async def find_by_body(request: Request, call: BodyCall, services: Shared, _: Find) -> dict[str, Any]:
    """Find papers."""
    return await while_connected(request, services, _found(call, services))


async def _found(call: PreparedSearch, services: Services) -> dict[str, Any]:
    async with aclosing(finding_events(call, services)) as events:
        return dict([event async for event in events][-1].data)


router = APIRouter()
router.include_router(streamed)  # first: it leaves who does not accept a stream to the other
router.include_router(whole)
