"""Connection to a cluster through the official asynchronous client, and conversion of its errors.

The client belongs to the event loop of its first use, but an index may be used from several loops: a command
runs one for each question. The client therefore has its own loop, in a thread.

Retries: the client's transport retries failed connections and the statuses 429, 502, 503 and 504 up to three
times, on another node if there is one. It does not retry bulk requests; `send_in_bulk` retries these by
document.
"""

import asyncio
import base64
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from itertools import accumulate, takewhile
from typing import Any, Self, TypeVar

from elastic_transport import (
    ConnectionTimeout,
    SerializationError,
    TransportError,
)
from elasticsearch import ApiError, AsyncElasticsearch, OrjsonSerializer, UnsupportedProductError

from base.amounts import plain
from base.errors import InvalidCall
from base.net import backoff
from base.untrusted import one_line
from indexer.errors import EngineRefused, EngineUnreachable
from indexer.settings import ElasticsearchSettings
from indexer.versions.cluster.node import (
    PRODUCT,
    AnswerTooLong,
    BrokenOff,
    CertificateRefused,
    PlainServer,
    bounded_node,
)

Result = TypeVar("Result")

TRANSPORT_RETRIES = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0  # pauses between retries up to `patience_s`
TRANSIENT = (429, 502, 503, 504)  # statuses for which a retry may succeed
BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, OVERLOADED = 400, 401, 403, 404, 429
STARTING = (502, 503, 504)
growing_pauses = partial(backoff.growing_pauses, FIRST_PAUSE_S, LONGEST_PAUSE_S)
SET_URL = "set SHRAG_ELASTICSEARCH__URL to its address"
PERMANENT_ERRORS = (AnswerTooLong, CertificateRefused, PlainServer)  # errors without a retry
SPEAK_TLS = "use https:// in SHRAG_ELASTICSEARCH__URL if it speaks TLS"
OF_NORI = ("nori_tokenizer", "nori_part_of_speech", "nori_readingform")


def pauses_within(patience_s: float) -> int:
    """Return the number of growing pauses within a time limit."""
    return sum(1 for _ in takewhile(lambda spent: spent <= patience_s, accumulate(growing_pauses())))


