"""The process of the server: who can reach it, its address, uvicorn, its workers, its end."""

import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import NoReturn
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from base.cores import usable_cores
from base.files.regular_files import read_secret
from base.logs import log_to_standard_error, verbosity
from base.net.addresses import is_loopback
from base.settings.fields import listed
from generator.request import Settings
from indexer.settings import IndexerSettings
from retriever.sources.configuration import DeclaredSource, read_declared
from retriever.sources.settings import WebSettings
from server.access.keys import Keys
from server.access.sign_in.signing_in import PSEUDONYMS
from server.app import create_app
from server.errors import NotProtected, SignInUnusable, StoreUnusable
from server.monitoring.audit import AuditLog
from server.settings import ServerSettings, SignInSettings
from server.stopping import CLOSED_WITHIN_S, SIGNALS, stop_with_parent
from server.store import MUST_EXIST, Store

KEEP_ALIVE_S = 15
MOST_WORKERS = 64
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # of prometheus-client, for the files that the workers share
MOST_FILES = 65_536
ANSWERS_WITHIN_S = 30  # a worker that does not answer its supervisor for so long is replaced
MOST_HEAD_BYTES = 32_768  # request line and headers
VERBOSITY = "_SHRAG_SERVER_VERBOSITY"  # environment variable with the workers' log level
BACKLOG = 2_048  # connections that the system queues until they are accepted


def require_protection(server: ServerSettings, store: Store, sign_in: SignInSettings) -> None:
    """Refuse to answer everybody by mistake.

    Raises:
        NotProtected: the server is reachable from elsewhere, has no active key and is not set to be open.
        StoreUnusable: the keys cannot be read.
        SignInUnusable: with these settings nobody could sign in safely.
    """
    if sign_in.is_used:
        _check_sign_in(server, sign_in)
        store.secret(PSEUDONYMS)
    now = datetime.now(UTC)
    may_start = server.open or server.only_local or sign_in.is_used
    usable = [key for key in Keys(store).all().values() if key.state(now) == "active"]
    if usable or may_start:
        return
    names = server.public_url or server.allowed_hosts or (server.proxies and "through a proxy")
    reached = f"{server.host} ({names})" if names else server.host
    raise NotProtected(
        f"others could reach this server at {reached}, and it has no active key",
        remedy=("create a key (shrag keys create)", "answer everybody (--open)"),
    )


def _check_sign_in(server: ServerSettings, sign_in: SignInSettings) -> None:
    if not sign_in.issuer:
        return
    if not server.public_url:
        raise SignInUnusable(
            "sign-in needs the address to which the provider sends readers back",
            remedy="set SHRAG_SERVER__PUBLIC_URL to the address of this server for readers",
        )
    host = urlsplit(server.public_url).hostname or ""
    if not (server.behind_https or host == "localhost" or is_loopback(host)):
        raise SignInUnusable(
            f"{server.public_url}: sessions would be sent unencrypted",
            remedy="use https at a proxy, and in SHRAG_SERVER__PUBLIC_URL",
        )
    if sign_in.client_secret_file:
        try:
            read_secret(sign_in.client_secret_file)
        except (OSError, ValueError) as error:
            raise SignInUnusable(
                f"{sign_in.client_secret_file} cannot be read: {error}",
                remedy="correct SHRAG_SERVER__SIGN_IN__CLIENT_SECRET_FILE",
            ) from None


def make_app() -> FastAPI:
    """Create the application in a worker, from the environment that `serve` prepared."""
    if stop_with_parent() and (level := os.environ.get(VERBOSITY)):
        log_to_standard_error(int(level))
    return create_app(Settings.from_environment(), ServerSettings(), SignInSettings())


def serve(server: ServerSettings, listening: Callable[[str], None]) -> None:
    """Serve until a stop signal; settings reach the workers through the environment.

    `listening` is called with the address as soon as it accepts connections. A stop by a signal exits with 0,
    a worker that cannot start with 1.

    Raises:
        NotProtected: the server would answer everybody without the setting that allows it.
        UnknownSource, InvalidSource: an offered source is not declared, or its declaration is invalid.
        OSError: the address is not available, or the audit log is not writable.
    """
    indexer = IndexerSettings()
    store = Store(indexer.home)
    require_protection(server, store, SignInSettings())
    with suppress(StoreUnusable):  # on a read-only home there is none, unless it was made elsewhere
        store.create()
    store.close()
    sources = read_declared(listed(server.sources))
    server = server.model_copy(update={"workers": server.workers or default_workers(indexer, sources)})
    AuditLog.of(server)  # an error is reported once rather than by each worker
    if not verbosity():
        log_to_standard_error(0)  # callers are referred to the log
    for name, value in server.model_dump(mode="json").items():
        os.environ[f"SHRAG_SERVER__{name.upper()}"] = "" if value is None else str(value)
    config = uvicorn.Config(
        f"{__name__}:make_app",
        factory=True,
        http="h11",  # limits the headers, unlike httptools
        h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        limit_concurrency=server.connections + 1,  # uvicorn refuses the one that reaches the limit
        workers=server.workers,
        timeout_graceful_shutdown=round(server.stop_s),
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_worker_healthcheck=ANSWERS_WITHIN_S,
        backlog=BACKLOG,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        ws="none",
        log_level="error",  # callers without a key can cause lower levels
    )
    _allow_files()
    for number in SIGNALS:  # before uvicorn handles them, and after it has stopped
        signal.signal(number, lambda *_: _leave(0))
    with _listening_at(server.host, server.port) as listener:
        port = listener.getsockname()[1]
        listening(f"http://{f'[{server.host}]' if ':' in server.host else server.host}:{port}/")
        if server.workers > 1:
            os.environ[VERBOSITY] = str(verbosity())
            if store.path.exists():
                os.environ[MUST_EXIST] = "1"  # a worker that replaces another one does not make it again
            with tempfile.TemporaryDirectory(prefix="shrag-") as folder:
                os.environ[METRICS_FOLDER] = folder
                workers = Multiprocess(config, [listener])
                logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # names workers that died
                threading.Thread(target=_end_hung_workers, args=(workers, server.stop_s), daemon=True).start()
                workers.run()
            _leave(1 if any(worker.exitcode == STARTUP_FAILURE for worker in workers.processes) else 0)
        else:
            uvicorn.Server(config).run(sockets=[listener])


def default_workers(settings: IndexerSettings, sources: Iterable[DeclaredSource]) -> int:
    """Return the number of processes: one per core, or a single one.

    Processes share the pages of an index, which is mapped into memory. A local model is loaded by each
    process, a gigabyte or more. The rate limit of a service on the network is counted by each process.
    """
    loads_a_model = "local" in {settings.encoder.provider, settings.reranker.provider, settings.check.judge}
    asks_services = any(isinstance(source.settings, WebSettings) for source in sources)
    return 1 if loads_a_model or asks_services else min(usable_cores(), MOST_WORKERS)


def _end_hung_workers(workers: Multiprocess, stop_s: float) -> None:
    """Kill the workers that still run some time after a stop signal; uvicorn waits for them for ever."""
    workers.should_exit.wait()
    time.sleep(stop_s + 2 * CLOSED_WITHIN_S)
    for worker in workers.processes:
        worker.process.kill()


def _allow_files() -> None:
    """Raise the limit of open files as far as the system allows."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if most == resource.RLIM_INFINITY else min(most, MOST_FILES)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _leave(code: int) -> NoReturn:
    """Exit without cleanup, as nothing is open: freeing the memory would cost a second."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _listening_at(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        error.filename = f"{host}:{port}"
        raise
    listener.set_inheritable(True)
    return listener
