"""Errors in OpenAI's format: a message, a type, the field concerned, and a code."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

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
    "too-many-connections": "rate_limit_exceeded",
    "quota-used": "insufficient_quota",
    "not-found": "unknown_url",
    "wrong-method": "method_not_supported",
}


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
