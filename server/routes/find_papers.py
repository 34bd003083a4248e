"""Finding papers: as one JSON object, or streamed to clients that accept server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from generator.finding.calls import FindCall
from server.access.callers import visit_of
from server.api.events import FINDING_EVENTS, FOUND_PAPERS, stream_responses
from server.finding import FoundEvent, PreparedSearch, ToKeep, finding_events
from server.kept_searches.store import fields_of, resuming_call
from server.limits.gate import AskStream, Find
from server.services import Services, Shared
from server.targets import open_target
from server.transport.headers import StreamRoute
from server.transport.leaving import while_connected
from server.transport.streams import numbered_events

streamed = APIRouter(prefix="/api/v1", route_class=StreamRoute, include_in_schema=False)
whole = APIRouter(prefix="/api/v1", tags=["find-papers"])
DESCRIPTION = """Find the papers for a question: each with a score, a reason, and how it was found.

With `Accept: text/event-stream` they are streamed as numbered events `search` (the id of the kept search),
`step`, `understanding`, `queries`, `papers`, `spent`, and as the last one `done`, with the content of the
plain answer, or `error`, with problem details. `resume` continues a kept search."""
STREAM = stream_responses(FINDING_EVENTS)
FOUND = Annotated[dict[str, Any], FOUND_PAPERS]


@asynccontextmanager
async def _events(
    call: FindCall, request: Request, services: Services
) -> AsyncIterator[AsyncGenerator[FoundEvent, None]]:
    """Check a call, and yield the events of its search, which ends with the call.

    A kept search that it resumes is leased until then.
    """
    visit, kept = visit_of(request), None
    if call.resume:
        kept = await asyncio.to_thread(services.searches.resume, visit.caller, call.resume)
    try:
        if kept:
            call = resuming_call(call, kept[1].head.request)
        asked = call.request()
        place = await open_target(services, call.index, call.sources)
        named = fields_of(call) | {name: value for name, value in place.as_record().items() if value}
        prepared = PreparedSearch(place, asked, ToKeep(services.searches, visit.caller, named, kept))
        async with aclosing(finding_events(prepared, services)) as events:
            yield events
    finally:
        if kept and kept[0]:
            await asyncio.to_thread(kept[0].release)


async def _by_address(
    call: Annotated[FindCall, Query()], request: Request, services: Shared
) -> AsyncIterator[AsyncGenerator[FoundEvent, None]]:
    async with _events(call, request, services) as events:
        yield events


async def _by_body(
    call: FindCall, request: Request, services: Shared
) -> AsyncIterator[AsyncGenerator[FoundEvent, None]]:
    async with _events(call, request, services) as events:
        yield events


EventsByAddress = Annotated[AsyncGenerator[FoundEvent, None], Depends(_by_address)]
EventsByBody = Annotated[AsyncGenerator[FoundEvent, None], Depends(_by_body)]


# The place comes before the call, so that reading a kept search needs a place.
@streamed.get("/find-papers", response_class=EventSourceResponse)
async def stream_by_address(_: AskStream, events: EventsByAddress) -> AsyncIterator[ServerSentEvent]:
    """Stream papers as they are found."""
    async for event in numbered_events(_lent(events)):
        yield event


@streamed.post("/find-papers", response_class=EventSourceResponse)
async def stream_by_body(_: AskStream, events: EventsByBody) -> AsyncIterator[ServerSentEvent]:
    """Stream papers as they are found."""
    async for event in numbered_events(_lent(events)):
        yield event


@whole.get("/find-papers", responses=STREAM, description=DESCRIPTION)
async def find_by_address(request: Request, _: Find, events: EventsByAddress, services: Shared) -> FOUND:
    """Find papers; the address can be bookmarked and shared."""
    return await while_connected(request, services, _last(events), handles_stop=True)


@whole.post("/find-papers", responses=STREAM, description=DESCRIPTION)
async def find_by_body(request: Request, _: Find, events: EventsByBody, services: Shared) -> FOUND:
    """Find papers."""
    return await while_connected(request, services, _last(events), handles_stop=True)


async def _lent(events: AsyncGenerator[FoundEvent, None]) -> AsyncGenerator[FoundEvent, None]:
    """Pass events on without closing them: their opener closes them, and may do so when this is closed."""
    async for event in events:
        yield event


async def _last(events: AsyncGenerator[FoundEvent, None]) -> dict[str, Any]:
    data: Mapping[str, Any] = {}
    async for event in events:
        data = event.data
    return dict(data)


router = APIRouter()
router.include_router(streamed)  # first: callers that accept no stream fall through
router.include_router(whole)
