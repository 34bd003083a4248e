"""Papers' pages at permanent addresses, by id and DOI, and unAPI, by which literature managers get papers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from base.errors import ResourceError
from base.untrusted import one_line
from indexer.corpora.normal_forms import whole_doi
from indexer.errors import UnknownIndex
from retriever.citing.styles import style_names
from retriever.errors import BadFilter, UnknownPaper
from retriever.exports import export_named, export_names
from retriever.known_items import papers_of_doi
from retriever.papers.page import may_be_id, paper_page
from retriever.papers.records import records_of_papers
from server.addresses import doi_address, paper_address, public_address
from server.html import Reader, page_files, page_in, rendered
from server.limits.gate import Read
from server.services import Services, Shared
from server.transport.streams import while_connected

router = APIRouter(include_in_schema=False)

FORMAT_NAMES = {"ris": "RIS", "bibtex": "BibTeX", "csl-json": "CSL-JSON", "csv": "CSV", "jsonl": "JSON Lines"}
STYLE_NAMES = {
    "apa": "APA 7",
    "chicago": "Chicago",
    "ieee": "IEEE",
    "mla": "MLA 9",
    "vancouver": "Vancouver",
}
# Keys of a record that have a fixed place on the page.
PLACED = {
    *("id", "title", "title2", "abstract", "abstract2", "body", "lang", "references", "reference_list"),
    "doc_id",
}

IndexName = Annotated[str | None, Query()]
MOST_UNAPI_ID = 10_000  # characters of a percent-encoded id


@router.get("/papers/{doc_id:path}", response_model=None)
async def paper(
    request: Request, doc_id: str, services: Shared, index: IndexName = None
) -> HTMLResponse | RedirectResponse:
    """Show a paper: record, passages, related papers, and metadata for literature managers.

    A DOI in place of the id redirects to its paper.
    """
    async with services.gate.admit(request, "read"):
        name = await services.indexes.chosen(index)
        opened = await services.indexes.get(name)
        try:
            finding = opened.run(paper_page, doc_id)
            page = (await while_connected(request, services, finding)).as_record()
        except UnknownPaper:
            if address := await _address_of_doi(request, services, doc_id, [name]):
                return RedirectResponse(address, 302)
            raise
    return page_in(
        *(Reader.of(request), "paper.html"),
        title=f"{page['record'].get('title') or doc_id} – SHRAG",
        scripts=page_files().modules("paper.js"),
        **paper_values(page, name, public_address(services.server, request)),
    )


def paper_values(page: Mapping[str, Any], index: str, public: str) -> dict[str, Any]:
    """Return the values of a paper's page; `public` is the address of the server."""
    record, doc_id = page["record"], page["doc_id"]
    abstract = page["passages"][0]["text"] if page["passages"] else ""
    permalink = doi_address(record.get("doi"), index) or paper_address(doc_id, index)
    shown = {key: value for key, value in record.items() if key not in PLACED and value not in (None, "", [])}
    fields = {"id": doc_id, "permalink": f"{public}{permalink}"} | shown
    return {
        "paper": page,
        "whole": {"doc_id": doc_id, "abstract": abstract, **record},
        "shown_fields": [
            (key, value if isinstance(value, list) else [value]) for key, value in fields.items()
        ],
        "index_name": index,
        "public": public,
        "question": "",
        "formats": export_names(),
        "format_names": FORMAT_NAMES,
        "styles": style_names(),
        "style_names": STYLE_NAMES,
    }


@router.get("/doi/{doi:path}", response_model=None)
async def paper_by_doi(
    request: Request, doi: str, services: Shared, index: IndexName = None
) -> HTMLResponse | RedirectResponse:
    """Redirect to the paper of a DOI, in one index or in the first that contains it.

    Without an index, as many indexes are searched as can be open at once.
    The address stays valid if the paper's id changes, for example when its file was renamed.
    """
    async with services.gate.admit(request, "read"):
        everything = [index] if index else await services.indexes.names()
        names = everything[: services.server.open_indexes]
        if address := await _address_of_doi(request, services, doi, names):
            return RedirectResponse(address, 302)
    searched = "no index" if len(names) == len(everything) else f"none of the first {len(names)} indexes"
    raise UnknownPaper(f"{searched} contains a paper with the DOI {one_line(doi)!r}")


async def _address_of_doi(request: Request, services: Services, doi: str, names: Sequence[str]) -> str | None:
    """Return the address of the first paper with a DOI; None if there is none.

    Of several indexes, those that cannot be opened are left out.
    """
    if not (may_be_id(doi) and whole_doi(doi)):
        return None
    for name in names:
        try:
            index = await services.indexes.get(name)
        except ResourceError:
            if len(names) == 1:
                raise
            continue
        found = await while_connected(request, services, index.run(papers_of_doi, doi))
        if found:
            return paper_address(found[0], name)
    return None


# unAPI, version 1: https://web.archive.org/web/2014/http://unapi.info/specs/unapi-revision-3.html


@router.get("/unapi")
async def unapi(
    request: Request,
    services: Shared,
    _: Read,
    id: Annotated[str | None, Query(max_length=MOST_UNAPI_ID)] = None,  # noqa: A002 - unAPI's name
    format: Annotated[str | None, Query(max_length=20)] = None,  # noqa: A002 - unAPI's name
) -> Response:
    """List the formats of all papers or of one, or return one paper in a format.

    Ids are INDEX/DOC_ID. Pages have them percent-encoded; clients that encode them again are understood.
    """
    if id is None:
        return _formats(200)
    try:
        exported = export_named(format) if format else None
    except BadFilter as error:
        raise HTTPException(406, str(error)) from error
    records = await _records(request, services, id) or await _records(request, services, unquote(id))
    if not records:
        raise HTTPException(404, f"unknown paper {id!r}")
    if exported is None:
        return _formats(300, id)
    return Response(b"".join(exported.encoded(records)), media_type=exported.media_type)


async def _records(request: Request, services: Services, identifier: str) -> list[dict[str, Any]]:
    name, _, doc_id = identifier.partition("/")
    if not may_be_id(doc_id):
        return []
    try:
        index = await services.indexes.get(name)
    except UnknownIndex:
        return []
    reading = index.run(records_of_papers, [doc_id])
    return await while_connected(request, services, reading)


def _formats(status: int, identifier: str = "") -> Response:
    formats = [(name, export_named(name).media_type) for name in export_names()]
    return Response(
        rendered("unapi.xml", id=identifier, formats=formats), status, media_type="application/xml"
    )
