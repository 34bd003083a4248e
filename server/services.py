"""Services that all routes share, opened at startup and closed at the end."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from base.settings.fields import listed
from generator.llm import LanguageModel
from generator.request import AskRequest, Settings
from retriever.sources.configuration import read_declared
from server.access.keys import Keys
from server.access.sign_in.signing_in import SignIn
from server.indexes import OpenIndexes
from server.kept_searches import KeptSearches
from server.limits.gate import Gate
from server.monitoring.audit import AuditLog, CallLog
from server.monitoring.metrics import AUDIT_LOST, forget_ended_processes
from server.monitoring.search_statistics import SearchStatistics
from server.settings import ServerSettings, SignInSettings
from server.sources import OfferedSources
from server.store import Store

WRITTEN_EVERY_S = 60.0


@dataclass(frozen=True, slots=True)
class Services:
    """Settings, indexes, sources and models; and the gate, keys and call log that all work passes."""

    settings: Settings
    server: ServerSettings
    indexes: OpenIndexes
    sources: OfferedSources
    models: Mapping[str, LanguageModel]  # by name, the one that is used by default first
    stopping: asyncio.Event  # set by a stop signal
    gate: Gate
    store: Store
    keys: Keys
    calls: CallLog
    searches: KeptSearches  # for papers
    sign_in: SignIn | None  # of persons
    statistics: SearchStatistics

    @property
    def model(self) -> LanguageModel | None:
        """The language model that is used by default."""
        return next(iter(self.models.values()), None)

    def model_of(self, request: AskRequest) -> LanguageModel | None:
        """Return the language model of a request."""
        return self.models[request.model] if request.model else self.model

    def access_is_limited(self) -> bool:
        """Check whether callers need a key, or have to sign in."""
        return self.sign_in is not None or self.keys.are_needed()


@asynccontextmanager
async def open_services(
    settings: Settings, server: ServerSettings, sign_in: SignInSettings | None = None
) -> AsyncIterator[Services]:
    """Open the shared services for one event loop.

    Raises:
        UnknownSource, InvalidSource: an offered source is not declared, or its declaration is invalid.
    """
    declared = await asyncio.to_thread(read_declared, listed(server.sources))
    forget_ended_processes()
    audit = AuditLog.of(server)
    audit.count_lost = AUDIT_LOST.inc
    async with AsyncExitStack() as opened:
        stopping, has_cluster = asyncio.Event(), settings.indexer.engine != "tantivy"
        indexes = OpenIndexes(settings.indexer, settings.retriever.synonyms, most=server.open_indexes)
        await opened.enter_async_context(indexes.keeping())
        sources = OfferedSources(declared, settings)
        await opened.enter_async_context(sources.keeping())
        models = {
            name: await opened.enter_async_context(settings.with_model(name).language_model())
            for name in settings.generator.llm.models
        }
        store = Store(settings.indexer.home)
        opened.callback(store.close)
        calls, statistics = CallLog(audit), SearchStatistics(store, server)
        await opened.enter_async_context(_written_each_minute(calls, statistics))
        yield Services(
            *(settings, server, indexes, sources, models, stopping),
            gate=Gate(server, stopping, has_model=bool(models), has_cluster=has_cluster),
            store=store,
            keys=Keys(store),
            calls=calls,
            searches=KeptSearches(store, server),
            sign_in=SignIn(sign_in, server, store) if sign_in and sign_in.is_used else None,
            statistics=statistics,
        )


@asynccontextmanager
async def _written_each_minute(calls: CallLog, statistics: SearchStatistics) -> AsyncIterator[None]:
    """Write counted refusals and searches each minute, and at the end of the block."""

    async def write_on() -> None:
        while True:
            await asyncio.sleep(WRITTEN_EVERY_S)
            calls.write_counted()
            await asyncio.to_thread(statistics.take())

    writing = asyncio.create_task(write_on())
    try:
        yield
    finally:
        writing.cancel()
        await asyncio.to_thread(calls.close)
        statistics.take()()


def _services_of(connection: HTTPConnection) -> Services:
    services: Services = connection.state.services
    return services


Shared = Annotated[Services, Depends(_services_of)]
