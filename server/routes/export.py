"""Export of references: of chosen papers, or of all hits of a search."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import Field

from base.calls import described, with_examples
from base.errors import InvalidCall
from retriever.calls import QUESTION, SearchCall
from retriever.errors import UnknownPaper
from retriever.exports import export_named, export_names
from retriever.index import SearchIndex
from retriever.papers.records import records_of_hits, records_of_papers
from retriever.search import search
from server.calls.target import open_target
from server.limits.gate import Search
from server.services import Services, Shared
from server.transport.headers import saved_as
from server.transport.leaving import while_connected

router = APIRouter(prefix="/api/v1", tags=["papers"])

MOST_PAPERS = 1_000
MISSING = "X-Missing-Papers"  # the number of ids that are not in the index, or the sources


def _described(media_type: str) -> dict[str, Any]:
    """Return the description of a file: JSON is a list of references, other files are text."""
    is_json = media_type.endswith("+json")
    return {"schema": {"type": "array", "items": {"type": "object"}} if is_json else {"type": "string"}}


MEDIA_TYPES = [export_named(name).media_type for name in export_names()]
FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {media_type: _described(media_type) for media_type in MEDIA_TYPES}}
}


class ExportCall(SearchCall):
    """Papers by their ids, or a search for them; exactly one of both."""

    model_config = with_examples(
        {"format": "bibtex", "ids": ["SAMPLE-BAT-011"]}, {"format": "ris", "question": QUESTION, "k": 50}
    )

    format: Annotated[
        str, described(type="string", enum=export_names(), example="ris"), Field(description="of the file")
    ]
    question: Annotated[str, Field(description="if no ids are given", examples=[QUESTION])] = ""
    ids: Annotated[
        tuple[str, ...],
        Field(
            max_length=MOST_PAPERS,
            description="of papers, if no question is given; unknown ones are left out, "
            f"and {MISSING} counts them",
            examples=[["SAMPLE-BAT-011", "SAMPLE-BAT-001"]],
        ),
    ] = ()


@router.get("/export", response_class=Response, responses=FILES)
async def export_by_address(
    request: Request, call: Annotated[ExportCall, Query()], services: Shared, _: Search
) -> Response:
    """Return references as a file of the chosen format."""
    return await _export(request, call, services)


@router.post("/export", response_class=Response, responses=FILES)
async def export_by_body(request: Request, call: ExportCall, services: Shared, _: Search) -> Response:
    """Return references as a file of the chosen format."""
    return await _export(request, call, services)


async def _export(request: Request, call: ExportCall, services: Services) -> Response:
    if bool(call.ids) == bool(call.question.strip()):
        raise InvalidCall("give either ids of papers or a question")
    export, settings = export_named(call.format), services.settings.retriever
    of = await open_target(services, call.index, call.sources)

    async def of_version(version: SearchIndex) -> list[dict[str, Any]]:
        if call.ids:
            return await records_of_papers(version, call.ids)
        result = await search(version, call.request(settings), settings)
        return await records_of_hits(version, result.listed)

    if call.ids and of.sources:
        reading = services.sources.records(of.sources, call.ids)
    else:
        reading = of.opened.ask(of_version)
    records = await while_connected(request, services, reading)
    missing = len(set(call.ids)) - len(records) if call.ids else 0
    if call.ids and not records:
        where = f"the index {of.index} has" if of.index else "the sources have"
        raise UnknownPaper(f"{where} none of these papers")
    written = await asyncio.to_thread(lambda: b"".join(export.encoded(records)))
    headers = {
        **saved_as(f"{of.index or '-'.join(of.sources)}{export.extension}"),
        **({MISSING: str(missing)} if missing else {}),
    }
    return Response(written, media_type=export.media_type, headers=headers)
