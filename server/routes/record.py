"""The record of a search: everything needed to report it in a review, and to repeat it."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import Response
from typing_extensions import TypedDict

from base.documents.word import MEDIA_TYPE as WORD
from base.notes import Note
from retriever.calls import MOST_HITS, QUESTION, IndexSearch
from retriever.errors import BadFilter
from retriever.search_records.record import Comparison, SearchRecord, compare, search_record
from retriever.search_records.report import written
from server.api.schemas import Shaped
from server.limits.gate import Search
from server.routes.search import SEARCH_RESULT, found
from server.services import Shared
from server.targets import AskedSearch, admitted_search, open_target, searched
from server.transport.headers import saved_as

router = APIRouter(prefix="/api/v1", tags=["search"])

Form = Literal["json", "markdown", "docx"]
CONTENT = {
    "application/json": {"schema": {"type": "object", "required": ["search_record", "request", "hits"]}},
    "text/markdown": {"schema": {"type": "string"}},
    WORD: {"schema": {"type": "string", "format": "binary"}},
}
# The required fields of a record; saved records contain more.
EXAMPLE = {
    "search_record": 1,
    "date": "2026-01-31T09:30:00Z",
    "shrag": "0.1.0",
    "index": {"name": "sample", "version": 1, "fingerprint": {}},
    "request": {"question": QUESTION, "k": 3, "method": "or"},
    "applied": {"title_weight": 0.6, "strategist": "statistics"},
    "strategy": {"en": ["thermal runaway", "battery"], "origin": "statistics"},
    "queries": [],
    "hits": [{"rank": 1, "doc_id": "SAMPLE-BAT-011"}],
    "filtered": {},
}
FORMS = {
    "json": ("application/json", "json"),
    "markdown": ("text/markdown", "md"),
    "docx": (WORD, "docx"),
}


@router.post("/record", response_class=Response, responses={200: {"content": CONTENT}})
async def record(
    request: Request,
    call: IndexSearch,
    services: Shared,
    form: Annotated[Form, Query(description="of the file", examples=["markdown"])] = "json",
) -> Response:
    """Search, and return the record of the search: JSON, which can be rerun, Markdown or Word."""
    media_type, extension = FORMS[form]
    async with admitted_search(request, services, call) as asked:
        result, manifest = await searched(request, services, asked)
        content = await asyncio.to_thread(written, search_record(manifest, asked.request, result), form)
    named = saved_as(f"search-record.{extension}")
    charset = "" if media_type == WORD else "; charset=utf-8"
    return Response(content, media_type=f"{media_type}{charset}", headers=named)


class Rerun(TypedDict):
    """A repeated search: the differences, its new record, and its result."""

    comparison: Comparison
    record: dict[str, Any]
    result: SEARCH_RESULT


@router.post("/rerun")
async def rerun(
    request: Request, saved: Annotated[dict[str, Any], Body(examples=[EXAMPLE])], services: Shared, _: Search
) -> Annotated[dict[str, Any], Shaped(Rerun)]:
    """Run the search of a record again, with today's settings, and report the differences."""
    then = await asyncio.to_thread(SearchRecord.checked, saved, "the call")
    if then.request.k > MOST_HITS:  # more than other calls may request
        raise BadFilter(Note("hits_out_of_range", k=then.request.k, most=MOST_HITS))
    asked = AskedSearch(await open_target(services, then.record["index"]["name"]), then.request)
    result, manifest = await searched(request, services, asked)
    now = search_record(manifest, asked.request, result)
    result_now = await found(request, services, asked, result, manifest)
    return {"comparison": compare(then, now).as_record(), "record": now.record, "result": result_now}
