"""Clients of a cluster, and conversion of their errors to errors with the next step.

The official client retries failed connections and the statuses 429, 502, 503 and 504 up to three times, on
another node if there is one. A client with patience repeats such requests with growing pauses instead.
"""

import base64
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from elastic_transport import ConnectionTimeout, SerializationError, TlsError, TransportError
from elasticsearch import (
    ApiError,
    Elasticsearch,
    OrjsonSerializer,
    UnsupportedProductError,
)

from base.amounts import plain
from base.net import backoff
from base.untrusted import one_line
from indexer.errors import EngineRefused, EngineUnreachable, VersionGone
from indexer.settings import ElasticsearchSettings

PRODUCT = "x-elastic-product"  # a header of every response of Elasticsearch
TRANSPORT_RETRIES = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT = 400, 401, 403, 404, 409
CONNECTIONS = 16  # to a node, as many as searches of an index that wait for it
TRANSIENT = (429, 502, 503, 504)  # statuses for which a retry may succeed
SET_URL = "set SHRAG_ELASTICSEARCH__URL to its address"
NOT_READY = (
    "is not ready, because shards are missing (a red cluster) or still starting",
    "see GET /_cluster/health",
)
INSTALL_NORI = "install it on every node (bin/elasticsearch-plugin install analysis-nori) and restart them"
# Refusals by the type of the error, or by its status: a description and remedies.
REFUSALS: dict[str | int, tuple[str, ...]] = {
    401: (
        "does not accept these credentials",
        "set SHRAG_ELASTICSEARCH__USER and …__PASSWORD",
        "…__API_KEY (a key may have expired; a server that just started needs some seconds)",
    ),
    403: ("denies this user or key a required right", "see docs/how-to/cluster.md for the rights of keys"),
    429: ("is overloaded and rejected the request", "try again when it is less busy"),
    **dict.fromkeys((502, 503, 504, "search_phase_execution_exception"), NOT_READY),
    "cluster_block_exception": (
        "is read-only",
        "free disk space, or raise the watermark, and repeat the command",
    ),
    "index_closed_exception": ("has a closed index", "open it (POST /INDEX/_open)"),
    "media_type_header_exception": ("has another major version than the client", "use Elasticsearch 9"),
    "nori": ("lacks the plugin analysis-nori", INSTALL_NORI),
}
growing_pauses = partial(backoff.growing_pauses, FIRST_PAUSE_S, LONGEST_PAUSE_S)


def connect(settings: ElasticsearchSettings, *, patience_s: float = 0) -> Elasticsearch:
    """Return a client with described errors, without sending a request; a context manager that closes it.

    Its requests raise EngineUnreachable, EngineRefused or VersionGone. With `patience_s` they are repeated
    that long while the cluster is unreachable, starting or overloaded.
    """

    class Client(Elasticsearch):
        def perform_request(self, *args: Any, **kwargs: Any) -> Any:
            deadline, pauses = time.monotonic() + patience_s, growing_pauses()
            while True:
                try:
                    with map_client_errors(settings):
                        return super().perform_request(*args, **kwargs)
                except (EngineUnreachable, EngineRefused) as error:
                    pause = next(pauses)
                    if not _is_transient(error.__cause__) or time.monotonic() + pause > deadline:
                        raise
                time.sleep(pause)

    return Client(**_options(settings, 0 if patience_s else TRANSPORT_RETRIES))


def _options(settings: ElasticsearchSettings, max_retries: int) -> dict[str, Any]:
    hosts = settings.url.split(",")
    options: dict[str, Any] = {
        "hosts": hosts,
        "request_timeout": settings.timeout_s,
        "max_retries": max_retries,
        "retry_on_status": TRANSIENT,
        "retry_on_timeout": len(hosts) > 1,
        "serializer": OrjsonSerializer(),
        "http_compress": False,  # on a local network, compressing takes longer than sending
        "connections_per_node": CONNECTIONS,
    }
    if settings.api_key.get_secret_value():
        options["api_key"] = settings.api_key.get_secret_value()
    elif settings.user or settings.password.get_secret_value():
        given = f"{settings.user or 'elastic'}:{settings.password.get_secret_value()}"
        options["basic_auth"] = base64.b64encode(given.encode()).decode()  # the client accepts ASCII only
    if any(host.startswith("https:") for host in hosts):  # the client's own skips numeric host names
        options["ssl_context"] = ssl.create_default_context(cafile=settings.ca_certs)
    return options


