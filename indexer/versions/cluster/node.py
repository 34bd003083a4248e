"""A node of a cluster with a verified host name, a limit on responses, and no redirects.

The client's default node does not verify certificates of numeric addresses, reads responses of any length,
and follows all redirects.
"""

import asyncio
import ssl

import aiohttp
from elastic_transport import (
    AiohttpHttpNode,
    ApiResponseMeta,
    ConnectionError,  # noqa: A004 - the transport retries after this one
    ConnectionTimeout,
    HttpHeaders,
    NodeConfig,
    TlsError,
    TransportError,
)
from elastic_transport._node import NodeApiResponse
from elastic_transport.client_utils import DEFAULT, DefaultType
from elasticsearch import UnsupportedProductError

PRODUCT = "x-elastic-product"  # a header of every response of Elasticsearch
PROXY_STATUSES = (401, 403, 407, 413, 429, 502, 503, 504)  # statuses of proxies before the cluster
PROXY_BYTES = 1_000_000  # limit of a proxy's response
BYTES_OF_A_VALUE = 16  # minimal bytes per JSON value in a long response
SHORT = 4_000_000  # bytes; values of smaller responses are not counted
CONNECT_S = 5.0  # a server that is switched off does not refuse connections


class AnswerTooLong(TransportError):
    """A response with more bytes, or more values, than are read into memory."""


class CertificateRefused(TlsError):
    """A certificate of an untrusted authority, or of another server."""


class PlainServer(TlsError):
    """The server does not speak TLS, or no version supported by this client."""


class BrokenOff(ConnectionError):
    """A connection that was accepted, and closed before a response."""


def bounded_node(longest: int) -> type[AiohttpHttpNode]:
    """Return a class of nodes with responses of at most `longest` bytes."""

    class Node(_BoundedNode):
        """A node with the limit; the client creates its nodes from a class."""

        longest_answer = longest

    return Node


class _BoundedNode(AiohttpHttpNode):
    longest_answer: int

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        if self._ssl_context:
            self._ssl_context.check_hostname = True

    async def perform_request(  # type: ignore[override]
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: HttpHeaders | None = None,
        request_timeout: DefaultType | float | None = DEFAULT,
    ) -> NodeApiResponse:
        """Send a request and read its response.

        Raises:
            AnswerTooLong: the response has more bytes than `longest_answer`, or too many values.
            UnsupportedProductError: the server is not Elasticsearch.
            CertificateRefused: the server's certificate is untrusted, or belongs to another server.
            PlainServer: the server does not speak TLS.
            ConnectionTimeout: the server does not answer in time.
            ConnectionError: the server is unreachable, or (BrokenOff) closes the connection.
        """
        if self.session is None:
            self._create_aiohttp_session()
        wait = self.config.request_timeout if isinstance(request_timeout, DefaultType) else request_timeout
        loop = asyncio.get_running_loop()
        begun = loop.time()
        asking = self.session.request(  # type: ignore[union-attr]
            method,
            self.base_url + target,
            data=body or None,
            headers={**self._headers, **(headers or {})},
            timeout=aiohttp.ClientTimeout(total=wait, sock_connect=min(CONNECT_S, wait or CONNECT_S)),
            allow_redirects=False,
        )
        try:
            async with asking as response:
                meta = ApiResponseMeta(
                    response.status, "1.1", HttpHeaders(response.headers), loop.time() - begun, self.config
                )
                if PRODUCT not in meta.headers and meta.status not in PROXY_STATUSES:
                    raise UnsupportedProductError(f"it answers {meta.status}", meta=meta, body=None)
                content = await self._content(response)
        except aiohttp.ConnectionTimeoutError as error:  # nothing was sent, so another node can be tried
            raise ConnectionError("it accepts no connection", errors=(error,)) from None
        except TimeoutError as error:
            raise ConnectionTimeout("no answer in time", errors=(error,)) from None
        except aiohttp.ClientConnectorCertificateError as error:
            reason = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
            raise CertificateRefused(reason, errors=(error,)) from None
        except (ssl.SSLError, aiohttp.ClientSSLError) as error:
            raise PlainServer(str(error), errors=(error,)) from None
        except (aiohttp.ClientError, OSError) as error:
            kind = ConnectionError if isinstance(error, aiohttp.ClientConnectorError) else BrokenOff
            raise kind(str(error) or type(error).__name__, errors=(error,)) from None
        return NodeApiResponse(meta, content)

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        """Read the decompressed body up to the limit."""
        longest = self.longest_answer if PRODUCT in response.headers else PROXY_BYTES
        content = bytearray()
        async for part in response.content.iter_any():
            content += part
            if len(content) > longest:
                raise AnswerTooLong(f"more than {longest:,} bytes")
        values = sum(map(content.count, (b"{", b"[", b","))) if len(content) > SHORT else 0
        if values > longest // BYTES_OF_A_VALUE:
            raise AnswerTooLong(f"more than {longest // BYTES_OF_A_VALUE:,} values")
        return bytes(content)
