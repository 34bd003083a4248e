"""Errors as problem details (RFC 9457): a status, a stable code, and the message of the command line."""

from collections.abc import Iterator
from typing import Annotated, Any, NotRequired

from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from typing_extensions import TypedDict

from base.calls import in_one_line, refusal
from base.errors import Remedy, ResourceError, ShragError
from base.files.durable import CAUSES
from base.logs import get_logger
from base.notes import Note, NoteCode, note_code, note_in
from base.remedies import describe_error
from indexer.errors import UnknownIndex
from retriever.errors import BadExpression
from server.access.callers import may_see
from server.errors import BadRequest, NotFound, ServerError, TooBusy, WrongMediaType, WrongMethod

MEDIA_TYPE = "application/problem+json"
JSON = "application/json"
TITLES = {
    400: "The call cannot be used",
    401: "A key is needed",
    403: "Not allowed",
    408: "Too slow",
    409: "Already running",
    413: "Too large",
    421: "Unknown host",
    422: "The call cannot be used",
    404: "Not found",
    405: "Wrong method",
    415: "Wrong media type",
    429: "Too busy",
    503: "Not available",
    502: "Not answered",
}
LONGEST_DETAIL = 900  # characters; some errors quote the input
LONGEST_ADDRESS = 200  # characters of an address in a message

log = get_logger("server")


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
    if isinstance(error, OSError) and error.errno in CAUSES:  # an error of the system, like a full disk
        error = ResourceError(describe_error(error))
    status, code, detail = ShragError.http_status, code_of(error), detail_of(error)
    if code != ShragError.code:
        status = error.http_status  # type: ignore[attr-defined]
    said: dict[str, Any] = {
        "type": f"urn:shrag:problem:{code}",
        "title": TITLES.get(status, "Failed"),
        "status": status,
        "code": code,
        "detail": detail if len(detail) <= LONGEST_DETAIL else f"{detail[:LONGEST_DETAIL]}…",
    }
    if note := _note_of(error):
        said["note"] = note
    if isinstance(error, BadExpression):
        said |= {"detail": error.reason, "position": error.position}
    if isinstance(error, BadRequest) and error.place:
        said["place"] = error.place
    if isinstance(error, TooBusy):
        said["retry_after_s"] = error.retry_after_s
    return said


def _note_of(error: Exception) -> NoteCode | None:
    """Return code and values of an error's message, None for a message that callers do not see."""
    if not isinstance(error, ShragError) or error.code == ShragError.code or error.public:
        return None
    if isinstance(error, UnknownIndex) and error.index:
        return Note("no_such_index", index=error.index).as_code()
    return note_code(error.reason if isinstance(error, BadExpression | BadRequest) else note_in(error))


def code_of(error: Exception) -> str:
    """Return the code of an error's class."""
    return error.code if isinstance(error, ShragError) else ShragError.code


def detail_of(error: Exception) -> str:
    """Return the message of an error for callers, without paths and hosts of this machine."""
    if code_of(error) == ShragError.code:
        log.error("unexpected", error=repr(error), exc_info=error)
        return "an unexpected error occurred; the details are in the server's log"
    if isinstance(error, UnknownIndex) and error.index:
        there = [*filter(may_see, error.there)]
        error = UnknownIndex(
            Note("no_such_index", index=error.index), remedy=Remedy.CREATE, index=error.index, there=there
        )
    public = getattr(error, "public", "")
    if not public:
        return describe_error(error)
    log.warning("call failed", reason=describe_error(error))
    name = getattr(error, "index", "")
    return str(public).format(index=f"index {name!r}" if name else "the index")


def error_classes(base: type[ShragError] = ShragError) -> Iterator[type[ShragError]]:
    """Yield the classes of errors that are imported and have a code."""
    for kind in base.__subclasses__():
        if kind.code != ShragError.code:
            yield kind
        yield from error_classes(kind)


def error_of_call(request: Request, error: RequestValidationError) -> ServerError:
    """Return the error of an unreadable call in plain words, for the first part that cannot be read."""
    first = error.errors()[0]
    if first["loc"] == ("body",) and (refused := _error_of_headers(request, has_body=error.body is not None)):
        return refused
    place, words = refusal(first)
    if first["type"] == "json_invalid":
        error_text = f"{first['ctx']['error']} at character {first['loc'][1]}"
        place, words = str(first["loc"][0]), Note("field_not_json", error=error_text)
    return BadRequest(in_one_line(place, words, nameless="call:"), place=place, reason=words)


def error_of_framework(request: Request, error: HTTPException, allowed: str) -> ServerError:
    """Return the error of an unknown address, a wrong method, or a body that is not JSON."""
    detail = str(error.detail)
    match error.status_code:
        case 400:
            unreadable = BadRequest("body: is not readable JSON", place="body")
            return _error_of_headers(request, has_body=True) or unreadable
        case 405:
            return WrongMethod(Note("wrong_method", method=request.method, allowed=allowed))
        case 404 if detail == "Not Found":
            return NotFound(Note("no_such_address", path=request.url.path[:LONGEST_ADDRESS]))
        case status:
            found = NotFound(detail)
            if status != NotFound.http_status:
                found.http_status, found.code = status, f"http-{status}"
            return found


def _error_of_headers(request: Request, *, has_body: bool) -> ServerError | None:
    """Return the error in the headers of a body that is not a JSON object, or None."""
    headers = request.headers
    packed = headers.get("content-encoding", "identity").lower()
    if packed != "identity":
        return WrongMediaType(f"the body is compressed ({packed[:40]}); send it uncompressed")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and not (kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))):
        given = f"the body is sent as {kind[:80]}" if kind else "the call has no Content-Type"
        return WrongMediaType(f"{given}; send JSON, with Content-Type: {JSON}")
    return None
