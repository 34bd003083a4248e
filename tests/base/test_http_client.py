"""The client of models' servers: bounds of bytes and of time, and what it does not read, keep or follow."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr

from base.net.http_client import exchange, open_client
from tests.virtual_clock import run

URL = "https://model.test/v1/models"
BLOCK = bytes(10_000)


class Endless(httpx.AsyncByteStream):
    """A body without end, which counts what is read of it; or one that stops coming."""

    def __init__(self, blocks: float = float("inf")) -> None:
        self.read = 0
        self.blocks = blocks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.read < self.blocks * len(BLOCK):
            self.read += len(BLOCK)
            yield BLOCK
        await asyncio.Event().wait()


def ask(answer, *, seconds=20.0, times=1, **options):
    """Exchange one request for what `answer` gives; return the last response and the requests."""
    requests: list[httpx.Request] = []

    async def handle(request):
        requests.append(request)
        return await answer() if asyncio.iscoroutinefunction(answer) else answer()

    async def exchanges():
        transport = httpx.MockTransport(handle)
        async with open_client(URL, SecretStr("sk-river"), transport=transport) as client:
            for _ in range(times):
                response = await exchange(client, "GET", URL, seconds=seconds, **options)
            return response

    return run(exchanges()), requests


@pytest.mark.parametrize("status", [200, 307, 401, 500])
def test_no_more_is_read_than_the_request_allows(status):
    body = Endless()
    with pytest.raises(httpx.RemoteProtocolError, match="50,000 bytes"):
        ask(lambda: httpx.Response(status, stream=body), most_bytes=50_000)
    assert body.read == 60_000


async def nothing():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (nothing, "was silent for 5 s"),
        (lambda: httpx.Response(200, stream=Endless(1)), "5 s"),
    ],
)
def test_no_longer_is_waited_than_the_request_allows(answer, said):
    with pytest.raises(httpx.ReadTimeout, match=said):
        ask(answer, seconds=5)


def test_nothing_packed_is_asked_for_or_read():
    bomb = gzip.compress(bytes(10_000_000))
    with pytest.raises(httpx.DecodingError, match="gzip"):
        ask(lambda: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(bomb)))
    _, [request] = ask(lambda: httpx.Response(200))
    assert request.headers["Accept-Encoding"] == "identity"


def test_no_cookie_is_kept_and_no_redirect_followed():
    headers = {"Set-Cookie": "a=b; Domain=model.test", "Location": "https://elsewhere.test/"}
    response, requests = ask(lambda: httpx.Response(307, headers=headers), times=2)
    assert response.status_code == 307
    assert [str(request.url) for request in requests] == [URL, URL]
    assert [request.headers["Authorization"] for request in requests] == ["Bearer sk-river"] * 2
    assert all("Cookie" not in request.headers for request in requests)
