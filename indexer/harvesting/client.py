"""Requests to a repository: one at a time, with a pause between them, retries, and bounds on bytes and time.

A pause that the repository requests (Retry-After) is kept, up to the longest one of the settings. Redirects
are followed on the same host only, since the operator named the host and nothing else.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal, Self, TypeVar

import httpx

from base.amounts import plain
from base.logs import get_logger
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses, retry_after_s
from base.net.http_client import ResponseTooLarge, exchange, open_client
from base.net.user_agent import user_agent
from base.untrusted import message_in, one_line
from indexer.harvesting.answer_parser import Malformed
from indexer.harvesting.repository import Repository
from indexer.settings import HarvestSettings

log = get_logger("harvest")

Answer = TypeVar("Answer")
Pause = Callable[[float], Awaitable[Any]]
# unreachable: no answer, or a request to wait; server: 500; refused: 400, 404 and others; forbidden: 401, 403
# and redirects to other hosts; unreadable: no valid XML.
FailureKind = Literal["unreachable", "server", "refused", "forbidden", "unreadable"]
MOST_REDIRECTS = 5
LONGEST_OWN_PAUSE_S = 60.0  # between retries that the repository did not request
WAITING_STATUSES = frozenset({408, 425, 429, 502, 503, 504})  # no fault of the request
FORBIDDEN = frozenset({401, 403})
DEFAULT_PORTS = {"http": 80, "https": 443}


class RequestFailed(Exception):
    """A request that failed after its retries; the message is the reason."""

    def __init__(self, kind: FailureKind, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class _Transient(Exception):
    """A failure after which a retry may succeed; `wait_s` is the requested pause in seconds."""

    def __init__(self, kind: FailureKind, why: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.kind = kind
        self.wait_s = wait_s


@dataclass(slots=True)
class RequestCounts:
    """Numbers of requests and retries of one call."""

    requests: int = 0
    retries: int = 0


@dataclass(slots=True)
class RepositoryClient:
    """The connection to one repository; a context manager that closes it."""

    repository: Repository
    settings: HarvestSettings
    pause: Pause = asyncio.sleep
    counts: RequestCounts = field(default_factory=RequestCounts)
    _client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Open the client, which connects with the first request."""
        headers = {"User-Agent": user_agent(self.settings.contact), "Accept": "text/xml, */*;q=0.1"}
        if "@" in self.settings.contact and "://" not in self.settings.contact:
            headers["From"] = self.settings.contact
        # A redirect may lead from http to https.
        address = f"https://{self.repository.host}"
        self._client = open_client(address, None, connections=1, headers=headers)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        if self._client:
            await self._client.aclose()

    async def ask(
        self, arguments: dict[str, str], parse: Callable[[bytes], Answer], *, retries: int | None = None
    ) -> Answer:
        """Send a request and parse its answer, with retries.

        Args:
            arguments: verb and arguments of the request.
            parse: parses the content; raises Malformed for an invalid answer, which is requested again.
            retries: maximum number of retries; default is the setting, which is never exceeded.

        Raises:
            RequestFailed: the last retry failed, a retry is useless, or the requested pause is too long.
        """
        pauses = growing_pauses(longest_s=min(LONGEST_OWN_PAUSE_S, self.settings.longest_pause_s))
        most = self.settings.retries if retries is None else min(retries, self.settings.retries)
        for done, own_pause in enumerate(pauses):
            try:
                return parse(await self._send(self.repository.request(arguments)))
            except (_Transient, Malformed) as failure:
                kind = failure.kind if isinstance(failure, _Transient) else "unreadable"
                wait = failure.wait_s if isinstance(failure, _Transient) else 0.0
                if done >= most:
                    raise RequestFailed(kind, str(failure)) from None
                if wait > self.settings.longest_pause_s:
                    raise RequestFailed(
                        "unreachable", f"it requests a pause of {plain(wait)} s ({failure})"
                    ) from None
                log.info("request repeated", repository=self.repository.name, reason=str(failure))
            self.counts.retries += 1
            await self.pause(max(wait, own_pause))
        raise AssertionError("pauses have no end")

    async def answers(self) -> bool:
        """Check whether the repository answers to Identify at all."""
        try:
            await self._send(self.repository.request({"verb": "Identify"}))
        except (_Transient, RequestFailed):
            return False
        return True

    async def _send(self, address: str) -> bytes:
        """Return the content of an answer; follow redirects on the same host."""
        for _ in range(MOST_REDIRECTS + 1):
            response = await self._exchange(address)
            location = response.headers.get("Location", "")
            if not response.has_redirect_location:
                return self._content(response)
            address = _redirected(address, location)
        raise RequestFailed("forbidden", f"it redirects more than {MOST_REDIRECTS} times")

    async def _exchange(self, address: str) -> httpx.Response:
        if self.counts.requests:
            await self.pause(self.settings.delay_s)
        self.counts.requests += 1
        if self._client is None:
            raise ValueError("the client is not open")
        seconds, most_bytes = self.settings.timeout_s, self.settings.answer_bytes
        try:
            return await exchange(self._client, "GET", address, seconds=seconds, most_bytes=most_bytes)
        except (ResponseTooLarge, httpx.DecodingError) as error:
            raise RequestFailed("unreadable", one_line(str(error))) from None
        except (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError) as error:
            raise _Transient("unreachable", _described(error)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RequestFailed("refused", _described(error)) from None

    def _content(self, response: httpx.Response) -> bytes:
        status = response.status_code
        if status == HTTPStatus.OK:
            return response.content
        content = response.content[:10_000]
        said = "" if b"<" in content[:200] else one_line(message_in(content))
        why = f"it answers {status}{said and f': {said}'}"
        if status not in TRANSIENT_STATUSES:
            raise RequestFailed("forbidden" if status in FORBIDDEN else "refused", why)
        wait = retry_after_s(response.headers.get("Retry-After", ""), datetime.now(UTC)) or 0.0
        raise _Transient("unreachable" if status in WAITING_STATUSES or wait else "server", why, wait)


def _redirected(address: str, location: str) -> str:
    """Return the address of a redirect; RequestFailed if it leads to another host, port or scheme.

    From http to https is the same host, if both have their default ports.
    """
    try:
        old, new = httpx.URL(address), httpx.URL(address).join(location)
    except (httpx.InvalidURL, ValueError):
        raise RequestFailed(
            "forbidden", f"it redirects to an invalid address ({one_line(location)})"
        ) from None
    places = [(url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme)) for url in (old, new)]
    upgraded = places == [("http", old.host, 80), ("https", old.host, 443)]
    if upgraded or places[0] == places[1]:
        return str(new)
    raise RequestFailed(
        "forbidden",
        f"it redirects to {one_line(str(new.copy_with(query=None)))}, which is not followed; "
        "name that address if it is the repository's",
    )


def _described(error: Exception) -> str:
    said = one_line(str(error))
    if isinstance(error, httpx.ReadTimeout) and said:
        return f"it {said}"
    if isinstance(error, httpx.ConnectTimeout):
        return "it cannot be reached in time"
    if isinstance(error, httpx.ConnectError):
        return f"it cannot be reached: {said}"
    return f"the answer breaks off: {said or type(error).__name__}"
