"""A search: results at once, never waiting for a model."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from server.gate import Search
from server.requests import SearchCall
from server.searching import searched
from server.services import Services, Shared

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.get("/search")
async def search_by_address(
    request: Request, call: Annotated[SearchCall, Query()], services: Shared, _: Search
) -> dict[str, Any]:
    """Find the papers that answer a question; the address can be kept and sent."""
    return await _search(request, call, services)


@router.post("/search")
async def search_by_body(request: Request, call: SearchCall, services: Shared, _: Search) -> dict[str, Any]:
    """Find the papers that answer a question."""
    return await _search(request, call, services)


async def _search(request: Request, call: SearchCall, services: Services) -> dict[str, Any]:
    asked = call.request(services.settings.retriever)
    result, manifest = await searched(request, services, call.index, asked)
    return {"index": manifest.name, "fingerprint": manifest.fingerprint, **result.as_record()}