def _is_transient(error: BaseException | None) -> bool:
    """Check for an error of a restarting or busy server, which answers 401 before it knows its users."""
    if isinstance(error, ApiError):
        return error.status_code in {UNAUTHORIZED, *TRANSIENT}
    return isinstance(error, TransportError) and not isinstance(error, TlsError | SerializationError)


@contextmanager
def map_client_errors(settings: ElasticsearchSettings) -> Iterator[None]:
    """Convert client errors to EngineUnreachable, EngineRefused or VersionGone with remedies."""
    url = settings.url
    try:
        yield
    except UnsupportedProductError as error:
        raise EngineRefused(f"the server at {url} is not Elasticsearch", remedy=SET_URL) from error
    except ApiError as error:
        raise _refusal(error, url) from error
    except TransportError as error:
        what, *remedies = _failure(error, settings)
        raise EngineUnreachable(what, remedy=tuple(remedies)) from error


def _failure(error: TransportError, settings: ElasticsearchSettings) -> tuple[str, ...]:
    """Return a description of a request without a response, and its remedies."""
    url, reason = settings.url, _describe(error)
    if isinstance(error, ConnectionTimeout):
        what = f"Elasticsearch at {url} did not answer within {plain(settings.timeout_s)} s"
        return what, "try again when it is less busy", "raise SHRAG_ELASTICSEARCH__TIMEOUT_S"
    if isinstance(error, TlsError) and "certificate" in reason.lower():
        return (
            f"the certificate of the server at {url} is rejected ({reason})",
            "set SHRAG_ELASTICSEARCH__CA_CERTS to its certificate authority",
            "use the host name of the certificate in SHRAG_ELASTICSEARCH__URL",
        )
    if isinstance(error, TlsError):
        what = f"the server at {url} does not speak TLS ({reason})"
        return what, "use http:// in SHRAG_ELASTICSEARCH__URL if it needs no TLS, or set its TLS port"
    tls = ("use https:// in SHRAG_ELASTICSEARCH__URL if it speaks TLS",) if "http://" in url else ()
    return f"no Elasticsearch answers at {url} ({reason})", "start it", SET_URL, *tls


def _refusal(error: ApiError, url: str) -> EngineRefused | VersionGone:
    """Return the error for the cluster's refusal of a request."""
    kind, reason = cause_in(error.body.get("error") if isinstance(error.body, dict) else None)
    reason, status = reason or one_line(str(error.message)), error.status_code
    if PRODUCT not in error.meta.headers and status not in (UNAUTHORIZED, FORBIDDEN):
        what = f"the server at {url} answers {status} and does not identify as Elasticsearch"
        return EngineRefused(what, remedy=("check the proxy before it", SET_URL))
    if kind == "index_not_found_exception":
        return version_gone(reason)
    if status == BAD_REQUEST and "[nori_" in reason:
        kind = "nori"
    known = status if kind not in REFUSALS or status in TRANSIENT[1:] else kind
    what, *others = REFUSALS.get(known, ("refused",))
    return EngineRefused(f"Elasticsearch at {url} {what}: {reason}", remedy=tuple(others))


def version_gone(reason: str) -> VersionGone:
    """Return the error for an index that does not exist any more."""
    return VersionGone(
        f"an index is gone from the cluster ({reason}): newer versions replaced it, or it was deleted",
        remedy=("open it again", "raise SHRAG_KEEP_VERSIONS to keep more versions"),
    )


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
