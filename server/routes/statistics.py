"""Statistics of searches, for librarians and operators."""

import asyncio
import sqlite3
from typing import Annotated

from fastapi import APIRouter, Query
from typing_extensions import TypedDict

from base.errors import ResourceError
from server.api.schemas import Shaped
from server.limits.gate import Curate
from server.monitoring.search_statistics import read_statistics
from server.services import Shared

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
    services: Shared,
    _: Curate,
    days: Annotated[int, Query(ge=1, le=36_500, description="counted days", examples=[7])] = 30,
) -> Annotated[Statistics, Shaped(Statistics)]:
    """Count the searches of the last days; empty unless the settings switch counting on."""
    try:
        found = await asyncio.to_thread(read_statistics, services.settings.indexer.home, days)
    except sqlite3.Error as error:
        raise ResourceError(f"statistics cannot be read: {error}") from error
    result: Statistics = {"counted": services.server.statistics, **found}  # type: ignore[typeddict-item]
    return result
