"""HTTP client for model servers and repositories: responses have limits, and the key is sent nowhere else.

Environment variables for proxies, certificates and .netrc are ignored, and redirects are not followed: only
the settings decide the destination. httpx itself rejects headers that are too long.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
from pydantic import SecretStr

from base.amounts import plain

MOST_BYTES = 4_000_000  # of a response, unless the request sets another limit; ordinary ones are far smaller
BOUND = "most_bytes"  # the request extension with the limit
CONNECT_S = 10.0
logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs addresses, with questions and keys in them


class ResponseTooLarge(httpx.RemoteProtocolError):
    """A response has more bytes than allowed."""


class BoundedTransport(httpx.AsyncBaseTransport):
    """A transport that raises an error for responses with more bytes than allowed.

    Compressed responses are neither requested nor read, as their size is not bounded. Cookies are not kept.
    """

    def __init__(self, network: httpx.AsyncBaseTransport) -> None:
        self._network = network

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; DecodingError if the response is compressed."""
        response = await self._network.handle_async_request(request)
        packed = response.headers.get("Content-Encoding", "identity").strip().lower()
        if packed != "identity":
            await response.aclose()
            raise httpx.DecodingError(f"its response is compressed ({packed}), which was not requested")
        kept = [(name, value) for name, value in response.headers.raw if name.lower() != b"set-cookie"]
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - guaranteed by the protocol
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
                raise ResponseTooLarge(f"it sends more than {self._most:,} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def open_client(
    url: str,
    key: SecretStr | None,
    *,
    ca_certs: Path | None = None,
    connections: int | None = None,
    headers: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Make a client for the server at `url`; the caller closes it.

    Args:
        url: an address of the server; certificates are loaded for https only.
        key: sent with every request.
        ca_certs: certificate authorities of the server, replacing httpx's.
        connections: number of connections kept open between requests.
        headers: sent with every request, in place of the content type of JSON.
        transport: sends the requests instead of the network.
    """
    # Loading certificates takes longer than a search.
    verify: ssl.SSLContext | bool = httpx.URL(url).scheme == "https"
    if verify and ca_certs:
        verify = ssl.create_default_context(cafile=ca_certs)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=connections)
    network = transport or httpx.AsyncHTTPTransport(verify=verify, limits=limits, trust_env=False)
    sent = {
        "Accept-Encoding": "identity",
        **({"Content-Type": "application/json"} if headers is None else headers),
    }
    if key and key.get_secret_value():
        sent["Authorization"] = f"Bearer {key.get_secret_value()}"
    return httpx.AsyncClient(
        transport=BoundedTransport(network),
        headers=sent,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        trust_env=False,
    )


async def exchange(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    content: bytes | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    seconds: float,
    most_bytes: int = MOST_BYTES,
) -> httpx.Response:
    """Send a request and read the complete response within `seconds`.

    `headers` are sent besides those of the client.

    Raises:
        httpx.RequestError: the request failed; ReadTimeout means a silent server or an unfinished response.
    """
    begun = False
    try:
        async with (
            asyncio.timeout(seconds),
            client.stream(
                method, url, content=content, headers=headers, extensions={BOUND: most_bytes}
            ) as response,
        ):
            begun = True
            await response.aread()
            # httpx's stream refers back to the response; large ones would pile up until garbage collection.
            response.stream = httpx.ByteStream(b"")
            return response
    except TimeoutError:
        what = "did not finish its response" if begun else "was silent"
        raise httpx.ReadTimeout(f"{what} for {plain(round(seconds, 2))} s") from None
