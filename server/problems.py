"""Errors as callers get them: problem details (RFC 9457), OpenAI's format, or a page.

Each has a status, a stable code, and the message of the command line.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from math import ceil
from typing import Annotated, Any, NotRequired
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope
from typing_extensions import TypedDict

from base.calls import in_one_line, refusal
from base.errors import Remedy, ResourceError, ShragError
from base.files.durable import CAUSES, describe_error
from base.logs import get_logger
from base.notes import Note, NoteCode, note_code, note_in
from indexer.errors import UnknownIndex
from retriever.errors import BadExpression
from server.access.callers import may_see, visit_of
from server.errors import BadRequest, NotFound, ServerError, TooBusy, WrongMediaType, WrongMethod
from server.html import Reader, failed_page, rendered

OF_OPENAI = "/v1/"
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
STATUS = {422: 400}  # OpenAI uses another status
CODES = {
    "bad-request": "invalid_value",
    "unknown-index": "model_not_found",
    "unknown-source": "model_not_found",
    "key-needed": "invalid_api_key",
    "too-busy": "rate_limit_exceeded",
    "too-often": "rate_limit_exceeded",
    "quota-used": "insufficient_quota",
    "not-found": "unknown_url",
    "wrong-method": "method_not_supported",
}
MEDIA_TYPE = "application/problem+json"
JSON = "application/json"
LONGEST_DETAIL = 900  # characters; some errors quote the input
LONGEST_ADDRESS = 200  # characters of an address in a message
log = get_logger("server")
FOR_PROGRAMS = ("/api/", OF_OPENAI, "/mcp")  # addresses without pages
BAD_REQUEST, UNAUTHORIZED, WRONG_METHOD = 400, 401, 405


class ErrorDetails(BaseModel):
    """The details of an error."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """An error in OpenAI's format."""

    error: ErrorDetails


