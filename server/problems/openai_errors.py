"""Errors in OpenAI's format: a message, a type, the field concerned, and a code."""

import json
from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.problems.call_errors import call_error, unreadable_body
from server.problems.details import problem_response

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
}
OF_ITS_BODY = frozenset({"content-length", "content-type"})


class ErrorDetails(BaseModel):
    """The details of an error."""

    message: str
    type: str
    param: str | None
    code: str


class ErrorBody(BaseModel):
    """An error in OpenAI's format."""

    error: ErrorDetails


class CallRefused(Exception):
    """A call that is refused before any work is done; `param` names the field."""

    def __init__(
        self, message: str, *, param: str | None = None, code: str = "invalid_value", status: int = 400
    ) -> None:
        """`code` and `status` are those of the response."""
        self.param, self.code, self.status = param, code, status
        super().__init__(message)


def openai_error(error: Exception) -> tuple[int, dict[str, Any], dict[str, str]]:
    """Return the status of an error, its body and its headers; messages are as on the command line."""
    if isinstance(error, CallRefused):
        return error.status, _body(error.status, str(error), error.code, error.param), {}
    response = problem_response(error)
    described = json.loads(bytes(response.body))
    headers = {name: value for name, value in response.headers.items() if name not in OF_ITS_BODY}
    status = STATUS.get(described["status"], described["status"])
    code = CODES.get(described["code"], described["code"].replace("-", "_"))
    param = described.get("place", "").removeprefix("body").removeprefix(".")
    return status, _body(status, described["detail"], code, param or None), headers


def _body(status: int, message: str, code: str, param: str | None) -> dict[str, Any]:
    kind = TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")  # noqa: PLR2004
    details = ErrorDetails(message=message, type=kind, param=param, code=code)
    return ErrorBody(error=details).model_dump()


def error_response(error: Exception, headers: Mapping[str, str] = MappingProxyType({})) -> JSONResponse:
    """Return an error response with additional headers."""
    status, body, own = openai_error(error)
    return JSONResponse(body, status, {**own, **headers})


class OpenAIRoute(APIRoute):
    """A route whose errors are in OpenAI's format."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        answer = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await answer(request)
            except RequestValidationError as error:
                return error_response(call_error(request, error))
            except HTTPException:
                return error_response(unreadable_body(request))
            except Exception as error:  # noqa: BLE001 - reported to the caller
                return error_response(error)

        return handle
