"""Errors of FastAPI and pydantic about unreadable calls, as errors of the server in plain words."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request

from server.errors import BadRequest, ServerError, WrongMediaType

JSON = "application/json"
IN_PART = "in_part"  # the type of errors that name a part of the call
SHOWN_CHARACTERS = 100  # of an unknown name
WORDS: dict[str, str] = {
    "missing": "is missing",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "string_too_long": "may have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "may have at most {max_length} items, and has {actual_length}",
    "literal_error": "must be {expected}",
    "json_invalid": "is not JSON: {error}",
}


def call_error(request: Request, error: RequestValidationError) -> ServerError:
    """Return the error of a call, for the first part that cannot be read."""
    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    if place == ["body"] and (refused := _of_headers(request, has_body=error.body is not None)):
        return refused
    if first["type"] == "json_invalid":
        place, at = place[:1], f" at character {first['loc'][1]}"
    else:
        at = ""
    context = first.get("ctx", {})
    if first["type"] == IN_PART:
        place.append(str(context["part"])[:SHOWN_CHARACTERS])
    what = f"{'.'.join(place)}: {_words(first, context)}{at}"
    return BadRequest(what, place=".".join(place))


def unreadable_body(request: Request) -> ServerError:
    """Return the error of a body that is not readable JSON."""
    return _of_headers(request, has_body=True) or BadRequest("body: is not readable JSON", place="body")


def _words(first: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    if words := WORDS.get(first["type"]):
        return words.format_map(context)
    message: str = first["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


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
