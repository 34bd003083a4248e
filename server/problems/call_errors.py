"""Errors of FastAPI and pydantic about unreadable calls, as errors of the server in plain words."""

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request

from base.calls import in_one_line, refusal
from base.notes import Note
from server.errors import BadRequest, ServerError, WrongMediaType

JSON = "application/json"


def call_error(request: Request, error: RequestValidationError) -> ServerError:
    """Return the error of a call, for the first part that cannot be read."""
    first = error.errors()[0]
    if first["loc"] == ("body",) and (refused := _of_headers(request, has_body=error.body is not None)):
        return refused
    place, words = refusal(first)
    if first["type"] == "json_invalid":
        error_text = f"{first['ctx']['error']} at character {first['loc'][1]}"
        place, words = str(first["loc"][0]), Note("field_not_json", error=error_text)
    return BadRequest(in_one_line(place, words, nameless="call:"), place=place, reason=words)


def unreadable_body(request: Request) -> ServerError:
    """Return the error of a body that is not readable JSON."""
    return _of_headers(request, has_body=True) or BadRequest("body: is not readable JSON", place="body")


def _of_headers(request: Request, *, has_body: bool) -> ServerError | None:
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
