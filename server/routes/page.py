"""The page: its first view, its files, the page for finding papers, and the operator's view."""

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from generator.finding.agents import ADDITIONS, AGENTS
from generator.finding.calls import FindCall
from server.html.page_files import page_files
from server.html.pages import CHECKED, Reader, page_in
from server.services import Shared

router = APIRouter(include_in_schema=False)

FOR_EVER = "public, max-age=31536000, immutable"
NUMBERS = (
    *("papers", "rounds", "layers", "threshold"),
    *("max_calls", "max_tokens", "max_seconds", "max_papers"),
)


@router.get("/")
async def home(
    request: Request, services: Shared, q: Annotated[str, Query(max_length=20_000)] = "", ask: str = ""
) -> HTMLResponse:
    """Show the page; its address contains the search."""
    scripts = ["main.js", "columns.js" if q else "start.js", *(["answer.js"] if q and ask else [])]
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
        scripts=page_files().modules("find.js", "start.js"),
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
