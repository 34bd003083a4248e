"""Responses to errors, in the format of the caller: problem details, OpenAI's format, or a page."""

from math import ceil
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from base.errors import ShragError
from server.html.pages import Reader, failed_page, rendered
from server.openai_errors import OF_OPENAI, in_openai_format
from server.problems import MEDIA_TYPE, error_of_call, error_of_framework, problem

FOR_PROGRAMS = ("/api/", OF_OPENAI, "/mcp")  # addresses without pages
PAGES = ("/plain", "/find", "/operator", "/papers/", "/doi/", "/sign-in")
UNAUTHORIZED, NOT_FOUND, WRONG_METHOD = 401, 404, 405
# A browser that follows a link from another site omits the cookie (SameSite=Strict); this page makes it
# repeat the request with the cookie.
ASKED_AGAIN = '<!doctype html><html><head><meta http-equiv="refresh" content="0"></head></html>'


def add_handlers(app: FastAPI) -> None:
    """Answer every error of an application in the format of its caller."""

    async def handle(request: Request, error: Exception) -> Response:
        return error_response(error, request.scope)

    for kind in (ShragError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def error_response(error: Exception, scope: Scope) -> Response:
    """Answer a call that failed, or that is not admitted."""
    request = Request(scope)
    if isinstance(error, RequestValidationError):
        error = error_of_call(request, error)
    elif isinstance(error, HTTPException):
        allowed = ", ".join(_allowed_methods(request)) if error.status_code == WRONG_METHOD else ""
        error = error_of_framework(request, error, allowed)
    said = problem(error)
    headers = _headers_of(said, request)
    if scope["path"].startswith(OF_OPENAI):
        status, body = in_openai_format(said)
        return JSONResponse(body, status, headers)
    if is_navigation(scope):
        if said["status"] == UNAUTHORIZED:
            return _key_needed(request, said, headers)
        is_page = scope["path"] == "/" or scope["path"].startswith(PAGES)
        if is_page or (said["code"] == "not-found" and not scope["path"].startswith(FOR_PROGRAMS)):
            return failed_page(Reader.of(request), said, headers)
    return JSONResponse(said, said["status"], headers, media_type=MEDIA_TYPE)


def is_navigation(scope: Scope) -> bool:
    """Check whether a browser requests a page: by GET, and accepting HTML."""
    headers = dict(scope["headers"])
    return scope["method"] == "GET" and b"text/html" in headers.get(b"accept", b"")


def _headers_of(said: dict[str, Any], request: Request) -> dict[str, str]:
    headers = {}
    if "retry_after_s" in said:
        headers["Retry-After"] = str(max(1, ceil(said["retry_after_s"])))
    if said["status"] == UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="shrag"'
    if said["status"] == WRONG_METHOD:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    return headers


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods that exist at a request's address, in alphabetical order."""
    path = request.scope["path"]
    routes = (each for each in iter_route_contexts(request.app.routes) if each.methods)
    found = {method for each in routes if each.path_regex.match(path) for method in each.methods or ()}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _key_needed(request: Request, said: dict[str, Any], headers: dict[str, str]) -> Response:
    """Return the page that says where to enter the key or to sign in, and leads back."""
    if request.headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        return HTMLResponse(ASKED_AGAIN)
    sign_in = request.state.services.sign_in
    query = request.scope["query_string"].decode("latin-1")
    wanted = f"{request.scope['path']}?{query}" if query else request.scope["path"]
    page = rendered(
        "key.html",
        detail=said["detail"][:1].upper() + said["detail"][1:],
        sign_in=f"/sign-in?next={quote(wanted, safe='')}" if sign_in and sign_in.has_provider else "",
    )
    return HTMLResponse(page, UNAUTHORIZED, headers)
