"""The calls of a language model at the HTTP seam, recorded and given again: what was sent and what came."""

import re
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import httpx

CHAT = "/chat/completions"
COUNT = re.compile(rb'"completion_tokens":\s*(\d+)')


@dataclass(slots=True)
class Call:
    """One request; seconds of a clock that never goes back."""

    url: str
    body: bytes
    began: float
    ended: float = 0.0
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)

    @property
    def chat(self) -> bool:
        """Tell whether the model was asked, and not only its server: for tokens, for its models."""
        return self.url.endswith(CHAT)

    @property
    def seconds(self) -> float:
        """The time from sending to the last byte of the answer: the model's own, and its server's."""
        return self.ended - self.began


class Recording(httpx.AsyncBaseTransport):
    """The network, with what passes kept in `calls`."""

    def __init__(self) -> None:
        unlimited = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self.calls: list[Call] = []
        self._network = httpx.AsyncHTTPTransport(limits=unlimited, trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and keep its answer while it comes."""
        call = Call(str(request.url), await request.aread(), time.perf_counter())
        self.calls.append(call)
        response = await self._network.handle_async_request(request)
        call.status, call.headers = response.status_code, list(response.headers.raw)
        return httpx.Response(
            call.status, headers=call.headers, stream=_Kept(call, response), extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._network.aclose()


class Again(httpx.AsyncBaseTransport):
    """A server that gives recorded answers at once, by address and body."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._answers = {(call.url, call.body): call for call in calls}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request as it was answered, without any waiting.

        Raises:
            KeyError: it was never recorded.
        """
        call = self._answers[str(request.url), await request.aread()]
        return httpx.Response(call.status, headers=call.headers, stream=_Given(call.pieces))


class _Kept(httpx.AsyncByteStream):
    def __init__(self, call: Call, response: httpx.Response) -> None:
        self._call = call
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_raw():
            self._call.pieces.append(piece)
            self._call.ended = time.perf_counter()
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


class _Given(httpx.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def tokens_of(answer: bytes) -> int:
    """Return how many tokens a server says that it wrote: the last count in an answer, streamed or whole."""
    counts = COUNT.findall(answer)
    return int(counts[-1]) if counts else 0
