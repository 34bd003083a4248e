"""Counts of papers that match a search, or of a whole index, by year, language, journal, author and type."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from retriever.calls import CountedSearch
from retriever.index import OpenIndex
from retriever.request import SearchRequest
from retriever.views.facets import Facets, facets
from server.api.schemas import OfIndex, Shaped
from server.services import Services, Shared
from server.targets import admitted_search
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["search"])

COUNTED = Annotated[dict[str, Any], Shaped(OfIndex, Facets, name="FacetsOfIndex")]


@router.get("/facets")
async def facets_by_address(
    request: Request, call: Annotated[CountedSearch, Query()], services: Shared
) -> COUNTED:
    """Count the papers that match a search; the counts of a field ignore its own filter."""
    return await _facets(request, call, services)


@router.post("/facets")
async def facets_by_body(request: Request, call: CountedSearch, services: Shared) -> COUNTED:
    """Count the papers that match a search; the counts of a field ignore its own filter."""
    return await _facets(request, call, services)


async def _facets(request: Request, call: CountedSearch, services: Services) -> dict[str, Any]:
    async with admitted_search(request, services, call) as asked:
        searched = asked.request if call.question.strip() else None
        return {"index": asked.of.index, **await counted(request, services, asked.of.opened, searched)}


async def counted(
    request: Request, services: Services, index: OpenIndex, asked: SearchRequest | None
) -> dict[str, Any]:
    """Count the papers that match a search of an index, or all of its papers."""
    counting = facets(index, asked, services.settings.retriever)
    return (await while_connected(request, services, counting)).as_record()
