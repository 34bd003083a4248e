"""The client of a model's server: its answers are bounded in bytes and in time, its key goes nowhere else.

Environment variables for proxies, certificates and .netrc are not read, and redirects are not followed: the
settings alone say where to. A header that is too long httpx refuses itself.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from pydantic import SecretStr

from base.amounts import plain

MOST_BYTES = 4_000_000  # of an answer, where a request says nothing else; none comes near it
BOUND = "most_bytes"  # the name of what a request says
CONNECT_S = 10.0


class BoundedTransport(httpx.AsyncBaseTransport):
    """A transport whose answers end with an error where they go on for more bytes than they may.

    Nothing packed is asked for, or read: what a few bytes unpack to has no bound. Cookies are not kept.
    """

    def __init__(self, network: httpx.AsyncBaseTransport) -> None:
        self._network = network

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; DecodingError where the answer is packed."""
        response = await self._network.handle_async_request(request)
        packed = response.headers.get("Content-Encoding", "identity").strip().lower()
        if packed != "identity":
            await response.aclose()
            raise httpx.DecodingError(f"its answer is packed ({packed}), which was not asked for")
        kept = [(name, value) for name, value in response.headers.raw if name.lower() != b"set-cookie"]
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - as the protocol has it
        stream = _BoundedStream(response.stream, request.extensions.get(BOUND, MOST_BYTES))
        return httpx.Response(
            response.status_code, headers=kept, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._network.aclose()


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise httpx.RemoteProtocolError(f"it sends more than {self._most:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def open_client(
    url: str,
    key: SecretStr | None,
    *,
    ca_certs: Path | None = None,
    connections: int | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Make a client for the server at `url`; to be closed.

    Args:
        url: an address of it; certificates are read where its scheme is https.
        key: goes with every request.
        ca_certs: certificates that the server's is signed by, instead of those that httpx brings along.
        connections: how many are kept open between requests.
        transport: what sends the requests, instead of the network.
    """
    # Reading certificates takes longer than a search.
    verify: ssl.SSLContext | bool = httpx.URL(url).scheme == "https"
    if verify and ca_certs:
        verify = ssl.create_default_context(cafile=ca_certs)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=connections)
    network = transport or httpx.AsyncHTTPTransport(verify=verify, limits=limits, trust_env=False)
    headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
    if key and key.get_secret_value():
        headers["Authorization"] = f"Bearer {key.get_secret_value()}"
    return httpx.AsyncClient(
        transport=BoundedTransport(network),
        headers=headers,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )


async def exchange(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    content: bytes | None = None,
    *,
    seconds: float,
    most_bytes: int = MOST_BYTES,
) -> httpx.Response:
    """Send a request and read its whole answer, within so many seconds.

    Raises:
        httpx.RequestError: it failed; ReadTimeout says whether the server was silent or did not end.
    """
    begun = False
    try:
        async with (
            asyncio.timeout(seconds),
            client.stream(method, url, content=content, extensions={BOUND: most_bytes}) as response,
        ):
            begun = True
            await response.aread()
            # httpx's stream leads back to the response: large ones would pile up until cycles are looked for.
            response.stream = httpx.ByteStream(b"")
            return response
    except TimeoutError:
        what = "did not come to the end of its answer" if begun else "was silent"
        raise httpx.ReadTimeout(f"{what} for {plain(round(seconds, 2))} s") from None
