"""Requests to a service, with a rate limit, retries, and bounds on bytes and time.

A redirect is an error. All sources on one host share its rate limit. No message contains a key.
"""

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from math import inf
from pathlib import Path
from urllib.parse import quote, quote_plus, urlencode, urlsplit

import httpx

from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import exchange, open_client
from base.untrusted import message_in, one_line

MOST_BYTES = 16_000_000  # of an answer; valid answers are much smaller
LONGEST_PAUSE_S = 60.0  # maximum pause of all sources on the request of a host
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class RateLimit:
    """The times at which requests to one host may be sent; for callers on any event loop."""

    def __init__(self, per_second: float = inf) -> None:
        self._interval, self._free_at = 1 / per_second, 0.0
        self._lock = threading.Lock()

    def slow_to(self, per_second: float) -> "RateLimit":
        """Lower the rate if it is higher."""
        self._interval = max(self._interval, 1 / per_second)
        return self

    def take(self, longest: float = inf) -> float:
        """Reserve a turn, and return the seconds until then; nothing is reserved beyond the longest wait."""
        with self._lock:
            turn = max(time.monotonic(), self._free_at)
            wait = turn - time.monotonic()
            if wait < longest:
                self._free_at = turn + self._interval
            return max(0.0, wait)

    def pause(self, seconds: float) -> None:
        """Block all requests for a time that the host requested."""
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic() + seconds)


_rates: dict[str, RateLimit] = {}  # by host and port; the slowest requested rate applies


class Unanswered(Exception):
    """A service does not answer, or sends an invalid answer; the message contains no key."""

    def __init__(self, why: str, retry_s: float = inf) -> None:
        """Take the reason, and the least wait before a retry, infinite if it is useless."""
        super().__init__(why)
        self.retry_s = retry_s


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request as a value: parameters go into the address, content makes it a POST."""

    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    content_type: str = JSON
    absent: bytes | None = None  # the answer that 404 stands for, None for a failure

    @classmethod
    def of_json(cls, path: str, parameters: Mapping[str, str], value: object) -> "WebRequest":
        """Return a POST of a value as JSON."""
        return cls(path, parameters, json.dumps(value, ensure_ascii=False).encode())

    @classmethod
    def of_form(cls, path: str, fields: list[tuple[str, str]]) -> "WebRequest":
        """Return a POST of a form, so that the address contains no key or long query."""
        return cls(path, {}, urlencode(fields).encode(), FORM)


@dataclass(slots=True)
class Call:
    """The requests of one call of a source: their deadline by the event loop's clock, and their number."""

    until: float
    requests: int = 0

    @property
    def left(self) -> float:
        """The seconds left."""
        return self.until - asyncio.get_running_loop().time()


class WebClient:
    """The connections to one service."""

    def __init__(  # noqa: PLR0913 - one for each limit
        self,
        url: str,
        *,
        request_s: float,
        per_second: float | None = None,
        at_once: int | None = None,
        retries: int = 2,
        most_bytes: int = MOST_BYTES,
        headers: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
        ca_certs: Path | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Create a client, which connects when needed; certificates are loaded here.

        Args:
            url: address of the service.
            request_s: seconds for one request.
            per_second: requests to the host; None for no limit.
            at_once: concurrent requests; None for no limit.
            retries: further requests after one that failed.
            most_bytes: of an answer.
            headers: of all requests.
            secrets: no message contains them.
            ca_certs: certificate authorities of the server.
            transport: sends the requests instead of the network.
        """
        self._url, self._request_s, self._retries, self._most_bytes = url, request_s, retries, most_bytes
        self.secrets = [secret for secret in secrets if secret]  # may be changed later
        self._rate = RateLimit()
        if per_second:
            self._rate = _rates.setdefault(urlsplit(url).netloc, self._rate).slow_to(per_second)
        self._places = asyncio.Semaphore(at_once) if at_once else nullcontext()
        self._client = open_client(
            url, None, ca_certs=ca_certs, connections=at_once, headers=headers or {}, transport=transport
        )

    async def send(self, request: WebRequest, call: Call) -> bytes:
        """Return the answer to a request.

        Raises:
            Unanswered: the service times out, refuses, or redirects.
        """
        for tries, pause in enumerate(growing_pauses(), 1):
            wait = self._rate.take(call.left)
            if wait >= call.left:
                raise Unanswered("its rate limit or its requested pause exceeds the time limit")
            await asyncio.sleep(wait)
            call.requests += 1
            try:
                return await self._answer(request, call)
            except Unanswered as failure:
                wait = max(pause, failure.retry_s)
                if tries > self._retries or wait >= call.left:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("pauses have no end")

    async def _answer(self, request: WebRequest, call: Call) -> bytes:
        """Send a request once."""
        address = httpx.URL(f"{self._url}{request.path}", params=dict(request.parameters) or None)
        try:
            async with self._places:
                response = await exchange(
                    self._client,
                    "GET" if request.content is None else "POST",
                    str(address),
                    request.content,
                    headers={} if request.content is None else {"Content-Type": request.content_type},
                    seconds=max(0.001, min(self._request_s, call.left)),
                    most_bytes=self._most_bytes,
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            transient = isinstance(error, httpx.NetworkError | httpx.TimeoutException)
            raise Unanswered(self.line(_why(error)), 0.0 if transient else inf) from None
        status = response.status_code
        if response.is_success:
            return response.content
        if status == HTTPStatus.NOT_FOUND and request.absent is not None:
            return request.absent
        if response.is_redirect:
            raise Unanswered(f"it redirects elsewhere ({status}), which is not followed")
        content = response.content[:10_000]
        said = "" if b"<" in content[:200] else message_in(content)
        asked = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0
        if asked and status in TRANSIENT_STATUSES:
            self._rate.pause(min(asked, LONGEST_PAUSE_S))
        retry_s = asked if status in TRANSIENT_STATUSES else inf
        raise Unanswered(self.line(f"it answers {status}{said and f': {said}'}"), retry_s)

    def line(self, text: str) -> str:
        """Make one line without secrets, in plain form or encoded for an address or JSON."""
        for secret in self.secrets:
            for form in (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]):
                text = text.replace(form, "***")
        return one_line(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _why(error: Exception) -> str:
    said = str(error) or type(error).__name__
    match error:
        case httpx.ReadTimeout():
            return f"it {said}"
        case httpx.TimeoutException():
            return "it cannot be reached in time"
        case httpx.DecodingError() | httpx.RemoteProtocolError():
            return f"it breaks off: {said}"
        case _:
            return f"it cannot be reached: {said}"
