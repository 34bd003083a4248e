"""One server of a cluster: its name is checked, its answers have a limit, and nowhere else is asked for it.

The client's own node does not compare a certificate with an address that is a number, reads answers of any
length, and follows redirections to anywhere.
"""

import asyncio
import ssl

import aiohttp
from elastic_transport import (
    AiohttpHttpNode,
    ApiResponseMeta,
    ConnectionError,  # noqa: A004 - the transport tries again after this one
    ConnectionTimeout,
    HttpHeaders,
    NodeConfig,
    TlsError,
    TransportError,
)
from elastic_transport._node import NodeApiResponse
from elastic_transport.client_utils import DEFAULT, DefaultType
from elasticsearch import UnsupportedProductError

PRODUCT = "x-elastic-product"  # a header of every answer of Elasticsearch
FROM_BETWEEN = (401, 403, 407, 413, 429, 502, 503, 504)  # a proxy before the cluster may answer so
OTHERS_BYTES = 1_000_000  # of an answer from between
BYTES_OF_A_VALUE = 16  # so many bytes of a long answer for each value of its JSON, at least
SHORT = 4_000_000  # bytes whose values need no counting
CONNECT_S = 5.0  # a server that is switched off does not even refuse


class AnswerTooLong(TransportError):
    """An answer of more bytes, or of more values, than are read into memory."""


class CertificateRefused(TlsError):
    """A certificate of an authority that is not trusted, or of another server."""


class PlainServer(TlsError):
    """What answers does not speak TLS, or not with this client."""


class BrokenOff(ConnectionError):
    """A connection that was taken, and ended before an answer."""


def bounded_node(longest: int) -> type[AiohttpHttpNode]:
    """Return the class of nodes whose answers have at most `longest` bytes."""

    class Node(_BoundedNode):
        """A node of one connection's settings; the client makes its nodes from a class."""

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
        """Send a request and read its answer.

        Raises:
            AnswerTooLong: it has more bytes than `longest_answer`, or very many values.
            UnsupportedProductError: what answers is no Elasticsearch.
            CertificateRefused: the server's certificate is not trusted, or not its own.
            PlainServer: it speaks no TLS.
            ConnectionTimeout: it does not answer in time.
            ConnectionError: it cannot be reached, or (BrokenOff) hangs up.
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
                if PRODUCT not in meta.headers and meta.status not in FROM_BETWEEN:
                    raise UnsupportedProductError(f"it answers {meta.status}", meta=meta, body=None)
                content = await self._content(response)
        except aiohttp.ConnectionTimeoutError as error:  # nothing was sent: another node may be asked
            raise ConnectionError("it takes no connection", errors=(error,)) from None
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
        """Read the body, unpacked, up to the limit."""
        longest = self.longest_answer if PRODUCT in response.headers else OTHERS_BYTES
        content = bytearray()
        async for part in response.content.iter_any():
            content += part
            if len(content) > longest:
                raise AnswerTooLong(f"more than {longest:,} bytes")
        values = sum(map(content.count, (b"{", b"[", b","))) if len(content) > SHORT else 0
        if values > longest // BYTES_OF_A_VALUE:
            raise AnswerTooLong(f"more than {longest // BYTES_OF_A_VALUE:,} values")
        return bytes(content)
