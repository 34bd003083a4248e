"""Messages that are not valid JSON-RPC 2.0 for the protocol, and the error responses to them.

https://www.jsonrpc.org/specification, section 5.1: the id of an error is null if the id of the request is
unknown.
"""

from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json


def line_refused(line: str) -> JSONRPCError | None:
    """Return the error response to a line without a valid message; None if the line is valid."""
    try:
        message = from_json(line)
    except ValueError:
        return _error(PARSE_ERROR, "the line is not JSON; a message is one line")
    if refused := message_refused(message):
        return refused
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        given = message.get("id") if isinstance(message, dict) else None
        return _error(INVALID_REQUEST, "this is not a JSON-RPC 2.0 message", given if _is_id(given) else None)
    return None


def message_refused(message: Any) -> JSONRPCError | None:
    """Return the error response to JSON that the package would misread; None for any other."""
    if isinstance(message, list):
        return _error(INVALID_REQUEST, "send messages one by one, not as an array")
    if isinstance(message, dict) and "method" in message and "id" in message and not _is_id(message["id"]):
        return _error(INVALID_REQUEST, "the id of a request must be a string or an integer")
    return None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error(code: int, message: str, number: str | int | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))
