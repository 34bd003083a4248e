"""The server as a process: uvicorn, its workers, its end."""

import os

import uvicorn
from fastapi import FastAPI

from generator.request import Settings
from server.app import create_app
from server.settings import ServerSettings

MOST_HEADER_BYTES = 16_384
KEEP_ALIVE_S = 15


def make_app() -> FastAPI:
    """Make the application in a process of its own, from the environment that `serve` has left."""
    return create_app(Settings.from_environment(), ServerSettings())


def serve(server: ServerSettings) -> None:
    """Serve until the process is told to stop; what is set takes effect in each worker."""
    for name, value in server.model_dump(mode="json").items():
        os.environ[f"SHRAG_SERVER__{name.upper()}"] = str(value)
    uvicorn.run(
        f"{__name__}:make_app",
        factory=True,
        host=server.host,
        port=server.port,
        workers=server.workers,
        timeout_graceful_shutdown=round(server.stop_s),
        timeout_keep_alive=KEEP_ALIVE_S,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        server_header=False,
        access_log=False,
        log_level="warning",
    )
