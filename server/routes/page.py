"""The page: its first view, its files, and a list of results for browsers without scripts."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from base.markup import Markup, element
from server.api.find_form import find_form
from server.html.page_files import page_files
from server.html.pages import CHECKED, Reader, failed_page, page_in
from server.problems.call_errors import call_error
from server.problems.details import PROBLEMS, problem
from server.services import Shared


class PageRoute(APIRoute):
    """A route for people: errors are shown as a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handler = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except RequestValidationError as error:
                return failed_page(Reader.of(request), problem(call_error(request, error)))
            except tuple(PROBLEMS) as error:
                return failed_page(Reader.of(request), problem(error))

        return answer


router = APIRouter(include_in_schema=False, route_class=PageRoute)

FOR_EVER = "public, max-age=31536000, immutable"


@router.get("/")
async def home(
    request: Request, services: Shared, q: Annotated[str, Query(max_length=20_000)] = "", ask: str = ""
) -> HTMLResponse:
    """Show the page; its address contains the search."""
    files, reader = page_files(), Reader.of(request)
    without_script = Markup("")
    if q:
        address = str(request.url.replace(path="/plain", scheme="", netloc=""))
        refresh = element("meta", {"http-equiv": "refresh", "content": f"0; url={address}"})
        without_script = element("noscript", {}, refresh)
    return page_in(
        reader,
        "index.html",
        {
            "question": q,
            "asked": f"asked{' answering' if ask else ''}" if q else "",
            "view": "answer" if ask else "results",
            "judges": str(services.server.judgements).lower(),
            "preloads": files.preloads(
                "main.js", "columns.js" if q else "start.js", *(["answer.js"] if q and ask else [])
            ),
            "without_script": without_script,
        },
    )


@router.get("/find")
async def find(request: Request, q: Annotated[str, Query(max_length=20_000)] = "") -> HTMLResponse:
    """Show the page for finding papers; its address contains the question, the reader starts the search."""
    files, reader = page_files(), Reader.of(request)
    form = find_form(files.words[reader.language])
    return page_in(
        reader, "find.html", {"question": q, "preloads": files.preloads("find.js", "start.js"), **form}
    )


@router.get("/operator")
async def operator(request: Request) -> HTMLResponse:
    """Show the operator's view."""
    return page_in(Reader.of(request), "operator.html", {"preloads": page_files().preloads("operator.js")})


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
