"""The body of a call, read whole before its work, with limits of size and time."""

import asyncio

from starlette.types import Message, Receive, Scope

from server.errors import BadRequest, BodyTooLarge, BodyTooSlow, CallerGone

SKIPPED_BYTES = 65_536


def is_cheap_to_skip(scope: Scope) -> bool:
    """Check whether a call has no body, or one small enough to receive without reading it."""
    try:
        length = declared_length(scope)
    except BadRequest:
        return False
    return length is not None and length <= SKIPPED_BYTES


def declared_length(scope: Scope) -> int | None:
    """Return the length in a call's headers, 0 without a body, None if it is unknown.

    Raises:
        BadRequest: the headers contradict each other.
    """
    lengths = {value for name, value in scope["headers"] if name == b"content-length"}
    chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
    if len(lengths) > 1 or (chunked and lengths):
        raise BadRequest("the headers name several lengths", place="header.content-length")
    if chunked:
        return None
    length = lengths.pop() if lengths else b"0"
    if not length.isdigit():
        raise BadRequest("the header Content-Length must be a number", place="header.content-length")
    return int(length)


async def read_body(scope: Scope, receive: Receive, *, most: int, seconds: float) -> bytes:
    """Read a body to its end.

    Raises:
        BodyTooLarge: the rest is not read.
        BodyTooSlow: the body is late.
        CallerGone: the caller left in the meantime.
    """
    declared = declared_length(scope)
    if declared == 0:
        return b""
    if declared is not None and declared > most:
        raise _too_large(most)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise CallerGone("the caller has left")
                piece = message.get("body", b"")
                more = message.get("more_body", False)
                size += len(piece)
                if size > most:
                    raise _too_large(most)
                pieces.append(piece)
    except TimeoutError:
        raise BodyTooSlow(f"the call did not arrive within {seconds:g} seconds") from None
    return b"".join(pieces)


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"a call may have at most {most:,} bytes")


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields a body that was already read, then the messages of the connection."""
    pending = [True]

    async def replay() -> Message:
        if pending:
            pending.clear()
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay
