"""A search: results without waiting for a model."""

import asyncio
from typing import Annotated, Any, NotRequired

from fastapi import APIRouter, Query, Request
from pydantic import Field
from typing_extensions import TypedDict

from base.logs import get_logger
from indexer.versions.manifest import Manifest
from retriever.calls import SearchCall
from retriever.papers.embedded_metadata import coins
from retriever.stages.hits import HitRecord, SearchResult
from retriever.views.facets import Facets
from retriever.views.nothing_found import NothingFound, nothing_found
from server.access.callers import visit_of
from server.api.schemas import Shaped
from server.errors import Stopping
from server.routes.facets import counted
from server.services import Services, Shared
from server.targets import AskedSearch, CallTarget, admitted_search, searched
from server.transport.leaving import while_connected

COUNTED_IN = 0.9  # of the remaining time: the rest is for sending the hits

log = get_logger("server")
router = APIRouter(prefix="/api/v1", tags=["search"])


class ListedHit(HitRecord):
    """A hit with its metadata for literature managers."""

    coins: Annotated[str, Field(description="for literature managers")]


class FoundInIndex(TypedDict):
    """The hits of a search with the fingerprint of its index."""

    hits: list[ListedHit]
    fingerprint: Annotated[dict[str, str], Field(description="the analyzer and settings of the index")]
    nothing_found: NotRequired[NothingFound]
    facets: NotRequired[
        Annotated[Facets, Field(description="if requested, unless counting fails or takes too long")]
    ]


SEARCH_RESULT = Annotated[dict[str, Any], Shaped(CallTarget, SearchResult, FoundInIndex, name="SearchResult")]


@router.get("/search")
async def search_by_address(
    request: Request, call: Annotated[SearchCall, Query()], services: Shared
) -> SEARCH_RESULT:
    """Find the papers that answer a question; the address can be bookmarked and shared."""
    return await _search(request, call, services)


@router.post("/search")
async def search_by_body(request: Request, call: SearchCall, services: Shared) -> SEARCH_RESULT:
    """Find the papers that answer a question."""
    return await _search(request, call, services)


async def _search(request: Request, call: SearchCall, services: Services) -> dict[str, Any]:
    async with admitted_search(request, services, call) as asked:
        result, manifest = await searched(request, services, asked)
        record = await found(request, services, asked, result, manifest)
        if call.facets and not asked.of.sources and (counts := await _counts(request, services, asked)):
            record["facets"] = counts
        return record


async def _counts(request: Request, services: Services, asked: AskedSearch) -> dict[str, Any] | None:
    """Count the papers of a finished search; return None if that fails or takes too long."""
    left_s = visit_of(request).ends_at - asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(left_s * COUNTED_IN):
            return await counted(request, services, asked.of.opened, asked.request)
    except Stopping:
        raise
    except Exception as error:  # noqa: BLE001 - the hits are sent after any error
        log.warning("papers of a search not counted", error=type(error).__name__)
        return None


async def found(
    request: Request, services: Services, asked: AskedSearch, result: SearchResult, manifest: Manifest
) -> dict[str, Any]:
    """Return the response to a search; an index without hits adds the reason."""
    of = asked.of
    record = of.as_record() | {"fingerprint": manifest.fingerprint} | result.as_record()
    if result.listed or of.sources:
        hits = zip(record["hits"], result.listed, strict=True)
        return record | {"hits": [shown | {"coins": coins({**hit.paper, **shown})} for shown, hit in hits]}
    finding = nothing_found(of.opened, asked.request, services.settings.retriever)
    why = await while_connected(request, services, finding)
    return record | {"nothing_found": why.as_record()}
