"""The page: its views and files, results for browsers without scripts, and the documentation of the API."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from pydantic import BaseModel, Field, Json
from starlette.exceptions import HTTPException

from generator.finding.agents import ADDITIONS, AGENTS
from generator.finding.calls import FindCall
from retriever.calls import MOST_HITS, SearchCall
from retriever.request import MAX_CHARACTERS, RELEVANCE, Sort
from retriever.strategy import Strategy
from server.addresses import paper_address, public_address, sources_named
from server.html import CHECKED, Reader, page_files, page_in, rendered
from server.services import Shared
from server.targets import admitted_search

router = APIRouter(include_in_schema=False)

FOR_EVER = "public, max-age=31536000, immutable"
SWAGGER = Path(str(files("fastapi_swagger") / "resources"))
SWAGGER_FILES = frozenset({"swagger-ui.css", "swagger-ui-bundle.js"})
NUMBERS = (
    *("papers", "rounds", "layers", "threshold"),
    *("max_calls", "max_tokens", "max_seconds", "max_papers"),
)


@router.get("/")
async def home(
    request: Request, services: Shared, q: Annotated[str, Query(max_length=20_000)] = "", ask: str = ""
) -> HTMLResponse:
    """Show the page; its address contains the search."""
    scripts = ["main.js", *(["answer.js"] if q and ask else [])]
    return page_in(
        *(Reader.of(request), "index.html"),
        question=q,
        asked=f"asked{' answering' if ask else ''}" if q else "",
        view="answer" if ask else "results",
        judges=str(services.server.judgements).lower(),
        scripts=page_files().modules(*scripts),
        without_script=str(request.url.replace(path="/plain", scheme="", netloc="")) if q else "",
    )


@router.get("/find")
async def find(request: Request, q: Annotated[str, Query(max_length=20_000)] = "") -> HTMLResponse:
    """Show the page for finding papers; its address contains the question, the reader starts the search."""
    return page_in(
        *(Reader.of(request), "find.html"),
        question=q,
        scripts=page_files().modules("find.js"),
        fields=_number_fields(),
        agents=(*AGENTS, *ADDITIONS),
        additions=ADDITIONS,
    )


@cache
def _number_fields() -> dict[str, dict[str, Any]]:
    """Describe the number fields with bounds and defaults of the call; "greater than 0" becomes from 1."""
    described = FindCall.model_json_schema()["properties"]
    fields = {}
    for name in NUMBERS:
        number = described[name].get("anyOf", [described[name]])[0]
        fields[name] = {
            "min": number.get("minimum", 1),
            "max": number["maximum"],
            "step": "1" if number["type"] == "integer" else "any",
            "value": described[name].get("default"),
        }
    return fields


@router.get("/operator")
async def operator(request: Request) -> HTMLResponse:
    """Show the operator's view."""
    return page_in(Reader.of(request), "operator.html", scripts=page_files().modules("operator.js"))


@router.get("/page/{version}/{path:path}")
async def page_file(request: Request, version: str, path: str) -> Response:
    """Send a file of the page; an address of an older version gets the current file, which is not cached."""
    files = page_files()
    file = files.files.get(path)
    if file is None:
        raise HTTPException(404, f"the page has no file {path!r}")
    headers = {
        "Cache-Control": FOR_EVER if version == files.version else CHECKED,
        "ETag": f'"{files.version}"',
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.media_type, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


@router.get("/opensearch.xml")
async def opensearch(request: Request, services: Shared) -> Response:
    """Return the description by which browsers offer a search of this server (OpenSearch 1.1, draft 6).

    It is in the reader's language; `?hl=` chooses one. Without the setting `public_url` addresses start with
    the host of the request, which the entrance has checked, and the answer may not be cached by others.
    """
    reader = Reader.of(request)
    content = rendered(
        "opensearch.xml",
        lang=reader.language,
        opensearch_about=reader.words["opensearch_about"],
        public=public_address(services.server, request),
    )
    headers = {"Cache-Control": f"private, {CHECKED}", "Vary": "Accept-Language, Cookie"}
    return Response(content, media_type="application/opensearchdescription+xml", headers=headers)


@router.get("/docs")
async def documentation() -> HTMLResponse:
    """Show the interactive description of the API, from files that come with the server."""
    return HTMLResponse(rendered("docs.html", base=page_files().base))


@router.get("/docs/{name}")
async def documentation_file(name: str) -> FileResponse:
    """Send the style sheet or the script of the documentation."""
    if name not in SWAGGER_FILES:
        raise HTTPException(404)
    return FileResponse(SWAGGER / name)


class PlainCall(BaseModel):
    """The parameters of the page's addresses (page/asked.js)."""

    q: Annotated[str, Field(max_length=MAX_CHARACTERS)]
    index: str = ""
    method: str = ""
    k: Annotated[int, Field(ge=1, le=MOST_HITS)] = 10
    year: str = ""
    lang: str = ""
    journal: str = ""
    author: str = ""
    type: str = ""
    sort: Sort = RELEVANCE
    strategy: Json[Strategy] | None = None
    skip: tuple[str, ...] = ()
    exclude: Annotated[tuple[str, ...], Field(alias="not")] = ()
    literal: str | None = None

    def call(self) -> SearchCall:
        """Return the equivalent call of the API."""
        sources = sources_named(self.index)
        given = self.model_dump(exclude={"q", "index", "literal"}, exclude_unset=True)
        return SearchCall(
            **{name: value for name, value in given.items() if value},
            question=self.q,
            index=self.index if self.index and not sources else None,
            sources=sources,
            conditions=self.literal is None,
        )


@router.get("/plain")
async def plain(request: Request, services: Shared, asked: Annotated[PlainCall, Query()]) -> HTMLResponse:
    """Search, and list the results."""
    async with admitted_search(request, services, asked.call()) as search:
        of, (result, _) = search.of, await search.search()
    hits = [{**hit.paper, **hit.as_record()} for hit in result.listed]
    addresses = [
        paper_address(hit["doc_id"], of.index, hit["passage_id"]) if of.index else hit.get("url")
        for hit in hits
    ]
    return page_in(
        *(Reader.of(request), "plain.html"),
        title=f"{asked.q[:80]} – SHRAG",
        question=asked.q,
        index_name=asked.index or of.index or "",
        searched_index=of.index,
        scripts=page_files().modules("paper.js"),
        hits=list(zip(addresses, hits, strict=True)),
    )
