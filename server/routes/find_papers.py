"""Searches for papers: run, streamed or as one JSON object; and the caller's kept ones."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, fields
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from typing_extensions import TypedDict

from generator.finding.calls import FindCall
from generator.finding.result import FoundPapers, WithTree
from generator.tracing import StreamEvent
from server.access.callers import visit_of
from server.addresses import saved_as, without_address
from server.description import FINDING_EVENTS, FOUND_PAPERS, Shaped, by_address_and_body, stream_responses
from server.kept_searches import SearchHead, resuming_call
from server.limits.gate import Read, Search
from server.services import Services, Shared
from server.targets import CallTarget, finding_events, open_target
from server.transport.streams import streamed_or_whole

router = APIRouter(prefix="/api/v1", tags=["find-papers"])
DESCRIPTION = """Find the papers for a question: each with a score, a reason, and how it was found.

With `Accept: text/event-stream` they are streamed as numbered events `search` (the id of the kept search),
`step`, `understanding`, `queries`, `papers`, `spent`, and as the last one `done`, with the content of the
plain answer, or `error`, with problem details. `resume` continues a kept search."""
FOUND = Annotated[dict[str, Any], FOUND_PAPERS]
HEAD_FIELDS = tuple(field.name for field in fields(SearchHead))
SearchId = Annotated[str, Path(description="of a kept search", examples=["0f" * 16])]


@by_address_and_body(
    router,
    "/find-papers",
    response_model=FOUND,
    responses=stream_responses(FINDING_EVENTS),
    description=DESCRIPTION,
)
async def find(request: Request, call: FindCall, services: Shared) -> Any:
    """Find papers."""
    return await streamed_or_whole(request, _events(request, call, services))


async def _events(
    request: Request, call: FindCall, services: Services
) -> AsyncGenerator[StreamEvent | None, None]:
    """Yield None when the call is admitted, then the events of its search.

    A kept search that it resumes is leased until the end. It is read after the admission, as this takes time.
    """
    caller, searches, search = visit_of(request).caller, services.searches, None
    async with services.gate.admit(request, "ask", is_stream=True, asks_sources=bool(call.sources)):
        try:
            if call.resume:
                search = await asyncio.to_thread(searches.resume, caller, call.resume)
                call = resuming_call(call, search.head.request)
            asked = call.request()
            target = await open_target(services, call.index, call.sources)
            search = search or await asyncio.to_thread(searches.begin, caller)
            if search:
                search.ask(call, asked, target.as_record())
            yield None
            async with aclosing(finding_events(target, asked, services, search)) as events:
                async for event in events:
                    yield event
        finally:
            if search:
                await asyncio.to_thread(search.release)


class Running(TypedDict):
    """A kept search without its papers; times are in UTC."""

    running: bool


class KeptSearches(TypedDict):
    """The caller's searches, newest first."""

    searches: list[
        Annotated[dict[str, Any], Shaped(CallTarget, (SearchHead, HEAD_FIELDS), Running, name="KeptHead")]
    ]


class KeptSearch(Running):
    """A kept search and its papers, in their final order; ordered by rules if the search was interrupted."""


KEPT_SEARCH = Annotated[
    dict[str, Any],
    Shaped(
        CallTarget, FoundPapers, WithTree, (SearchHead, ("id", "request", "created", "updated")), KeptSearch
    ),
]


@router.get("/find-papers/kept")
async def kept_searches(
    request: Request, services: Shared, _: Read
) -> Annotated[dict[str, Any], Shaped(KeptSearches)]:
    """List the caller's kept searches, newest first; without keys those of local callers."""
    heads = await asyncio.to_thread(services.searches.heads, visit_of(request).caller)
    searches = [{**_described(head), "running": running} for head, running in heads]
    return {"searches": without_address(searches, services.settings)}


@router.get("/find-papers/{search_id}")
async def kept_search(search_id: SearchId, request: Request, services: Shared, _: Search) -> KEPT_SEARCH:
    """Return the content of a kept search: its papers, in their final order, and its tree."""
    head, record = await asyncio.to_thread(services.searches.read, visit_of(request).caller, search_id)
    return await asyncio.to_thread(without_address, {**_described(head), **record}, services.settings)


@router.get(
    "/find-papers/{search_id}/state",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def state_of_search(search_id: SearchId, request: Request, services: Shared, _: Search) -> Response:
    """Return the state of a kept search as a file for `shrag find-papers --resume`."""
    text = await asyncio.to_thread(services.searches.state, visit_of(request).caller, search_id)
    return Response(text + b"\n", media_type="application/json", headers=saved_as(f"{search_id}.json"))


@router.delete("/find-papers/{search_id}", status_code=204)
async def forget_search(search_id: SearchId, request: Request, services: Shared, _: Read) -> Response:
    """Remove a kept search."""
    await asyncio.to_thread(services.searches.delete, visit_of(request).caller, search_id)
    return Response(status_code=204)


def _described(head: SearchHead) -> dict[str, Any]:
    asked = {name: head.request[name] for name in ("index", "sources") if head.request.get(name)}
    return {"index": None, **asked, **asdict(head)}