class Cluster:
    """A connection to a cluster; a context manager that closes it."""

    def __init__(self, settings: ElasticsearchSettings) -> None:
        """Create the client without sending a request."""
        self.settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="elasticsearch")
        self._thread.start()
        try:
            self.client = self.run(_make_client(settings))
        except (ValueError, TypeError, OSError) as error:
            raise InvalidCall(
                f"no connection is possible with the settings SHRAG_ELASTICSEARCH__… ({_describe(error)})",
                remedy="check …__URL, …__USER, …__PASSWORD, …__API_KEY and …__CA_CERTS",
            ) from error
        finally:
            if not hasattr(self, "client"):
                self._stop()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine of the client from a thread without an event loop.

        Raises:
            EngineUnreachable: no server answers in time.
            EngineRefused: the server refuses the request.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            with map_client_errors(self.settings):
                return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def run_patiently(self, ask: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Like `run`, with retries up to `patience_s` while the cluster is unreachable or starting."""
        deadline, pauses = time.monotonic() + self.settings.patience_s, growing_pauses()
        while True:
            try:
                return self.run(ask())
            except (EngineUnreachable, EngineRefused) as error:
                pause = next(pauses)
                if not is_transient(error.__cause__) or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)

    def start(self, coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Start a coroutine of the client, and return its future; client errors are not converted."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine of the client from any loop; raises as `run`."""
        with map_client_errors(self.settings):
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        """Close the connections and stop the loop; can be called repeatedly."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._stop()

    async def _end(self) -> None:
        """Cancel pending requests, which nobody awaits any more, and close the connections."""
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self.client.close()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _make_client(settings: ElasticsearchSettings) -> AsyncElasticsearch:
    options: dict[str, Any] = {}
    if settings.api_key.get_secret_value():
        options["api_key"] = settings.api_key.get_secret_value()
    elif settings.user or settings.password.get_secret_value():
        given = f"{settings.user or 'elastic'}:{settings.password.get_secret_value()}"
        options["basic_auth"] = base64.b64encode(given.encode()).decode(
            "ascii"
        )  # the client accepts ASCII only
    if settings.ca_certs:
        options["ca_certs"] = str(settings.ca_certs)
    return AsyncElasticsearch(
        [url.strip() for url in settings.url.split(",")],
        request_timeout=settings.timeout_s,
        max_retries=TRANSPORT_RETRIES,
        retry_on_status=TRANSIENT,
        serializer=OrjsonSerializer(),
        node_class=bounded_node(settings.answer_bytes),
        http_compress=False,  # on a local network, compressing takes longer than sending
        **options,
    )


def is_transient(error: BaseException | None) -> bool:
    """Check whether a client error may be caused by a restarting or busy server.

    A server that has not loaded its users yet answers 401.
    """
    if isinstance(error, ApiError):
        return error.status_code in {UNAUTHORIZED, *TRANSIENT}
    return isinstance(error, TransportError) and not isinstance(error, PERMANENT_ERRORS)


def is_denied(error: BaseException | None) -> bool:
    """Check whether a client error means that this user or key lacks a right."""
    return (
        isinstance(error, ApiError)
        and error.status_code == FORBIDDEN
        and reason_of(error)[0] != "cluster_block_exception"
    )


@contextmanager
def map_client_errors(settings: ElasticsearchSettings) -> Iterator[None]:
    """Convert client errors to EngineUnreachable or EngineRefused with remedies."""
    url = settings.url
    try:
        yield
    except ConnectionTimeout as error:
        raise EngineUnreachable(
            f"Elasticsearch at {url} did not answer within {plain(settings.timeout_s)} s",
            remedy=("try again when it is less busy", "raise SHRAG_ELASTICSEARCH__TIMEOUT_S"),
        ) from error
    except CertificateRefused as error:
        raise EngineUnreachable(
            f"the certificate of the server at {url} is rejected ({_describe(error)})",
            remedy=(
                "set SHRAG_ELASTICSEARCH__CA_CERTS to its certificate authority",
                "use the host name of the certificate in SHRAG_ELASTICSEARCH__URL",
            ),
        ) from error
    except PlainServer as error:
        raise EngineUnreachable(
            f"the server at {url} does not speak TLS ({_describe(error)})",
            remedy="use http:// in SHRAG_ELASTICSEARCH__URL if it needs no TLS, or set its TLS port",
        ) from error
    except AnswerTooLong as error:
        raise EngineRefused(
            f"the server at {url} sends {_describe(error)} in one response",
            remedy=(
                "check the proxy before Elasticsearch, if there is one",
                "request less at a time",
                "raise SHRAG_ELASTICSEARCH__ANSWER_BYTES",
            ),
        ) from error
    except UnsupportedProductError as error:
        raise EngineRefused(f"the server at {url} is not Elasticsearch", remedy=SET_URL) from error
    except ApiError as error:
        if PRODUCT not in error.meta.headers and error.status_code not in (UNAUTHORIZED, FORBIDDEN):
            raise EngineRefused(
                f"the server at {url} answers {error.status_code} and does not identify as Elasticsearch",
                remedy=("check the proxy before it", SET_URL, "try again if it was just started"),
            ) from error
        what, remedy = _refusal(error)
        raise EngineRefused(f"Elasticsearch at {url} {what}", remedy=remedy) from error
    except SerializationError as error:
        raise EngineRefused(
            f"the response of {url} cannot be read ({_describe(error)})",
            remedy=("check the proxy before Elasticsearch, if there is one", SET_URL),
        ) from error
    except TransportError as error:
        hung_up = isinstance(error, BrokenOff) and "http://" in url
        raise EngineUnreachable(
            f"no Elasticsearch answers at {url} ({_describe(error)})",
            remedy=("start it", SET_URL, *((SPEAK_TLS,) if hung_up else ())),
        ) from error


def _refusal(error: ApiError) -> tuple[str, str | tuple[str, ...]]:
    """Return a description of the cluster's refusal, and its remedies."""
    kind, reason = reason_of(error)
    if error.status_code == UNAUTHORIZED:
        return "does not accept these credentials", (
            "set SHRAG_ELASTICSEARCH__USER and …__PASSWORD",
            "…__API_KEY (a key may have expired; a server that just started needs some seconds)",
        )
    if kind == "cluster_block_exception" and error.status_code not in STARTING:
        return f"is read-only ({reason})", (
            "usually its disk is nearly full: free some space",
            "raise the watermark, and repeat the command",
        )
    if error.status_code == FORBIDDEN:
        return f"denies this user or key a required right: {reason}", ()
    if error.status_code == OVERLOADED:
        return "is overloaded and rejected the request", "try again when it is less busy"
    if kind == "search_phase_execution_exception" or error.status_code in TRANSIENT:
        return (
            f"is not ready ({reason}): shards are missing (a red cluster) or still starting",
            "see GET /_cluster/health, and try again",
        )
    if error.status_code == BAD_REQUEST and any(part in reason for part in OF_NORI):
        return (
            f"lacks the plugin analysis-nori ({reason})",
            "install it on every node (bin/elasticsearch-plugin install analysis-nori) and restart them",
        )
    return f"refused: {reason}", ()


def reason_of(error: ApiError) -> tuple[str, str]:
    """Return the type and the reason of an error response."""
    kind, reason = cause_in(error.body.get("error") if isinstance(error.body, dict) else None)
    return kind, reason or one_line(str(error.message or error.status_code))


def cause_in(said: Any) -> tuple[str, str]:
    """Return type and reason of the innermost cause in an error; the reason is one line."""
    cause = said if isinstance(said, dict) else {"reason": said}
    for root in cause.get("root_cause") or ():
        cause = root
    while isinstance(cause.get("caused_by"), dict):
        cause = cause["caused_by"]
    return str(cause.get("type", "")), one_line(str(cause.get("reason") or ""))


def _describe(error: Exception) -> str:
    return one_line(str(getattr(error, "message", error))) or type(error).__name__
