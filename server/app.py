"""The application: routes found by their files, problem details, and the services that routes share."""

import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TypedDict

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from base.settings.fields import listed
from generator.request import Settings
from server import routes
from server.access.sign_in.signing_in import Proxies
from server.description import Application, operation_id
from server.problems import add_handlers
from server.services import Services, open_services
from server.settings import ServerSettings, SignInSettings
from server.stopping import stop_event_on_signal
from server.transport.entrance import Entrance


class State(TypedDict):
    """The state of each request."""

    services: Services


def create_app(settings: Settings, server: ServerSettings, sign_in: SignInSettings | None = None) -> FastAPI:
    """Create the application; the shared services are opened at startup.

    Each file in `server/routes/` defines endpoints in its `router`.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        async with open_services(settings, server, sign_in) as services:
            with stop_event_on_signal(services.stopping, server.stop_s):
                yield State(services=services)

    app = Application(
        title="SHRAG",
        summary="Search Korean and English scholarly text, and get answers with cited evidence.",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    add_handlers(app)
    app.add_middleware(Entrance, settings=server)
    if origins := listed(server.origins):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-ID"],
        )
    if proxies := listed(server.proxies):
        app.add_middleware(Proxies, trusted_hosts=proxies)
    for module in sorted(module.name for module in pkgutil.iter_modules(routes.__path__)):
        app.include_router(import_module(f"{routes.__name__}.{module}").router)
    return app
