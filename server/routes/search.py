"""A search: results at once, never waiting for a model."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from indexer.manifest import Manifest
from retriever.embedded_metadata import coins
from retriever.hits import SearchResult as Found
from retriever.nothing_found import nothing_found
from retriever.request import SearchRequest
from server.api.requests import SearchCall
from server.api.shapes import Shaped
from server.api.shapes.searches import SearchResult
from server.indexes.searching import searched
from server.limits.gate import Search
from server.services import Services, Shared
from server.transport.leaving import while_connected

FOUND = Annotated[dict[str, Any], Shaped(SearchResult)]

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get("/search")
async def search_by_address(
    request: Request, call: Annotated[SearchCall, Query()], services: Shared, _: Search
) -> FOUND:
    """Find the papers that answer a question; the address can be kept and sent."""
    return await _search(request, call, services)


@router.post("/search")
async def search_by_body(request: Request, call: SearchCall, services: Shared, _: Search) -> FOUND:
    """Find the papers that answer a question."""
    return await _search(request, call, services)


async def _search(request: Request, call: SearchCall, services: Services) -> dict[str, Any]:
    asked = call.request(services.settings.retriever)
    result, manifest = await searched(request, services, call.index, asked)
    return await found(request, services, asked, result, manifest)


async def found(
    request: Request, services: Services, asked: SearchRequest, result: Found, manifest: Manifest
) -> dict[str, Any]:
    """Return what a search found as it is sent; where that is nothing, with why."""
    record = {"index": manifest.name, "fingerprint": manifest.fingerprint, **result.as_record()}
    if result.hits:
        hits = zip(record["hits"], result.hits, strict=True)
        return record | {"hits": [shown | {"coins": coins({**hit.paper, **shown})} for shown, hit in hits]}
    index = await services.indexes.get(manifest.name)
    why = await while_connected(request, services, nothing_found(index, asked, services.settings.retriever))
    return record | {"nothing_found": why.as_record()}
