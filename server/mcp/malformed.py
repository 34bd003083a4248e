"""What is no message of JSON-RPC 2.0 that the protocol takes, and how its sender is told.

https://www.jsonrpc.org/specification, section 5.1: the id of an error is null where that of the request could
not be told.
"""

from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json


def line_refused(line: str) -> JSONRPCError | None:
    """Return what a line is answered that holds no message; None for one that does."""
    try:
        message = from_json(line)
    except ValueError:
        return _error(PARSE_ERROR, "the line is no JSON; a message is one line")
    if refused := message_refused(message):
        return refused
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        given = message.get("id") if isinstance(message, dict) else None
        return _error(INVALID_REQUEST, "this is no message of JSON-RPC 2.0", given if _is_id(given) else None)
    return None


def message_refused(message: Any) -> JSONRPCError | None:
    """Return what is answered to JSON that the package takes for what it is not; None for the rest."""
    if isinstance(message, list):
        return _error(INVALID_REQUEST, "messages come one by one, not as an array of messages")
    if isinstance(message, dict) and "method" in message and "id" in message and not _is_id(message["id"]):
        return _error(INVALID_REQUEST, "the id of a request is a text or a whole number")
    return None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error(code: int, message: str, number: str | int | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))
