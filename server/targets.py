"""The target of a call, an index or sources, and a search of it or an answer from it."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Request
from pydantic import Field
from typing_extensions import TypedDict

from base.errors import InvalidCall
from base.records import IF_ANY, Recordable
from generator.answer_events import stream_answer
from generator.calls import AskCall
from generator.request import Turn
from generator.strategist import with_strategy
from generator.tracing import Listener, Step, StreamEvent
from indexer.versions.manifest import Manifest
from retriever.calls import IndexSearch
from retriever.index import OpenIndex, SearchIndex
from retriever.request import SearchRequest
from retriever.search import search
from retriever.stages.hits import SearchResult
from server.addresses import without_address
from server.limits.gate import Work
from server.services import Backends, Services
from server.transport.streams import until_stop


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
    """
    if sources and index:
        raise InvalidCall("a call takes an index or sources, not both; leave out one of them")
    if sources:
        opened = services.sources.index(sources)
        return CallTarget(opened, None, opened.names)
    name = await services.indexes.chosen(index)
    return CallTarget(await services.indexes.get(name), name)


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """A search of an index or of sources, and the notes of its strategist."""

    services: Services
    of: CallTarget
    request: SearchRequest
    notes: tuple[str, ...] = ()

    async def search(self) -> tuple[SearchResult, Manifest]:
        """Search, and return the result with the manifest of the version.

        Raises:
            RetrieverError: the request is invalid, or none of the sources answers.
        """

        async def of_version(version: SearchIndex) -> tuple[SearchResult, Manifest]:
            result = await search(version, self.request, self.services.settings.retriever)
            return result.with_notes(self.notes), version.manifest

        return await self.of.opened.ask(of_version)


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
    work: Work = "ask" if strategist == "model" else "search"
    sources = getattr(call, "sources", ())
    async with services.gate.admit(request, work, asks_sources=bool(sources)):
        of = await open_target(services, call.index, sources)
        step = Step("search")
        asked = await with_strategy(step, call.request(), strategist, services.settings, services.model)
        notes = tuple(without_address(step.all_notes(), services.settings))
        yield AskedSearch(services, of, asked, notes)


async def answer_events(
    request: Request,
    services: Services,
    call: AskCall,
    turns: tuple[Turn, ...] = (),
    listener: Listener | None = None,
) -> AsyncGenerator[StreamEvent | None, None]:
    """Yield None when a question is admitted, then the events of its answer; `done` names the target.

    `turns` of a conversation replace the earlier questions of the call. Closing the generator ends the work.

    Raises:
        ServerError: the call is not admitted, or the server stops.
        RetrieverError, ResourceError: the question is invalid, or the index cannot be opened.
    """
    settings = services.settings
    asked = call.request(settings)
    asked = replace(asked, turns=turns or asked.turns)
    async with services.gate.admit(request, "ask", is_stream=True, asks_sources=bool(call.sources)):
        of = await open_target(services, call.index, call.sources)
        yield None
        model = services.model_of(asked)
        arriving = stream_answer(of.opened, asked, settings, model=model, listener=listener)
        async with aclosing(until_stop(services, arriving)) as events:
            async for event in events:
                named = of.as_record() if event.kind == "done" else {}
                yield replace(event, data=without_address({**named, **event.data}, settings))