def in_openai_format(problem: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status and the body for problem details."""
    status = STATUS.get(problem["status"], problem["status"])
    code = CODES.get(problem["code"], problem["code"].replace("-", "_"))
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")  # noqa: PLR2004
    param = problem.get("place", "").removeprefix("body").removeprefix(".")
    if not param and code == "model_not_found":
        param = "model"
    details = ErrorDetails(message=problem["detail"], type=kind, param=param or None, code=code)
    return status, ErrorBody(error=details).model_dump()


class Problem(TypedDict):
    """The cause and the next step; programs rely on `code`, which is stable."""

    type: Annotated[str, Field(examples=["urn:shrag:problem:bad-filter"])]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    code: Annotated[str, Field(examples=["bad-filter"])]
    detail: Annotated[str, Field(description="as on the command line")]
    note: NotRequired[Annotated[NoteCode, Field(description="code and values of the detail")]]
    place: NotRequired[
        Annotated[str, Field(description="the field of the call that is wrong: body.k, query.year")]
    ]
    position: NotRequired[Annotated[int, Field(description="in an expression, in code points from 0")]]
    retry_after_s: NotRequired[float]


def problem(error: Exception) -> dict[str, Any]:
    """Describe an error; an unexpected one is logged, and its message is not shown."""
    error = _for_caller(error)
    code, detail = code_of(error), detail_of(error)
    status = error.http_status if isinstance(error, ShragError) and code != ShragError.code else 500
    said: dict[str, Any] = {
        "type": f"urn:shrag:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…",
    }
    if isinstance(error, ShragError) and code != ShragError.code and not error.public:  # it is shown
        reason = error.reason if isinstance(error, BadExpression | BadRequest) else note_in(error)
        said |= {"note": note} if (note := note_code(reason)) else {}
    if isinstance(error, BadExpression):
        said |= {"detail": error.reason, "position": error.position}
    if isinstance(error, BadRequest) and error.place:
        said["place"] = error.place
    if isinstance(error, TooBusy):
        said["retry_after_s"] = error.retry_after_s
    return said


def _for_caller(error: Exception) -> Exception:
    """Return an error of the system, like a full disk, as one of an index; name no hidden index."""
    if isinstance(error, OSError) and error.errno in CAUSES:
        return ResourceError(describe_error(error))
    if isinstance(error, UnknownIndex) and error.index:
        there = [*filter(may_see, error.there)]
        unknown = Note("no_such_index", index=error.index)
        return UnknownIndex(unknown, remedy=Remedy.CREATE, index=error.index, there=there)
    return error


def code_of(error: Exception) -> str:
    """Return the code of an error's class."""
    return error.code if isinstance(error, ShragError) else ShragError.code


def detail_of(error: Exception) -> str:
    """Return the message of an error for callers, without paths and hosts of this machine."""
    if code_of(error) == ShragError.code:
        log.error("unexpected", error=repr(error), exc_info=error)
        return "an unexpected error occurred; the details are in the server's log"
    if not (public := str(getattr(error, "public", ""))):
        return describe_error(_for_caller(error))
    log.warning("call failed", reason=describe_error(error))
    name = getattr(error, "index", "")
    return public.format(index=f"index {name!r}" if name else "the index")


def error_classes(base: type[ShragError] = ShragError) -> Iterator[type[ShragError]]:
    """Yield the classes of errors that are imported and have a code."""
    for kind in base.__subclasses__():
        if kind.code != ShragError.code:
            yield kind
        yield from error_classes(kind)


def _error_of(request: Request, error: RequestValidationError | HTTPException) -> ServerError:
    """Return the error of an unreadable call in plain words, for the first part that cannot be read."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        wrong = (
            _error_of_headers(request, has_body=error.body is not None) if first["loc"] == ("body",) else None
        )
        place, words = refusal(first)
        if first["type"] == "json_invalid":
            error_text = f"{first['ctx']['error']} at character {first['loc'][1]}"
            place, words = str(first["loc"][0]), Note("field_not_json", error=error_text)
        return wrong or BadRequest(in_one_line(place, words, nameless="call:"), place=place, reason=words)
    status, detail = error.status_code, str(error.detail)
    if status == BAD_REQUEST:  # a body that is not JSON
        unreadable = BadRequest("body: is not readable JSON", place="body")
        return _error_of_headers(request, has_body=True) or unreadable
    if status == WRONG_METHOD:
        allowed = ", ".join(_allowed_methods(request))
        return WrongMethod(Note("wrong_method", method=request.method, allowed=allowed))
    if status == NotFound.http_status and detail == "Not Found":
        return NotFound(Note("no_such_address", path=request.url.path[:LONGEST_ADDRESS]))
    found = NotFound(detail)
    if status != NotFound.http_status:
        found.http_status, found.code = status, f"http-{status}"
    return found


def _error_of_headers(request: Request, *, has_body: bool) -> ServerError | None:
    """Return the error in the headers of a body that is not a JSON object, or None."""
    packed = request.headers.get("content-encoding", "identity").lower()
    if packed != "identity":
        return WrongMediaType(f"the body is compressed ({packed[:40]}); send it uncompressed")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and not (kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))):
        given = f"the body is sent as {kind[:80]}" if kind else "the call has no Content-Type"
        return WrongMediaType(f"{given}; send JSON, with Content-Type: {JSON}")
    return None


def add_handlers(app: FastAPI) -> None:
    """Answer every error of an application in the format of its caller."""

    async def handle(request: Request, error: Exception) -> Response:
        return error_response(error, request.scope)

    for kind in (ShragError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)


def error_response(error: Exception, scope: Scope) -> Response:
    """Answer a call that failed, or that is not admitted."""
    request, path = Request(scope), scope["path"]
    if isinstance(error, RequestValidationError | HTTPException):
        error = _error_of(request, error)
    if (visit := visit_of(request)).event:
        visit.reason = getattr(error, "reason", "") or type(error).__name__
    said = problem(error)
    headers = {}
    if "retry_after_s" in said:
        headers["Retry-After"] = str(max(1, ceil(said["retry_after_s"])))
    if said["status"] == UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="shrag"'
    if said["status"] == WRONG_METHOD:
        headers["Allow"] = ", ".join(_allowed_methods(request))
    if path.startswith(OF_OPENAI):
        status, body = in_openai_format(said)
        return JSONResponse(body, status, headers)
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):  # a browser wants a page
        if said["status"] == UNAUTHORIZED:
            return _key_needed(request, said, headers)
        if not path.startswith(FOR_PROGRAMS):
            return failed_page(Reader.of(request), said, headers)
    return JSONResponse(said, said["status"], headers, media_type=MEDIA_TYPE)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods that exist at a request's address, in alphabetical order."""
    path = request.scope["path"]
    routes = (each for each in iter_route_contexts(request.app.routes) if each.methods)
    found = {method for each in routes if each.path_regex.match(path) for method in each.methods or ()}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _key_needed(request: Request, said: dict[str, Any], headers: dict[str, str]) -> Response:
    """Return the page that says where to enter the key or to sign in, and leads back."""
    sign_in = request.state.services.sign_in
    query = request.scope["query_string"].decode("latin-1")
    wanted = f"{request.scope['path']}?{query}" if query else request.scope["path"]
    page = rendered(
        "key.html",
        detail=said["detail"][:1].upper() + said["detail"][1:],
        sign_in=f"/sign-in?next={quote(wanted, safe='')}" if sign_in and sign_in.has_provider else "",
    )
    return HTMLResponse(page, UNAUTHORIZED, headers)
