"""The body of a call, read whole before anything is done with it: so many bytes, in so much time, so deep."""

import asyncio
import re
from dataclasses import dataclass

from starlette.types import Message, Receive, Scope

from server.errors import BadRequest, BodyTooDeep, BodyTooLarge, BodyTooSlow, CallerGone, TooBusy

SKIPPED_BYTES = 65_536
DEEPEST = 64  # brackets in one another
STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
BRACKETS = re.compile(rb"[\[\]{}]")
OPENING = b"[{"


@dataclass(slots=True)
class Reading:
    """How many bytes of calls that have not wholly arrived a process holds, and may hold."""

    most: int
    held: int = 0


def is_cheap_to_skip(scope: Scope) -> bool:
    """Tell whether a call has no body, or one so small that it may arrive though nobody reads it."""
    try:
        length = declared_length(scope)
    except BadRequest:
        return False
    return length is not None and length <= SKIPPED_BYTES


def declared_length(scope: Scope) -> int | None:
    """Return how many bytes a call says that it has, 0 where it has no body, None where that is not said.

    Raises:
        BadRequest: it says two things.
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


async def read_body(scope: Scope, receive: Receive, reading: Reading, *, most: int, seconds: float) -> bytes:
    """Read a body to its end.

    Raises:
        BodyTooLarge: nothing further is read.
        TooBusy: so are too many bytes of other calls.
        BodyTooSlow, BodyTooDeep: of it all has been read, or what came in time.
        CallerGone: the caller left meanwhile.
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
                    raise CallerGone
                piece = message.get("body", b"")
                more = message.get("more_body", False)
                size += len(piece)
                if size > most:
                    raise _too_large(most)
                pieces.append(piece)
                reading.held += len(piece)
                if more and reading.held > reading.most:
                    raise TooBusy("too many calls are being read; come again in a moment", retry_after_s=1)
    except TimeoutError:
        raise BodyTooSlow(f"the call did not arrive within {seconds:g} seconds") from None
    finally:
        reading.held -= sum(map(len, pieces))
    body = b"".join(pieces)
    if nested_deeper_than(DEEPEST, body):
        raise BodyTooDeep(f"the JSON is nested more than {DEEPEST} deep")
    return body


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"a call may have at most {most:,} bytes")


def nested_deeper_than(depth: int, body: bytes) -> bool:
    """Tell whether brackets outside of strings lie in one another that deep."""
    if body.count(b"[") + body.count(b"{") <= depth:
        return False
    deep = 0
    for bracket in BRACKETS.findall(STRINGS.sub(b"", body)):
        deep += 1 if bracket in OPENING else -1
        if deep > depth:
            return True
    return False


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and after it what the connection has to say."""
    pending = [True]

    async def replay() -> Message:
        if pending:
            pending.clear()
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay
