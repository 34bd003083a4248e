"""Statistics of searches, for librarians and operators."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from typing_extensions import TypedDict

from server.access.callers import visit_of
from server.api.schemas import Shaped
from server.limits.gate import Curate
from server.monitoring.search_statistics import read_statistics
from server.services import Shared
from server.source_names import sources_named

router = APIRouter(prefix="/api/v1", tags=["operation"])


class Day(TypedDict):
    """Searches of a day (UTC)."""

    day: str
    searches: int


class OfIndex(TypedDict):
    """Searches of an index, or of sources."""

    index: str
    searches: int


class OfLength(TypedDict):
    """Searches by the number of words; 20 includes longer ones."""

    words: int
    searches: int


class WithoutResults(TypedDict):
    """A question that found nothing, and its number on a day."""

    question: str
    index: str
    day: str
    searches: int


class Statistics(TypedDict):
    """Searches of the last days, without callers; needs the role librarian."""

    counted: bool
    since: str
    days: list[Day]
    indexes: list[OfIndex]
    words: list[OfLength]
    without_results: list[WithoutResults]


@router.get("/statistics")
async def statistics(
    request: Request,
    services: Shared,
    _: Curate,
    days: Annotated[int, Query(ge=1, le=36_500, description="counted days", examples=[30])] = 30,
) -> Annotated[Statistics, Shaped(Statistics)]:
    """Count the searches of the last days on the caller's indexes; empty unless counting is switched on."""
    caller = visit_of(request).caller

    def may_see(index: str) -> bool:
        sources = sources_named(index)
        return all(map(caller.may_use, sources)) if sources else caller.may_see(index)

    found = await asyncio.to_thread(read_statistics, services.store, days, may_see)
    result: Statistics = {"counted": services.server.statistics, **found}  # type: ignore[typeddict-item]
    return result
