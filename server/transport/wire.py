"""HTTP/1.1 as read by uvicorn and llhttp, with limits that apply before the application is called.

| limit | effect |
|---|---|
| bytes and number of a request's headers, request line included | 431, closed |
| seconds until the headers have arrived | 408, closed |
| seconds in which a reader must take sent data | closed |
| open connections | the longest idle or refused one is closed; if all are busy, the newest: 429 |
"""

import asyncio
import json
from enum import Enum
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.monitoring import metrics
from server.problems.details import MEDIA_TYPE, described
from server.transport.headers import ALWAYS

MOST_HEAD_BYTES = 32_768
MOST_HEADERS = 100
HEAD_S = 10.0
TAKEN_WITHIN_S = 60.0


class Refusal(Enum):
    """Reason for answering without the application: status, code, and message."""

    UNREADABLE = (400, "no-http", "the data is not an HTTP request")
    TOO_LARGE = (
        431,
        "head-too-large",
        f"a request may have {MOST_HEAD_BYTES:,} bytes of headers, {MOST_HEADERS} headers",
    )
    TOO_SLOW = (408, "too-slow-to-arrive", f"the headers did not arrive within {HEAD_S:g} s")
    TOO_MANY = (429, "too-many-connections", "too many connections are open")

    @property
    def status(self) -> int:
        """The status of the answer."""
        return self.value[0]

    def answer(self) -> bytes:
        """Return the whole response, after which the connection is closed."""
        status, code, detail = self.value
        body = json.dumps(described(status, code, detail)).encode()
        headers = {
            "Connection": "close",
            "Content-Type": MEDIA_TYPE,
            "Content-Length": str(len(body)),
            **({"Retry-After": "1"} if self is Refusal.TOO_MANY else {}),
            **ALWAYS,
        }
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *map(": ".join, headers.items()), "", ""]
        return "\r\n".join(lines).encode() + body


class HeadTooLarge(Exception):
    """Stop the parser in the middle of the headers."""


class TargetRefused(Exception):
    """Stop the parser: the request target is not a path of this server."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection of a caller."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Expect the headers of the first request."""
        super().__init__(*args, **options)
        self.is_held = False  # the delayed answer is a refusal: the connection may be closed
        self._in_head = True
        self._head_bytes = 0
        self._too_large = False
        self._timer: asyncio.TimerHandle | None = None
        self._unsent: asyncio.TimerHandle | None = None
        self._last_heard = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and close another one if there are too many."""
        super().connection_made(transport)
        metrics.CONNECTIONS.inc()
        self._last_heard = self.loop.time()
        self._expect_head()
        services = self.app_state.get("services")
        if services and len(self.connections) > services.server.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        super().connection_lost(exc)
        metrics.CONNECTIONS.dec()
        self._stop_timer()
        self._taken()

    def data_received(self, data: bytes) -> None:
        """Parse data, unless the headers are too large."""
        if self.transport.is_closing():
            return
        self._last_heard = self.loop.time()
        if self._in_head:
            self._head_bytes += len(data)
            if self._timer is None:
                self._expect_head()
        super().data_received(data)
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(Refusal.TOO_LARGE)

    def pause_writing(self) -> None:
        """Wait until the reader takes the sent data, up to a time limit."""
        super().pause_writing()
        self._unsent = self.loop.call_later(TAKEN_WITHIN_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue, as the reader has taken the data."""
        super().resume_writing()
        self._taken()

    def on_url(self, url: bytes) -> None:
        """Add a part of the address."""
        super().on_url(url)
        if len(self.url) > MOST_HEAD_BYTES:
            self._end_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header."""
        super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            self._end_head()

    def on_headers_complete(self) -> None:
        """Check the headers, and start to answer."""
        if sum(len(name) + len(value) + 4 for name, value in self.headers) > MOST_HEAD_BYTES:
            self._end_head()
        self._in_head = False
        self._stop_timer()
        if not self.url.startswith((b"/", b"*")):  # a request to a proxy, for another host
            raise TargetRefused
        self.scope["state"]["connection"] = self
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect the headers of the next request."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def send_400_response(self, msg: str) -> None:
        """Answer data that is not HTTP, or has too large headers."""
        del msg  # the library's message
        self._refuse(Refusal.TOO_LARGE if self._too_large else Refusal.UNREADABLE)

    def _end_head(self) -> None:
        self._too_large = True
        raise HeadTooLarge

    def _expect_head(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(HEAD_S, self._head_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _taken(self) -> None:
        if self._unsent is not None:
            self._unsent.cancel()
            self._unsent = None

    def _head_late(self) -> None:
        self._timer = None
        if self._is_idle:
            self._refuse(Refusal.TOO_SLOW)
        else:
            self._expect_head()

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _make_room(self) -> None:
        """Close the connection that has been idle longest, or this one; a delayed refusal counts as idle."""
        idle = [
            each
            for each in self.connections
            if isinstance(each, BoundedProtocol) and each is not self and (each._is_idle or each.is_held)  # noqa: SLF001
        ]
        if idle:
            min(idle, key=lambda each: each._last_heard).transport.abort()  # noqa: SLF001
        else:
            self._refuse(Refusal.TOO_MANY)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer instead of the application, and close; in the middle of a response only close."""
        if self.cycle and not self._is_idle:
            if self.cycle.response_started or not self.cycle.more_body:  # the data belongs to the next call
                self.transport.abort()
                return
            self.cycle.disconnected = True  # the application's response is dropped
            self.cycle.message_event.set()
        metrics.REFUSED.labels("connection", str(refusal.status)).inc()
        self.transport.write(refusal.answer())
        self.transport.close()
