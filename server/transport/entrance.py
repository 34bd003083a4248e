"""The entrance: all checks of a call before its body is read, and the headers of every response.

A refusal here costs a fraction of a millisecond: the server can refuse many times more calls than it can
answer. The next check, `server.limits.gate`, depends on the work of the call.
"""

import asyncio
import re
import time
from datetime import UTC, datetime
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.access.authentication import caller_of, cookie_name, deleted_cookie
from server.access.callers import Caller, Visit, enter
from server.access.origins import Origins
from server.errors import (
    AddressTooLong,
    BodyTooLarge,
    BodyTooSlow,
    CallerGone,
    ServerError,
    SessionEnded,
    StoreUnusable,
    Unauthorized,
)
from server.limits.counting import Rate
from server.limits.gate import Work
from server.monitoring import metrics
from server.monitoring.audit import NOT_LET_IN
from server.problems import error_response
from server.services import Services
from server.settings import ServerSettings

# Paths that need no key: the page's files, the API's description, and liveness.
OPEN_PATHS = frozenset(
    (
        "/ /find /operator /docs /openapi.json /opensearch.xml /favicon.ico /robots.txt /healthz /readyz "
        "/api/v1/session /sign-in /sign-in/callback /sign-in/back-channel-logout"
    ).split()
)
FEEDS = "/feeds/"  # the address of a feed contains the feed's own key
# Agents look in /.well-known/ for other ways to sign in.
OPEN_FOLDERS = ("/page/", "/docs/", "/.well-known/", FEEDS)
# The work of a call by its path; on other paths the route calls the gate.
SEARCHES = "search keywords queries explain facets export record rerun".split()
WORK_OF: dict[str, Work] = {
    **{f"/api/v1/{name}": "search" for name in SEARCHES},
    "/plain": "search",
    "/api/v1/ask": "ask",
    "/api/v1/find-papers": "ask",
    "/v1/chat/completions": "ask",
    "/mcp": "read",  # the work of a tool is counted when it is called
    "/mcp/": "read",
}
EXPORT = "/api/v1/export"
OF_A_BODY = frozenset({b"content-length", b"transfer-encoding"})
SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
WRONG_KEYS = Rate(per_minute=60, burst=20)  # per address
MOST_OF_ANYBODY = 4_096  # bytes of a call without a key: it may contain a key for signing in
LONGEST_URL = 16_000  # bytes of path and query: a question in an address may have thousands of letters
SESSION = "/api/v1/session"
AUDITED = frozenset({SESSION, "/sign-in/callback", "/sign-in/back-channel-logout"})
# Only content of this server is run, shown or requested; no inline script and no inline style.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' data:; "
    "font-src 'self'; "
    "connect-src 'self'; "
    "manifest-src 'self'; "
    "form-action 'self'; "
    "frame-ancestors 'none'; "
    "base-uri 'none'"
)
ALWAYS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",  # overridden by routes whose responses may be cached
}
ONE_YEAR_S = 31_536_000

Headers = list[tuple[bytes, bytes]]


