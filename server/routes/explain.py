"""Explanation of a passage's rank."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from retriever.calls import ExplainedSearch
from retriever.explaining.passages import explain
from retriever.explaining.text import explanation_lines
from server.api.shapes import Shaped
from server.api.shapes.searches import Explanation
from server.limits.gate import Search
from server.services import Services, Shared
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["search"])


EXPLAINED = Annotated[dict[str, Any], Shaped(Explanation)]


@router.get("/explain")
async def explain_by_address(
    request: Request, call: Annotated[ExplainedSearch, Query()], services: Shared, _: Search
) -> EXPLAINED:
    """Explain a passage's score, part by part and term by term."""
    return await _explain(request, call, services)


@router.post("/explain")
async def explain_by_body(request: Request, call: ExplainedSearch, services: Shared, _: Search) -> EXPLAINED:
    """Explain a passage's score, part by part and term by term."""
    return await _explain(request, call, services)


async def _explain(request: Request, call: ExplainedSearch, services: Services) -> dict[str, Any]:
    settings = services.settings.retriever
    name = await services.indexes.chosen(call.index)
    index = await services.indexes.get(name)
    explaining = explain(index, call.request(settings), call.passage_id, settings)
    account = await while_connected(request, services, explaining)
    return {"index": name, **account.as_record(), "lines": list(explanation_lines(account, call.words))}
