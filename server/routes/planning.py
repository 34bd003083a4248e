"""The strategy and the queries of a question, for a person to edit and to search with."""

from typing import Annotated, Any

from fastapi import APIRouter, Request

from base.notes import note_codes
from retriever.calls import SearchCall
from retriever.stages.stages import Stage
from retriever.views.planning import ChosenKeywords, PlannedSearch, plan_search
from server.api.schemas import Shaped
from server.services import Services, Shared
from server.targets import CallTarget, admitted_search
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["search"])


@router.post("/keywords")
async def keywords(
    request: Request, call: SearchCall, services: Shared
) -> Annotated[dict[str, Any], Shaped(CallTarget, ChosenKeywords)]:
    """Choose the strategy of a question: keywords in both languages, exclusions and years."""
    return await _planned(request, call, services, "terms")


@router.post("/queries")
async def queries(
    request: Request, call: SearchCall, services: Shared
) -> Annotated[dict[str, Any], Shaped(CallTarget, PlannedSearch)]:
    """Make the queries of a question, from a given strategy or its own."""
    return await _planned(request, call, services, "plan")


async def _planned(request: Request, call: SearchCall, services: Services, upto: Stage) -> dict[str, Any]:
    async with admitted_search(request, services, call) as asked:
        planning = plan_search(asked.of.opened, asked.request, services.settings.retriever, upto=upto)
        planned = (await while_connected(request, services, planning)).as_record()
        planned["notes"][:0] = asked.notes
        planned["note_codes"][:0] = note_codes(asked.notes)
        return asked.of.as_record() | planned
