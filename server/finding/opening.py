"""The place where papers are searched: an index, or sources, kept open for one search."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from base.errors import RemediableError
from generator.finding.finding import INDEX_SECONDS, OpenedSources, index_as_source
from retriever.errors import SourceFailed
from retriever.following import FollowingIndex
from retriever.index import SearchIndex
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from server.calls.target import CallTarget
from server.problems.details import detail_of
from server.services import Backends

T = TypeVar("T")


@asynccontextmanager
async def opened_sources(asked: CallTarget, services: Backends) -> AsyncIterator[OpenedSources]:
    """Keep the sources of a call open; an index in its published version.

    Raises:
        UnknownIndex: the index was deleted.
        TooBusy: the limit of concurrent source requests is reached.
    """
    models = services.sources.models
    if asked.index and isinstance(asked.opened, FollowingIndex):
        async with asked.opened.held() as version:
            source = LimitedSource(DiscreetIndex(asked.index, version), INDEX_SECONDS)
            yield replace(index_as_source(asked.index, version), sources=[source], models=models)
    else:
        async with services.sources.asked(asked.sources) as sources:
            yield OpenedSources(sources, models=models)


class DiscreetIndex(IndexSource):
    """A version of an index whose errors hide its address from callers."""

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on the version; SourceFailed hides its address."""
        try:
            return await super().ask(question)
        except RemediableError as error:
            raise SourceFailed(detail_of(error)) from None
