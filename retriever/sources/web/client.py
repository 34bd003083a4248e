"""Requests to a service, with rate limits, retries, and bounds on bytes and time.

They use a transport of httpx instead of its client, which keeps cookies and logs addresses, which may contain
questions and keys. A redirect is an error. All sources on one host share a token bucket.
"""

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from math import inf
from urllib.parse import quote, quote_plus, urlsplit

import httpx

from base.amounts import plain
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import BOUND, CONNECT_S, BoundedTransport
from base.net.user_agent import user_agent
from base.untrusted import message_in, one_line
from retriever.sources.settings import WebSettings

MOST_BYTES = 16_000_000  # of an answer; valid answers are much smaller
LONGEST_PAUSE_S = 60.0  # maximum pause of all sources on the request of a host


class TokenBucket:
    """A token bucket, filled at a rate up to its size; callers without a token get the time to wait.

    It belongs to no event loop.
    """

    def __init__(self, per_second: float, size: int = 1) -> None:
        """Start full."""
        self._per_second, self._size = per_second, size
        self._tokens, self._at = float(size), time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> float:
        """Take a token, and return the seconds to wait before its use."""
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._size, self._tokens + (now - self._at) * self._per_second)
            self._at = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self._per_second)

    def pause(self, seconds: float) -> None:
        """Block all requests for a time that the host requested."""
        with self._lock:
            self._tokens = min(self._tokens, -seconds * self._per_second)

    def put_back(self) -> None:
        """Put an unused token back into the bucket."""
        with self._lock:
            self._tokens = min(self._size, self._tokens + 1)

    def slow_to(self, per_second: float) -> None:
        """Lower the rate if it is higher."""
        with self._lock:
            self._per_second = min(self._per_second, per_second)


_buckets: dict[str, TokenBucket] = {}
_lock = threading.Lock()


def bucket_of(host: str, per_second: float) -> TokenBucket:
    """Return the bucket of a host and port; the slowest requested rate applies."""
    with _lock:
        bucket = _buckets.setdefault(host, TokenBucket(per_second))
    bucket.slow_to(per_second)
    return bucket


class Unanswered(Exception):
    """A service does not answer, or sends an invalid answer; the message contains no key."""

    requests = 0  # number of requests sent


