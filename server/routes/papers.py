"""Papers and passages as JSON, papers' pages at permanent addresses, and unAPI for literature managers."""

from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from base.errors import ResourceError
from base.settings.fields import listed
from base.untrusted import one_line
from indexer.building.source_files import file_of_record
from indexer.corpora.normal_forms import whole_doi
from indexer.errors import UnknownIndex
from indexer.settings import IndexerSettings
from indexer.versions.store.build_folder import BuildFolder
from retriever.calls import IndexName
from retriever.citing.styles import STYLES
from retriever.errors import BadFilter, UnknownPaper
from retriever.exports import EXPORTS, export_named
from retriever.index import SearchIndex
from retriever.known_items import papers_of_doi
from retriever.papers.page import MOST_PASSAGES, PASSAGES, PaperPage, PaperPassage, may_be_id, paper_page
from retriever.papers.page import passage as passage_with_paper
from retriever.papers.records import records_of_papers
from server.addresses import doi_address, paper_address, public_address
from server.description import OfIndex, Shaped
from server.html import Reader, page_files, page_in, rendered
from server.limits.gate import Read
from server.services import Services, Shared

router = APIRouter()

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
    *("doc_id", "sections"),
}
FILE_TYPES = {".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/plain", ".markdown": "text/plain"}

MOST_UNAPI_ID = 10_000  # characters of a percent-encoded id
Index = Annotated[IndexName, Query()]


