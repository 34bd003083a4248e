"""Keywords and queries of a question, for a person to edit and to search with."""

from typing import Annotated, Any

from fastapi import APIRouter, Request

from retriever.calls import SearchCall
from retriever.stages.stages import Stage
from retriever.views.planning import plan_search
from server.api.shapes import Shaped
from server.api.shapes.searches import ChosenKeywords, PlannedSearch
from server.calls.target import open_target
from server.limits.gate import Search
from server.services import Services, Shared
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.post("/keywords")
async def keywords(
    request: Request, call: SearchCall, services: Shared, _: Search
) -> Annotated[dict[str, Any], Shaped(ChosenKeywords)]:
    """Choose the keywords of a question."""
    planned = await _planned(request, call, services, "keywords")
    return {name: value for name, value in planned.items() if name != "queries"}


@router.post("/queries")
async def queries(
    request: Request, call: SearchCall, services: Shared, _: Search
) -> Annotated[dict[str, Any], Shaped(PlannedSearch)]:
    """Make the queries of a question, from given keywords or its own."""
    return await _planned(request, call, services, "plan")


async def _planned(request: Request, call: SearchCall, services: Services, upto: Stage) -> dict[str, Any]:
    settings = services.settings.retriever
    of = await open_target(services, call.index, call.sources)
    planning = plan_search(of.opened, call.request(settings), settings, upto=upto)
    planned = await while_connected(request, services, planning)
    return {**of.as_record(), "question": call.question, **planned.as_record()}
