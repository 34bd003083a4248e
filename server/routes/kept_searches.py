"""Kept searches for papers: the caller's list, the content of each, and the state for resuming."""

import asyncio
from dataclasses import asdict, fields, replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from typing_extensions import TypedDict

from base.notes import with_codes
from generator.finding.result import FoundPapers, WithTree, partial_result
from server.access.callers import visit_of
from server.api.schemas import Shaped
from server.kept_searches.content import SearchContent, SearchHead, in_order
from server.kept_searches.store import kept_call
from server.limits.gate import Read, Search
from server.model_address import without_address
from server.services import Services, Shared
from server.targets import CallTarget
from server.transport.headers import saved_as

router = APIRouter(prefix="/api/v1", tags=["find-papers"])
HEAD_FIELDS = tuple(field.name for field in fields(SearchHead))
SearchId = Annotated[str, Path(description="of a kept search", examples=["0f" * 16])]


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
    return await asyncio.to_thread(_search, search_id, request, services)


@router.get(
    "/find-papers/{search_id}/state",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
async def state_of_search(search_id: SearchId, request: Request, services: Shared, _: Search) -> Response:
    """Return the state of a kept search as a file for `shrag find-papers --resume`."""
    kept = await asyncio.to_thread(_read, search_id, request, services)
    text = await asyncio.to_thread(kept.state.as_json)
    return Response(text + b"\n", media_type="application/json", headers=saved_as(f"{search_id}.json"))


@router.delete("/find-papers/{search_id}", status_code=204)
async def forget_search(search_id: SearchId, request: Request, services: Shared, _: Read) -> Response:
    """Remove a kept search."""
    await asyncio.to_thread(services.searches.delete, visit_of(request).caller, search_id)
    return Response(status_code=204)


def _read(search_id: str, request: Request, services: Services) -> SearchContent:
    return services.searches.read(visit_of(request).caller, search_id)


def _search(search_id: str, request: Request, services: Services) -> dict[str, Any]:
    kept = _read(search_id, request, services)
    head = kept.head
    asked = kept_call(head.request).request()
    found = partial_result(kept.state, asked, notes=with_codes(head.notes, head.note_codes))
    record = replace(found, complete=head.complete).as_tree_record()
    record["papers"] = in_order(record["papers"], kept.order)
    beside = {name: value for name, value in _described(head).items() if name not in record}
    return {**without_address({**beside, **record}, services.settings), "running": kept.running}


def _described(head: SearchHead) -> dict[str, Any]:
    asked = {"index": head.request.get("index")}
    asked |= {"sources": sources} if (sources := head.request.get("sources")) else {}
    return asked | asdict(head)