@router.get("/api/v1/papers/{doc_id:path}", tags=["papers"])
async def paper(
    doc_id: Annotated[str, Path(examples=["SAMPLE-BAT-011"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPage, name="Paper")]:
    """Return a paper's record and passages, what it cites, what cites it, and similar papers."""
    name = await services.indexes.chosen(index)
    page = await (await services.indexes.get(name)).run(paper_page, doc_id)
    return {"index": name, **page.as_record()}


@router.get("/api/v1/passages/{passage_id:path}", tags=["papers"])
async def passage(
    passage_id: Annotated[str, Path(examples=["SAMPLE-BAT-001@en"])],
    services: Shared,
    _: Read,
    index: Index = None,
) -> Annotated[dict[str, Any], Shaped(OfIndex, PaperPassage, name="PassageOfPaper")]:
    """Return a passage with its paper's record."""
    name = await services.indexes.chosen(index)
    found = await (await services.indexes.get(name)).run(passage_with_paper, passage_id)
    return {"index": name, **found.as_record()}


@router.get("/papers/{doc_id:path}", response_model=None, include_in_schema=False)
async def page_of_paper(
    request: Request, doc_id: str, services: Shared, index: Index = None, whole: bool = False
) -> HTMLResponse | RedirectResponse:
    """Show a paper: record, passages, related papers, and metadata for literature managers.

    A DOI in place of the id redirects to its paper. `whole`: with all passages.
    """
    settings = services.settings.indexer
    async with services.gate.admit(request, "read"):
        name = await services.indexes.chosen(index)
        opened = await services.indexes.get(name)
        try:
            found = await opened.run(paper_page, doc_id, passages=MOST_PASSAGES if whole else PASSAGES)
            page = found.as_record()
            file = await opened.run(file_of_paper, settings, found.doc_id, services.server.files)
        except UnknownPaper:
            if address := await _address_of_doi(services, doc_id, [name]):
                return RedirectResponse(address, 302)
            raise
    return page_in(
        *(Reader.of(request), "paper.html"),
        title=f"{page['record'].get('title') or doc_id} – SHRAG",
        scripts=page_files().modules("paper.js"),
        **paper_values(page, name, public_address(services.server, request)),
        file=file,
    )


def file_of_paper(index: SearchIndex, settings: IndexerSettings, doc_id: str, folders: str) -> File | None:
    """Return the file of a full paper if the index was made of it and it lies in one of the folders."""
    sources = BuildFolder(settings.home, index.manifest.name).sources
    file = file_of_record(sources, index.manifest, doc_id) if folders else None
    path = file.resolve() if file else None
    if path is None or path.suffix.lower() not in FILE_TYPES or not path.is_file():
        return None
    return path if any(path.is_relative_to(File(folder).resolve()) for folder in listed(folders)) else None


@router.get("/files/{doc_id:path}", response_model=None, include_in_schema=False)
async def full_paper(request: Request, doc_id: str, services: Shared, index: Index = None) -> FileResponse:
    """Send the file of a paper, from the folders of the setting `files`."""
    async with services.gate.admit(request, "read"):
        opened = await services.indexes.get(await services.indexes.chosen(index))
        file = await opened.run(file_of_paper, services.settings.indexer, doc_id, services.server.files)
    if file is None:
        raise HTTPException(404, "no file of this paper is served")
    media_type = FILE_TYPES[file.suffix.lower()]
    return FileResponse(file, media_type=media_type, filename=file.name, content_disposition_type="inline")


def paper_values(page: Mapping[str, Any], index: str, public: str) -> dict[str, Any]:
    """Return the values of a paper's page; `public` is the address of the server."""
    record, doc_id = page["record"], page["doc_id"]
    abstract = page["passages"][0]["text"] if page["passages"] else ""
    permalink = doi_address(record.get("doi"), index) or paper_address(doc_id, index)
    shown = {key: value for key, value in record.items() if key not in PLACED and value not in (None, "", [])}
    fields = {"id": doc_id, "permalink": f"{public}{permalink}"} | shown
    begins = {each["text"].partition("\n")[0]: each["passage_id"] for each in reversed(page["passages"])}
    sections = record["sections"] if isinstance(record.get("sections"), list) else []
    titled = [each for each in sections if isinstance(each, dict) and isinstance(each.get("title"), str)]
    return {
        "paper": page,
        "sections": [(each, begins.get(each["title"])) for each in titled if each["title"].strip()],
        "whole": {"doc_id": doc_id, "abstract": abstract, **record},
        "shown_fields": [
            (key, value if isinstance(value, list) else [value]) for key, value in fields.items()
        ],
        "index_name": index,
        "public": public,
        "question": "",
        "formats": list(EXPORTS),
        "format_names": FORMAT_NAMES,
        "styles": list(STYLES),
        "style_names": STYLE_NAMES,
    }


@router.get("/doi/{doi:path}", response_model=None, include_in_schema=False)
async def paper_by_doi(
    request: Request, doi: str, services: Shared, index: Index = None
) -> HTMLResponse | RedirectResponse:
    """Redirect to the paper of a DOI, in one index or in the first that contains it.

    Without an index, as many indexes are searched as can be open at once.
    The address stays valid if the paper's id changes, for example when its file was renamed.
    """
    async with services.gate.admit(request, "read"):
        everything = [index] if index else await services.indexes.names()
        names = everything[: services.server.open_indexes]
        if address := await _address_of_doi(services, doi, names):
            return RedirectResponse(address, 302)
    searched = "no index" if len(names) == len(everything) else f"none of the first {len(names)} indexes"
    raise UnknownPaper(f"{searched} contains a paper with the DOI {one_line(doi)!r}")


async def _address_of_doi(services: Services, doi: str, names: Sequence[str]) -> str | None:
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
        if found := await index.run(papers_of_doi, doi):
            return paper_address(found[0], name)
    return None


# unAPI, version 1: https://web.archive.org/web/2014/http://unapi.info/specs/unapi-revision-3.html


@router.get("/unapi", include_in_schema=False)
async def unapi(
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
    records = await _records(services, id) or await _records(services, unquote(id))
    if not records:
        raise HTTPException(404, f"unknown paper {id!r}")
    if exported is None:
        return _formats(300, id)
    return Response(b"".join(exported.encoded(records)), media_type=exported.media_type)


async def _records(services: Services, identifier: str) -> list[dict[str, Any]]:
    name, _, doc_id = identifier.partition("/")
    if not may_be_id(doc_id):
        return []
    try:
        index = await services.indexes.get(name)
    except UnknownIndex:
        return []
    return await index.run(records_of_papers, [doc_id])


def _formats(status: int, identifier: str = "") -> Response:
    formats = [(name, export.media_type) for name, export in EXPORTS.items()]
    return Response(
        rendered("unapi.xml", id=identifier, formats=formats), status, media_type="application/xml"
    )
