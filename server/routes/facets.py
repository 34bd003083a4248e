"""How many papers a search matches, or an index holds, by year, language and journal."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from retriever.facets import facets
from server.gate import Search
from server.leaving import while_connected
from server.requests import SearchCall
from server.services import Services, Shared

router = APIRouter(prefix="/api/v1", tags=["search"])


class CountedSearch(SearchCall):
    """A search whose papers are counted; without a question all papers of the index are."""

    question: str = ""


@router.get("/facets")
async def facets_by_address(
    request: Request, call: Annotated[CountedSearch, Query()], services: Shared, _: Search
) -> dict[str, Any]:
    """Count the papers that a search matches; a field leaves its own filter out of its counts."""
    return await _facets(request, call, services)


@router.post("/facets")
async def facets_by_body(
    request: Request, call: CountedSearch, services: Shared, _: Search
) -> dict[str, Any]:
    """Count the papers that a search matches; a field leaves its own filter out of its counts."""
    return await _facets(request, call, services)


async def _facets(request: Request, call: CountedSearch, services: Services) -> dict[str, Any]:
    settings = services.settings.retriever
    name = await services.indexes.chosen(call.index)
    asked = call.request(settings) if call.question.strip() else None
    counting = facets(await services.indexes.get(name), asked, settings)
    return {"index": name, **(await while_connected(request, services, counting)).as_record()}
