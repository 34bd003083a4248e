"""The calls of a language model at the HTTP seam, recorded and given again: what was sent and what came."""

import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import httpx

UNLIMITED = httpx.Limits(max_connections=None, max_keepalive_connections=None)
COUNT = re.compile(rb'"completion_tokens":\s*(\d+)')


@dataclass(slots=True)
class Call:
    """One request and its answer; seconds of a clock that never goes back."""

    url: str
    body: bytes
    began: float
    ended: float = 0.0
    response: httpx.Response = field(default_factory=lambda: httpx.Response(0))
    content: bytes = b""

    @property
    def is_chat(self) -> bool:
        """Tell whether the model was asked, and not only its server: for tokens, for its models."""
        return self.url.endswith("/chat/completions")

    @property
    def seconds(self) -> float:
        """The time from sending to the last byte of the answer: the model's own, and its server's."""
        return self.ended - self.began


def tokens_of(answer: bytes) -> int:
    """Return how many tokens the server says that it wrote: the last count in an answer."""
    counts = COUNT.findall(answer)
    return int(counts[-1]) if counts else 0


class RecordingTransport(httpx.AsyncBaseTransport):
    """The network, with what passes kept in `calls`."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._network = httpx.AsyncHTTPTransport(limits=UNLIMITED, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and keep its answer while it comes."""
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
    """Return a transport that gives recorded answers at once, by address and body."""
    answers = {(call.url, call.body): call for call in calls}

    async def answer(request: httpx.Request) -> httpx.Response:
        call = answers[str(request.url), await request.aread()]
        headers = call.response.headers
        return httpx.Response(call.response.status_code, headers=headers, content=call.content)

    return httpx.MockTransport(answer)
