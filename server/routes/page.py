"""The page: its first view, its files, and a list of results for browsers without scripts."""

from collections.abc import Callable, Coroutine, Mapping
from math import ceil
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from server.html.find_form import find_form
from server.html.markup import Markup, element, html
from server.html.page_files import page_files
from server.html.reader import Reader
from server.problems.call_errors import call_error
from server.problems.details import PROBLEMS, problem


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

WAIT_S = 5  # if a problem has no `retry_after_s`
FOR_EVER = "public, max-age=31536000, immutable"
NO_CACHE = "no-cache"


@router.get("/")
async def home(
    request: Request, q: Annotated[str, Query(max_length=20_000)] = "", ask: str = ""
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
            "asked": "asked" if q else "",
            "view": "answer" if ask else "results",
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


def page_in(reader: Reader, template: str, places: dict[str, str], status: int = 200) -> HTMLResponse:
    """Fill a template in a reader's language and colours."""
    files = page_files()
    shared = {
        "base": files.base,
        "lang": reader.language,
        "theme": reader.theme,
        "is_ko": str(reader.language == "ko").lower(),
        "is_en": str(reader.language == "en").lower(),
    }
    headers = {
        "Cache-Control": NO_CACHE,
        "Content-Language": reader.language,
        "Vary": "Accept-Language, Cookie",
    }
    return HTMLResponse(files.filled(template, reader.language, shared | places), status, headers)


def failed_page(reader: Reader, described: Mapping[str, Any]) -> HTMLResponse:
    """Create a page from problem details, with a link to the first page."""
    words = page_files().words[reader.language]
    seconds = ceil(described.get("retry_after_s", WAIT_S))
    said = words.get(f"problem_{described['code']}", words["problem"]).replace("{seconds}", str(seconds))
    detail = element("p", {"class": "quiet", "lang": "en"}, described["detail"])
    places = {"title": "SHRAG", "question": "", "index_name": "", "head": script()}
    back = element("p", None, element("a", {"href": "/"}, words["back_to_search"]))
    body = {"body": html(element("h1", None, said), detail, back)}
    page = page_in(reader, "paper.html", places | body, described["status"])
    if "retry_after_s" in described:
        page.headers["Retry-After"] = str(max(1, seconds))
    return page


def script() -> Markup:
    """Create the script element of pages that also work without it."""
    return element("script", {"type": "module", "src": f"{page_files().base}/paper.js"})


@router.get("/page/{version}/{path:path}")
async def page_file(request: Request, version: str, path: str) -> Response:
    """Send a file of the page; an address of an older version gets the current file, which is not cached."""
    files = page_files()
    file = files.files.get(path)
    if file is None:
        raise HTTPException(404, f"the page has no file {path!r}")
    headers = {
        "Cache-Control": FOR_EVER if version == files.version else NO_CACHE,
        "ETag": f'"{files.version}"',
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        return Response(file.packed, media_type=file.media_type, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
