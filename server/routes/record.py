"""The record of a search: all that is needed to report it in a review, and to run it again."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response

from retriever.rerun import compare
from retriever.search_record import SearchRecord, search_record
from retriever.search_record_files import as_json, as_report
from server.gate import Search
from server.requests import SearchCall
from server.searching import searched
from server.services import Shared

router = APIRouter(prefix="/api/v1", tags=["search"])

Form = Literal["json", "markdown"]
FORMS = {"json": (as_json, "application/json", "json"), "markdown": (as_report, "text/markdown", "md")}


@router.post("/record", response_class=Response)
async def record(
    request: Request, call: SearchCall, services: Shared, _: Search, form: Form = "json"
) -> Response:
    """Search, and return the record of the search as a file: JSON, which runs again, or Markdown."""
    asked = call.request(services.settings.retriever)
    result, manifest = await searched(request, services, call.index, asked)
    write, media_type, extension = FORMS[form]
    text = await asyncio.to_thread(write, search_record(manifest, asked, result))
    named = {"Content-Disposition": f'attachment; filename="search-record.{extension}"'}
    return Response(text.encode(), media_type=f"{media_type}; charset=utf-8", headers=named)


@router.post("/rerun")
async def rerun(
    request: Request, saved: Annotated[dict[str, Any], Body()], services: Shared, _: Search
) -> dict[str, Any]:
    """Run the search of a record again, with the settings of today, and say which hits came and went."""
    then = await asyncio.to_thread(SearchRecord.checked, saved, "the call")
    asked = then.request
    result, manifest = await searched(request, services, then.index_name, asked)
    now = search_record(manifest, asked, result)
    return {"comparison": compare(then, now).as_record(), "record": now.record}
