"""The process of the server: its address, uvicorn, its workers, its end."""

import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from base.logs import log_to_standard_error, verbosity
from base.settings.lists import listed
from generator.request import Settings
from indexer.settings import IndexerSettings
from retriever.sources.configuration import read_declared
from server.access.protection import require_protection
from server.app import create_app
from server.errors import StoreUnusable
from server.monitoring.audit import AuditLog
from server.processes.shared_files import shared_folder
from server.processes.stopping import CLOSED_WITHIN_S, SIGNALS, stop_with_parent
from server.processes.worker_count import default_workers
from server.settings import ServerSettings, SignInSettings
from server.store import MUST_EXIST, Store

KEEP_ALIVE_S = 15
MOST_FILES = 65_536
ANSWERS_WITHIN_S = 30  # a worker that does not answer its supervisor for so long is replaced
MOST_HEAD_BYTES = 32_768  # request line and headers
VERBOSITY = "_SHRAG_SERVER_VERBOSITY"  # environment variable with the workers' log level
BACKLOG = 2_048  # connections that the system queues until they are accepted


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
    with AuditLog.of(server):  # reported once rather than by each worker
        pass
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
        signal.signal(number, _end)
    with _listening_at(server.host, server.port) as listener:
        port = listener.getsockname()[1]
        listening(f"http://{f'[{server.host}]' if ':' in server.host else server.host}:{port}/")
        if server.workers > 1:
            os.environ[VERBOSITY] = str(verbosity())
            if store.path.exists():
                os.environ[MUST_EXIST] = "1"  # a worker that replaces another one does not make it again
            with shared_folder():
                workers = Multiprocess(config, [listener])
                logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # names workers that died
                threading.Thread(target=_end_hung_workers, args=(workers, server.stop_s), daemon=True).start()
                workers.run()
            _leave(1 if any(worker.exitcode == STARTUP_FAILURE for worker in workers.processes) else 0)
        else:
            uvicorn.Server(config).run(sockets=[listener])


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


def _end(_: int, __: FrameType | None) -> NoReturn:
    _leave(0)


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
