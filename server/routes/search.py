"""A search: results without waiting for a model."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from base.logs import get_logger
from indexer.versions.manifest import Manifest
from retriever.calls import SearchCall
from retriever.index import OpenIndex
from retriever.papers.embedded_metadata import coins
from retriever.requests.request import SearchRequest
from retriever.stages.hits import SearchResult as Found
from retriever.views.nothing_found import nothing_found
from server.access.callers import visit_of
from server.api.shapes import Shaped
from server.api.shapes.searches import SearchResult
from server.calls.searching import searched
from server.calls.target import CallTarget, open_target
from server.errors import Stopping
from server.limits.gate import Search
from server.routes.facets import counted
from server.services import Services, Shared
from server.transport.leaving import while_connected

FOUND = Annotated[dict[str, Any], Shaped(SearchResult)]

COUNTED_IN = 0.9  # of the remaining time: the rest is for sending the hits

log = get_logger("server")
router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get("/search")
async def search_by_address(
    request: Request, call: Annotated[SearchCall, Query()], services: Shared, _: Search
) -> FOUND:
    """Find the papers that answer a question; the address can be bookmarked and shared."""
    return await _search(request, call, services)


@router.post("/search")
async def search_by_body(request: Request, call: SearchCall, services: Shared, _: Search) -> FOUND:
    """Find the papers that answer a question."""
    return await _search(request, call, services)


async def _search(request: Request, call: SearchCall, services: Services) -> dict[str, Any]:
    asked = call.request(services.settings.retriever)
    of = await open_target(services, call.index, call.sources)
    result, manifest = await searched(request, services, of, asked)
    record = await found(request, services, of, asked, result, manifest)
    if call.facets and not of.sources and (counts := await _counts(request, services, of.opened, asked)):
        record["facets"] = counts
    return record


async def _counts(
    request: Request, services: Services, index: OpenIndex, asked: SearchRequest
) -> dict[str, Any] | None:
    """Count the papers of a finished search; return None if that fails or takes too long."""
    left_s = visit_of(request).ends_at - asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(left_s * COUNTED_IN):
            return await counted(request, services, index, asked)
    except Stopping:
        raise
    except Exception as error:  # noqa: BLE001 - the hits are sent after any error
        log.warning("papers of a search not counted", error=type(error).__name__)
        return None


async def found(
    request: Request,
    services: Services,
    of: CallTarget,
    asked: SearchRequest,
    result: Found,
    manifest: Manifest,
) -> dict[str, Any]:
    """Return the response to a search; an index without hits adds the reason."""
    record = {**of.as_record(), "fingerprint": manifest.fingerprint, **result.as_record()}
    if result.listed or of.sources:
        hits = zip(record["hits"], result.listed, strict=True)
        return record | {"hits": [shown | {"coins": coins({**hit.paper, **shown})} for shown, hit in hits]}
    finding = nothing_found(of.opened, asked, services.settings.retriever)
    why = await while_connected(request, services, finding)
    return record | {"nothing_found": why.as_record()}