class Entrance:
    """The outermost layer of the application, for all endpoints."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        """Wrap an application."""
        self._app = app
        self._settings = settings
        self._origins = Origins.of(settings)
        self._headers = default_headers(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Admit a call, or answer with the reason of the refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        services: Services = scope["state"]["services"]
        visit = Visit(_request_id(scope), Caller((scope.get("client") or ("", 0))[0]))
        enter(scope, visit)
        structlog.contextvars.bind_contextvars(request_id=visit.request_id)
        answer = _Answer(send, visit, self._headers)
        try:
            receive = await self._admit(scope, receive, services, visit)
        except CallerGone:
            return
        except ServerError as error:
            # The rest of the body is not awaited.
            answer.closes = any(name in OF_A_BODY and value != b"0" for name, value in scope["headers"])
            await error_response(error, scope)(scope, receive, answer.send)
        else:
            await self._pass_on(scope, receive, answer)
        finally:
            self._note(scope, services, visit, answer)

    async def _admit(self, scope: Scope, receive: Receive, services: Services, visit: Visit) -> Receive:
        """Check a call and read its body; return a `receive` for it.

        Raises:
            ServerError: the call is refused.
        """
        headers = scope["headers"]
        host = self._origins.check_host(headers)
        if len(scope.get("raw_path", b"")) + len(scope["query_string"]) > LONGEST_URL:
            raise AddressTooLong(f"an address may have at most {LONGEST_URL:,} bytes")
        path = scope["path"]
        is_open = _is_open(path)
        try:
            visit.caller = caller_of(scope, services.keys, self._settings, services.sign_in)
        except (Unauthorized, StoreUnusable) as error:
            if isinstance(error, SessionEnded):
                if not is_open or (path == SESSION and scope["method"] == "GET"):  # others set or cache it
                    visit.headers.append(deleted_cookie(cookie_name(scope, self._settings)))
            elif isinstance(error, Unauthorized) and (not is_open or path in AUDITED):
                count_wrong_key(services, visit.caller)
            if not is_open:
                raise
        self._origins.check_origin(
            scope["method"], host, scope["scheme"], headers, by_browser=visit.caller.is_sent_by_browser
        )
        if not is_open:
            visit.caller.require("reader")
        # Exports of a librarian have no rate, unless the key has limits of its own.
        has_own_rate = visit.caller.per_minute is not None
        visit.is_unmetered = path == EXPORT and visit.caller.has("librarian") and not has_own_rate
        if (work := WORK_OF.get(path)) and scope["method"] != "OPTIONS":
            services.gate.check(visit, work)
        settings = self._settings
        most = min(MOST_OF_ANYBODY, settings.body_bytes) if is_open else settings.body_bytes
        return replayed(await _read_body(receive, most, settings.body_s), receive)

    async def _pass_on(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        if scope["method"] == "HEAD":  # handled as GET; the HTTP server omits the body
            scope = {**scope, "method": "GET"}
        try:
            await self._app(scope, receive, answer.send)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # The reader has left; there is nobody to answer.
        except Exception as error:
            if answer.status:
                raise
            await error_response(error, scope)(scope, receive, answer.send)

    def _note(self, scope: Scope, services: Services, visit: Visit, answer: "_Answer") -> None:
        """Count and time the call, and write it to the audit log."""
        seconds = time.perf_counter() - answer.began
        route = getattr(scope.get("route"), "path", "") or (scope["path"] if scope["path"] in WORK_OF else "")
        method = scope["method"] if scope["method"] in metrics.METHODS else "other"
        metrics.CALLS.labels(route, method, answer.status).inc()
        metrics.SECONDS.labels(route).observe(seconds)
        if answer.first_event_s is not None:
            metrics.FIRST_EVENT.labels(route).observe(answer.first_event_s)
        caller = visit.caller
        hits = visit.counts.get("hits", visit.counts.get("papers"))
        if hits is not None:
            services.statistics.note(visit.index, visit.question, hits, caller.counted_as)
        record = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "request_id": visit.request_id,
            "key": caller.key_id or None,
            "label": None if caller.person else caller.label or None,
            **({"person": caller.person, "role": caller.role} if caller.person else {}),
            **({"event": visit.event} if visit.event else {}),
            **({"reason": visit.reason} if visit.reason else {}),
            "address": caller.address,
            "method": method,
            "route": route,
            "index": visit.index or None,
            "status": answer.status,
            "milliseconds": round(seconds * 1_000, 1),
            **visit.counts,
        }
        path = scope["path"]
        # What a person searches and reads is recorded nowhere.
        is_private = caller.person and not visit.event and answer.status not in NOT_LET_IN
        if is_private:
            record["address"] = None
        is_open = _is_open(path) and not path.startswith(FEEDS)
        is_audited = (path in AUDITED or not is_open) and (not is_private or visit.is_privileged)
        services.calls.note(record, caller=caller.counted_as, is_audited=is_audited)


async def _read_body(receive: Receive, most: int, seconds: float) -> bytes:
    """Read a body to its end.

    Raises:
        BodyTooLarge: the rest is not read.
        BodyTooSlow: the body is late.
        CallerGone: the caller left in the meantime.
    """
    body, more = b"", True
    try:
        async with asyncio.timeout(seconds):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise CallerGone("the caller has left")
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > most:
                    raise BodyTooLarge(f"a call may have at most {most:,} bytes")
    except TimeoutError:
        raise BodyTooSlow(f"the call did not arrive within {seconds:g} seconds") from None
    return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields a body that was already read, then the messages of the connection."""
    pending = [True]

    async def replay() -> Message:
        if pending:
            pending.clear()
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


def _is_open(path: str) -> bool:
    """Check whether a path needs no key."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


class _Answer:
    """A response: its status, and the time of its first event."""

    def __init__(self, send: Send, visit: Visit, headers: list[tuple[bytes, bytes]]) -> None:
        self._send, self._visit, self._headers = send, visit, headers
        self._streams = False
        self.began = time.perf_counter()
        self.closes = False
        self.status = 0
        self.first_event_s: float | None = None

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = [*message.get("headers", ()), *self._visit.headers]
            own.append((b"x-request-id", self._visit.request_id.encode()))
            if self.closes:
                own.append((b"connection", b"close"))
            self._streams = any(
                name.lower() == b"content-type" and value.startswith(b"text/event-stream")
                for name, value in own
            )
            message = {**message, "headers": with_defaults(own, self._headers)}
        elif self._streams and self.first_event_s is None and message.get("body"):
            self.first_event_s = time.perf_counter() - self.began
        await self._send(message)


def _request_id(scope: Scope) -> str:
    """Return the caller's request id if it is well-formed, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and SANE_ID.fullmatch(value):
            return str(value, "ascii")
    return uuid4().hex[:16]


def count_wrong_key(services: Services, caller: Caller) -> None:
    """Raise TooOften if the caller has tried many wrong keys."""
    name = f"wrong key {caller.counted_as}"
    services.gate.buckets.require(name, WRONG_KEYS, "too many wrong keys from this address")


def default_headers(settings: ServerSettings) -> Headers:
    """Return the default headers of every response."""
    headers = dict(ALWAYS)
    if settings.behind_https:
        headers["strict-transport-security"] = f"max-age={ONE_YEAR_S}"
    if settings.origins:  # pages of other sites may read responses
        headers["cross-origin-resource-policy"] = "cross-origin"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def with_defaults(given: Headers, defaults: Headers) -> Headers:
    """Return a response's headers, completed by the defaults."""
    headers = [(name.lower(), value) for name, value in given]
    names = {name for name, _ in headers}
    return headers + [default for default in defaults if default[0] not in names]