class Busy(Unanswered):
    """A failure after which a retry may succeed; `wait_s` is the requested wait in seconds."""

    def __init__(self, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request as a value: parameters go into the address, a form or JSON into the body."""

    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    form: tuple[tuple[str, str], ...] = ()
    json: object = None
    absent: bool = False  # whether 404 means "nothing found" instead of a failure

    def message(self, url: str, headers: Mapping[str, str]) -> httpx.Request:
        """Return the HTTP request to a service at `url`."""
        address = httpx.URL(url + self.path, params=dict(self.parameters) or None)
        if self.json is not None:
            content, kind = json.dumps(self.json, ensure_ascii=False), "application/json"
        elif self.form:
            content = "&".join(f"{quote_plus(key)}={quote_plus(value)}" for key, value in self.form)
            kind = "application/x-www-form-urlencoded"
        else:
            return httpx.Request("GET", address, headers=headers)
        sent = {**headers, "Content-Type": kind}
        return httpx.Request("POST", address, headers=sent, content=content.encode())


class WebClient:
    """The connections to one service."""

    def __init__(self, settings: WebSettings, headers: Mapping[str, str]) -> None:
        """Create a client, which connects when needed."""
        self._settings = settings
        self._headers = {
            "User-Agent": user_agent(settings.contact),
            "Accept-Encoding": "identity",
            **headers,
        }
        self._transport: BoundedTransport | None = None
        self._bucket = bucket_of(urlsplit(settings.url).netloc, settings.requests_per_second)
        self._places = asyncio.Semaphore(settings.at_once)
        self._opening = asyncio.Lock()
        self._hidden = [secret.get_secret_value() for secret in settings.secrets()]
        self._own = len(self._hidden)

    def hide(self, secret: str) -> None:
        """Hide a new secret in messages, instead of the previous one."""
        self._hidden = [*self._hidden[: self._own], secret]

    async def send(self, request: WebRequest, until: float) -> tuple[bytes | None, int]:
        """Return the answer, or None for an accepted 404, and the number of requests sent.

        Args:
            request: the request.
            until: the deadline, by the event loop's clock.

        Raises:
            Unanswered: the service times out, refuses, or redirects.
        """
        sent = 0
        for pause in growing_pauses():
            try:
                await self._turn(until)
                sent += 1
                return await self._answer(request, until), sent
            except Unanswered as failure:
                wait = max(pause, failure.wait_s) if isinstance(failure, Busy) else inf
                late = asyncio.get_running_loop().time() + wait >= until
                if late or sent > self._settings.retries:
                    failure.requests = sent
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("pauses have no end")

    async def _answer(self, request: WebRequest, until: float) -> bytes | None:
        """Send a request once; Busy if a retry may succeed."""
        try:
            response = await self._exchange(request, until)
        except (httpx.NetworkError, httpx.TimeoutException) as error:
            raise Busy(self._line(_why(error))) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unanswered(self._line(_why(error))) from None
        if response.status_code == HTTPStatus.OK:
            return response.content
        if response.status_code == HTTPStatus.NOT_FOUND and request.absent:
            return None
        if response.status_code not in TRANSIENT_STATUSES:
            raise Unanswered(self._refusal(response))
        asked = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0
        if asked:
            self._bucket.pause(min(asked, LONGEST_PAUSE_S))
        raise Busy(self._refusal(response), asked)

    async def _turn(self, until: float) -> None:
        """Wait for the host's rate limit; Unanswered if that exceeds the deadline."""
        wait = self._bucket.take()
        if asyncio.get_running_loop().time() + wait >= until:
            self._bucket.put_back()
            raise Unanswered("its rate limit or its requested pause exceeds the time limit")
        await asyncio.sleep(wait)

    async def _exchange(self, request: WebRequest, until: float) -> httpx.Response:
        message = request.message(self._settings.url, self._headers)
        transport = await self._opened()
        async with self._places:
            left = until - asyncio.get_running_loop().time()  # may be negative after the wait for a place
            seconds = max(0.001, min(self._settings.request_timeout_s, left))
            message.extensions = {BOUND: MOST_BYTES, "timeout": {"connect": min(CONNECT_S, seconds)}}
            try:
                async with asyncio.timeout(seconds):
                    response = await transport.handle_async_request(message)
                    try:
                        await response.aread()
                    finally:
                        await response.aclose()
                    return response
            except TimeoutError:
                raise httpx.ReadTimeout(f"did not answer within {plain(round(seconds, 1))} s") from None

    async def _opened(self) -> BoundedTransport:
        async with self._opening:
            if self._transport is None:  # reading certificates takes long
                self._transport = await asyncio.to_thread(_connections, self._settings)
            return self._transport

    def _refusal(self, response: httpx.Response) -> str:
        status = response.status_code
        if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
            return f"it redirects elsewhere ({status}), which is not followed"
        content = response.content[:10_000]
        said = "" if b"<" in content[:200] else self._line(message_in(content))
        return f"it answers {status}{said and f': {said}'}"

    def _line(self, text: str) -> str:
        """Make one line without secrets, in plain form or encoded for an address or JSON."""
        for secret in self._hidden:
            for form in (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]):
                text = text.replace(form, "***")
        return one_line(text)

    async def close(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            await self._transport.aclose()


def _connections(settings: WebSettings) -> BoundedTransport:
    secure = settings.url.startswith("https:")
    limits = httpx.Limits(max_connections=settings.at_once)
    return BoundedTransport(httpx.AsyncHTTPTransport(verify=secure, limits=limits, trust_env=False))


def _why(error: Exception) -> str:
    match error:
        case httpx.ReadTimeout() | httpx.DecodingError() | httpx.RemoteProtocolError():
            return f"it {error}" if str(error).startswith(("did", "sends")) else f"it breaks off: {error}"
        case httpx.TimeoutException():
            return "it cannot be reached in time"
        case _:
            return f"it cannot be reached: {error}"
