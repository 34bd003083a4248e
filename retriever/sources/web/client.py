"""Requests to a service, with a rate limit, retries, and bounds on bytes and time.

A redirect is an error. All sources on one host share its rate limit. No message contains a key.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from urllib.parse import quote, quote_plus, urlsplit

import httpx

from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import exchange, open_client
from base.untrusted import message_in, one_line

MOST_BYTES = 16_000_000  # of an answer; valid answers are much smaller
LONGEST_PAUSE_S = 60.0  # maximum pause of all sources on the request of a host
MOST_NOTES = 3  # on failures of one call
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


class RateLimit:
    """The times at which requests to one host may be sent."""

    def __init__(self, per_second: float = inf) -> None:
        self.interval, self._free_at = 1 / per_second, 0.0

    def take(self, longest: float = inf) -> float:
        """Reserve a turn, and return the seconds until then; nothing is reserved beyond the longest wait."""
        now = time.monotonic()
        turn = max(now, self._free_at)
        if turn - now < longest:
            self._free_at = turn + self.interval
        return turn - now

    def pause(self, seconds: float) -> None:
        """Block all requests for a time that the host requested."""
        self._free_at = max(self._free_at, time.monotonic() + seconds)


_rates: dict[str, RateLimit] = {}  # by host and port; the slowest requested rate applies


class NoAnswer(Exception):
    """A service does not answer, or sends an answer of another form; the message contains no key."""

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

    @classmethod
    def of_json(cls, path: str, parameters: Mapping[str, str], value: object) -> "WebRequest":
        """Return a POST of a value as JSON."""
        return cls(path, parameters, json.dumps(value, ensure_ascii=False).encode())


@dataclass(slots=True)
class Call:
    """One call of a source: its deadline by the event loop's clock, and the record of its requests."""

    until: float
    requests: int = 0
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def left(self) -> float:
        """The seconds left."""
        return self.until - asyncio.get_running_loop().time()

    def require(self, found: object, questions: int = 1) -> None:
        """Raise NoAnswer if nothing was found, and as many requests failed as there are questions."""
        if not found and len(self.failures) >= max(1, questions):
            raise NoAnswer(self.failures[0])

    def all_notes(self, questions: int) -> tuple[str, ...]:
        """Return the notes, each once, with the first failures of the questions."""
        how_many = f"{min(len(self.failures), questions)} of {questions} requests were not answered in full"
        failed = [f"{how_many}: {why}" for why in dict.fromkeys(self.failures)][:MOST_NOTES]
        return tuple(dict.fromkeys((*self.notes, *failed)))


@dataclass(eq=False)
class WebClient:
    """The connections to one service, opened when needed; certificates are loaded here."""

    url: str
    request_s: float  # seconds for one request
    per_second: float | None = None  # requests to the host; None for no limit
    at_once: int | None = None  # concurrent requests; None for no limit
    retries: int = 2  # further requests after one that failed
    most_bytes: int = MOST_BYTES  # of an answer
    headers: Mapping[str, str] = field(default_factory=dict)  # of all requests
    secrets: Sequence[str] = ()  # no message contains them
    ca_certs: Path | None = None  # certificate authorities of the server
    transport: httpx.AsyncBaseTransport | None = None  # sends the requests instead of the network

    def __post_init__(self) -> None:
        self._rate = RateLimit()
        if self.per_second:
            self._rate = _rates.setdefault(urlsplit(self.url).netloc, self._rate)
            self._rate.interval = max(self._rate.interval, 1 / self.per_second)
        self._places = asyncio.Semaphore(self.at_once) if self.at_once else nullcontext()
        self._client = open_client(
            self.url,
            None,
            ca_certs=self.ca_certs,
            connections=self.at_once,
            headers=self.headers,
            transport=self.transport,
        )

    async def send(self, request: WebRequest, call: Call) -> bytes:
        """Return the answer to a request.

        Raises:
            NoAnswer: the service times out, refuses, or redirects.
        """
        for tries, pause in enumerate(growing_pauses(), 1):
            wait = self._rate.take(call.left)
            if wait >= call.left:
                raise NoAnswer("its rate limit or its requested pause exceeds the time limit")
            await asyncio.sleep(wait)
            call.requests += 1
            try:
                return await self._send_once(request, call)
            except NoAnswer as failure:
                wait = max(pause, failure.retry_s)
                if tries > self.retries or wait >= call.left:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("pauses have no end")

    async def _send_once(self, request: WebRequest, call: Call) -> bytes:
        address = httpx.URL(f"{self.url}{request.path}", params=dict(request.parameters) or None)
        posts = request.content is not None
        try:
            async with self._places:
                response = await exchange(
                    self._client,
                    "POST" if posts else "GET",
                    str(address),
                    request.content,
                    headers={"Content-Type": request.content_type} if posts else {},
                    seconds=max(0.001, min(self.request_s, call.left)),
                    most_bytes=self.most_bytes,
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            transient = isinstance(error, httpx.NetworkError | httpx.TimeoutException)
            said = str(error) or type(error).__name__
            raise NoAnswer(self.line(f"no usable response: {said}"), 0.0 if transient else inf) from None
        status = response.status_code
        if response.is_success:
            return response.content
        if response.is_redirect:
            raise NoAnswer(f"it redirects elsewhere ({status}), which is not followed")
        content = response.content[:10_000]
        said = "" if b"<" in content[:200] else message_in(content)
        retry_s = inf
        if status in TRANSIENT_STATUSES:
            retry_s = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0
            self._rate.pause(min(retry_s, LONGEST_PAUSE_S))
        raise NoAnswer(self.line(f"it answers {status}{said and f': {said}'}"), retry_s)

    def line(self, text: str) -> str:
        """Make one line without secrets, in plain form or encoded for an address or JSON."""
        for secret in filter(None, self.secrets):
            for form in (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]):
                text = text.replace(form, "***")
        return one_line(text)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
