"""Recording and replaying of language model calls at the HTTP layer."""

import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import httpx

UNLIMITED = httpx.Limits(max_connections=None, max_keepalive_connections=None)
COUNT = re.compile(rb'"completion_tokens":\s*(\d+)')


@dataclass(slots=True)
class Call:
    """One request and its response, with times of a monotonic clock in seconds."""

    url: str
    body: bytes
    began: float
    ended: float = 0.0
    response: httpx.Response = field(default_factory=lambda: httpx.Response(0))
    content: bytes = b""

    @property
    def is_chat(self) -> bool:
        """Check for a model call, rather than a request for tokens or models."""
        return self.url.endswith("/chat/completions")

    @property
    def seconds(self) -> float:
        """The time from sending to the last byte of the response, of model and server."""
        return self.ended - self.began


def tokens_of(answer: bytes) -> int:
    """Return the number of tokens reported by the server: the last count in a response."""
    counts = COUNT.findall(answer)
    return int(counts[-1]) if counts else 0


class RecordingTransport(httpx.AsyncBaseTransport):
    """A network transport that records requests and responses in `calls`."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._network = httpx.AsyncHTTPTransport(limits=UNLIMITED, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and record its response while it is read."""
        call = Call(str(request.url), await request.aread(), time.perf_counter())
        self.calls.append(call)
        call.response = await self._network.handle_async_request(request)
        return httpx.Response(
            call.response.status_code, headers=call.response.headers, stream=_KeptStream(call)
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._network.aclose()


class _KeptStream(httpx.AsyncByteStream):
    def __init__(self, call: Call) -> None:
        self._call = call

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._call.response.aiter_raw():
            self._call.content += piece
            self._call.ended = time.perf_counter()
            yield piece

    async def aclose(self) -> None:
        await self._call.response.aclose()


def replaying_transport(calls: Iterable[Call]) -> httpx.MockTransport:
    """Return a transport that returns recorded responses immediately, by address and body."""
    answers = {(call.url, call.body): call for call in calls}

    async def answer(request: httpx.Request) -> httpx.Response:
        call = answers[str(request.url), await request.aread()]
        headers = call.response.headers
        return httpx.Response(call.response.status_code, headers=headers, content=call.content)

    return httpx.MockTransport(answer)
