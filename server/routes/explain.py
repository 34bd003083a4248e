"""Explanation of a passage's rank."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from typing_extensions import TypedDict

from retriever.calls import ExplainedSearch
from retriever.explaining import Account, explain, explanation_lines
from server.api.schemas import OfIndex, Shaped
from server.services import Services, Shared
from server.targets import admitted_search
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["search"])


class WithLines(TypedDict):
    """The parts of a passage's rank; the contributions of `features` add up to `order_score`."""

    lines: Annotated[list[str], Field(description="the same in words")]


EXPLAINED = Annotated[dict[str, Any], Shaped(OfIndex, Account, WithLines, name="Explanation")]


@router.get("/explain")
async def explain_by_address(
    request: Request, call: Annotated[ExplainedSearch, Query()], services: Shared
) -> EXPLAINED:
    """Explain a passage's score, part by part and term by term."""
    return await _explain(request, call, services)


@router.post("/explain")
async def explain_by_body(request: Request, call: ExplainedSearch, services: Shared) -> EXPLAINED:
    """Explain a passage's score, part by part and term by term."""
    return await _explain(request, call, services)


async def _explain(request: Request, call: ExplainedSearch, services: Services) -> dict[str, Any]:
    async with admitted_search(request, services, call) as asked:
        settings = services.settings.retriever
        explaining = explain(asked.of.opened, asked.request, call.passage_id, settings)
        account = await while_connected(request, services, explaining)
    return {
        "index": asked.of.index,
        **account.as_record(),
        "lines": list(explanation_lines(account, call.words)),
    }
