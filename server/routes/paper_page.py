"""Papers' pages at stable addresses, and unAPI, with which literature managers fetch the papers of a page."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from indexer.errors import UnknownIndex
from retriever.errors import BadFilter
from retriever.exports import export_named, export_names
from retriever.papers.page import paper_page
from retriever.papers.records import records_of_papers
from server.html.markup import Markup, element
from server.html.page_files import page_files
from server.html.pages import Reader, failed_page, page_in, script
from server.html.paper_html import paper_body, paper_head
from server.limits.gate import Read
from server.problems.details import PROBLEMS, problem
from server.services import Services, Shared
from server.transport.leaving import while_connected

router = APIRouter(include_in_schema=False)


@router.get("/papers/{doc_id:path}")
async def paper(
    request: Request, doc_id: str, services: Shared, index: Annotated[str | None, Query()] = None
) -> HTMLResponse:
    """Show a paper: record, passages, related papers, and metadata for literature managers."""
    reader = Reader.of(request)
    words = page_files().words[reader.language]
    try:
        async with services.gate.admit(request, "read"):
            name = await services.indexes.chosen(index)
            opened = await services.indexes.get(name)
            page = (await while_connected(request, services, paper_page(opened, doc_id))).as_record()
    except tuple(PROBLEMS) as error:
        return failed_page(reader, problem(error))
    places = {
        "title": f"{page['record'].get('title') or doc_id} – SHRAG",
        "head": Markup(f"{page_files().preloads('paper.js')}\n{script()}\n{paper_head(page, name)}"),
        "body": paper_body(page, name, words),
        "question": "",
        "index_name": name,
    }
    return page_in(reader, "paper.html", places)


# unAPI, version 1: https://web.archive.org/web/2014/http://unapi.info/specs/unapi-revision-3.html


@router.get("/unapi")
async def unapi(
    request: Request,
    services: Shared,
    _: Read,
    id: Annotated[str | None, Query(max_length=1_100)] = None,  # noqa: A002 - unAPI's name
    format: Annotated[str | None, Query(max_length=20)] = None,  # noqa: A002 - unAPI's name
) -> Response:
    """List the formats of all papers or of one, or return one paper in a format; ids are INDEX/DOC_ID."""
    if id is None:
        return _formats(200)
    try:
        exported = export_named(format) if format else None
    except BadFilter as error:
        raise HTTPException(406, str(error)) from error
    records = await _records(request, services, id)
    if not records:
        raise HTTPException(404, f"unknown paper {id!r}")
    if exported is None:
        return _formats(300, id)
    return Response(b"".join(exported.encoded(records)), media_type=exported.media_type)


async def _records(request: Request, services: Services, identifier: str) -> list[dict[str, Any]]:
    name, _, doc_id = identifier.partition("/")
    try:
        index = await services.indexes.get(name)
    except UnknownIndex:
        return []
    reading = index.ask(lambda version: records_of_papers(version, [doc_id]))
    return await while_connected(request, services, reading)


def _formats(status: int, identifier: str = "") -> Response:
    formats = [
        element("format", {"name": name, "type": export_named(name).media_type}, "")
        for name in export_names()
    ]
    listed = element("formats", {"id": identifier}, formats)
    return Response(f'<?xml version="1.0" encoding="UTF-8"?>\n{listed}', status, media_type="application/xml")
