"""The target of a call, an index or sources, and a search of it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Request
from pydantic import Field
from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.records import IF_ANY, Recordable
from generator.strategist import with_strategy
from generator.tracing import Step
from indexer.versions.manifest import Manifest
from retriever.calls import IndexSearch
from retriever.index import OpenIndex, SearchIndex
from retriever.request import SearchRequest
from retriever.search import search
from retriever.stages.hits import SearchResult
from server.addresses import without_address
from server.services import Backends, Services
from server.transport.streams import unless_stopping, while_connected


class Target(TypedDict):
    """An index or sources."""

    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: Annotated[tuple[str, ...], IF_ANY, Field(description="searched instead of an index")]


@dataclass(frozen=True, slots=True)
class CallTarget(Recordable):
    """The target of a call; `index` is None if `sources` are named."""

    opened: OpenIndex
    index: str | None
    sources: tuple[str, ...] = ()

    def record_fields(self) -> Target:
        """Return the target's fields of a response."""
        return {"index": self.index, "sources": self.sources}


async def open_target(services: Backends, index: str | None, sources: Sequence[str] = ()) -> CallTarget:
    """Open the target of a call: sources, an index, or by default the only index.

    Raises:
        InvalidCall: the call names both, or neither although there are several indexes.
        UnknownSource: a source is not offered to the caller.
        ResourceError: as opening an index.
        Stopping: the server stops before the index is open.
    """
    if sources and index:
        raise InvalidCall("a call takes an index or sources, not both; leave out one of them")
    if sources:
        opened = services.sources.index(sources)
        return CallTarget(opened, None, opened.names)
    name = await services.indexes.chosen(index)
    # The opening, not `get`, which would hold the index by the task of `unless_stopping`.
    return CallTarget(await unless_stopping(services, services.indexes.opening(name)), name)


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """A search of an index or of sources, and the notes of its strategist."""

    of: CallTarget
    request: SearchRequest
    notes: tuple[str, ...] = ()


@asynccontextmanager
async def admitted_search(
    request: Request, services: Services, call: IndexSearch
) -> AsyncIterator[AskedSearch]:
    """Admit a call as a search, or as a question to the model if that writes the strategy.

    Raises:
        ServerError: the call is not admitted.
        RetrieverError, ResourceError: the call is invalid, or its target cannot be opened.
        ModelNotConfigured: the model is to write the strategy, and there is none.
    """
    strategist = call.strategist if call.question.strip() else None
    async with services.gate.admit(request, "ask" if strategist == "model" else "search"):
        of = await open_target(services, call.index, getattr(call, "sources", ()))
        step = Step("search")
        writing = with_strategy(step, call.request(), strategist, services.settings, services.model)
        asked = await while_connected(request, services, writing)
        yield AskedSearch(of, asked, tuple(without_address(step.all_notes(), services.settings)))


async def searched(request: Request, services: Services, asked: AskedSearch) -> tuple[SearchResult, Manifest]:
    """Search, and return the result with the manifest of the version; end the search when the reader leaves.

    Raises:
        RetrieverError: the request is invalid, or none of the sources answers.
    """

    async def of_version(version: SearchIndex) -> tuple[SearchResult, Manifest]:
        result = await search(version, asked.request, services.settings.retriever)
        return result.with_notes(asked.notes), version.manifest

    return await while_connected(request, services, asked.of.opened.ask(of_version))
