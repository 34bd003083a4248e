"""Responses to errors: problem details, OpenAI's format below /v1, a page in a browser."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from base.notes import Note
from server.html.pages import Reader, failed_page
from server.problems.call_errors import call_error, unreadable_body
from server.problems.details import CODES, MEDIA_TYPE, PROBLEMS, described, problem_response
from server.problems.openai_errors import CallRefused, error_response
from server.problems.refusals import OF_OPENAI, is_navigation

UNREADABLE, NOT_FOUND, WRONG_METHOD = 400, 404, 405
OPENAI_CODES = {NOT_FOUND: "unknown_url", WRONG_METHOD: "method_not_supported"}
FOR_PROGRAMS = ("/api/", OF_OPENAI, "/mcp")  # addresses without pages
SHOWN_CHARACTERS = 200  # of an address


def add_handlers(app: FastAPI) -> None:
    """Register a handler for every error of an application, in the format of its caller."""

    async def foreseen(_: Request, error: Exception) -> JSONResponse:
        return problem_response(error)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
        return problem_response(call_error(request, error))

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
        return _http_error(request, error)

    for kind in (*PROBLEMS, Exception):
        app.add_exception_handler(kind, foreseen)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, of_http)


def allowed_methods(request: Request) -> list[str]:
    """Return the methods that exist at a request's address, in alphabetical order."""
    path = request.scope["path"]
    routes = (each for each in iter_route_contexts(request.app.routes) if each.methods)
    found = {method for each in routes if each.path_regex.match(path) for method in each.methods or ()}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _http_error(request: Request, error: HTTPException) -> Response:
    """Answer an error of the framework: usually an unknown address or method."""
    path, status, headers = request.url.path, error.status_code, dict(error.headers or {})
    detail = str(error.detail)
    if status == UNREADABLE:
        return problem_response(unreadable_body(request))
    if status == NOT_FOUND and detail == "Not Found":
        detail = Note("no_such_address", path=path[:SHOWN_CHARACTERS])
    elif status == WRONG_METHOD:
        headers["Allow"] = ", ".join(allowed_methods(request))
        detail = Note("wrong_method", method=request.method, allowed=headers["Allow"])
    if path.startswith(OF_OPENAI):
        code = OPENAI_CODES.get(status, f"http_{status}")
        return error_response(CallRefused(detail, code=code, status=status), headers)
    said = described(status, CODES.get(status, f"http-{status}"), detail)
    if status == NOT_FOUND and is_navigation(request.scope) and not path.startswith(FOR_PROGRAMS):
        return failed_page(Reader.of(request), said)
    return JSONResponse(said, status, headers, media_type=MEDIA_TYPE)
