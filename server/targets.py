"""The target of a call, an index or sources: a search of it, an answer from it, a search for papers in it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import Field, SkipValidation

from base.errors import InvalidCall, RemediableError
from base.notes import Note, note_codes
from base.records import IF_ANY, INTERNAL, Recordable
from generator.answer_events import stream_answer
from generator.calls import AskCall
from generator.finding.calls import FindRequest
from generator.finding.events import stream_finding
from generator.finding.finding import INDEX_SECONDS, OpenedSources, index_as_source
from generator.finding.result import SoFar
from generator.finding.state import FindingState
from generator.request import Turn
from generator.strategist import with_strategy
from generator.tracing import Listener, Step, StepEvent, StreamEvent
from indexer.versions.manifest import Manifest
from retriever.calls import IndexSearch
from retriever.errors import SourceFailed
from retriever.following import FollowingIndex
from retriever.index import OpenIndex, SearchIndex
from retriever.request import SearchRequest
from retriever.search import search
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from retriever.stages.hits import SearchResult
from server.addresses import without_address
from server.errors import Stopping, TooSlow
from server.kept_searches import RunningSearch
from server.limits.gate import Work
from server.monitoring import metrics
from server.problems import detail_of
from server.services import Services
from server.transport.streams import until_stop

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CallTarget(Recordable):
    """The target of a call: an index or sources."""

    opened: Annotated[OpenIndex, SkipValidation, INTERNAL]
    index: Annotated[str | None, Field(description="null if sources were searched")]
    sources: Annotated[tuple[str, ...], IF_ANY, Field(description="searched instead of an index")] = ()


async def open_target(services: Services, index: str | None, sources: Sequence[str] = ()) -> CallTarget:
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


async def finding_events(
    target: CallTarget, request: FindRequest, services: Services, search: RunningSearch | None = None
) -> AsyncGenerator[StreamEvent, None]:
    """Yield results as they are found, and keep them; `done` comes last, with the reason of an early end.

    The first event is `search`, with the id of the kept search. `search` keeps the results, and has the state
    of a resumed one.

    Raises:
        SourceFailed: none of the sources answers.
    """
    settings = services.settings
    state = search.state if search else None
    so_far = SoFar(state)
    async with search or nullcontext(), opened_sources(target, services) as opened:
        if search and not search.failure:
            yield StreamEvent("search", {"id": search.id})

        def listen(event: StepEvent) -> None:
            so_far.listen(event)
            if search and isinstance(event.made, FindingState):
                search.note(event.made)

        model = services.model
        arriving = stream_finding(opened, request, settings, state=state, model=model, listener=listen)
        done: Mapping[str, Any] = {}
        try:
            async with aclosing(until_stop(services, arriving)) as events:
                async for event in events:
                    if event.kind == "done":
                        done = event.data
                    else:
                        yield StreamEvent(event.kind, without_address(event.data, settings))
        except (Stopping, TooSlow) as error:
            why = Note("ended_stopping" if isinstance(error, Stopping) else "ended_by_server")
            found = await asyncio.to_thread(so_far.found, request, why)
            done = await asyncio.to_thread(found.as_tree_record)
        metrics.observe_finding(done, so_far.step)
        kept: dict[str, Any] = {}
        if search:
            await search.end(done)
            kept = {"search": search.id}
            if search.failure:
                note = Note("search_not_kept", error=search.failure)
                kept = {
                    "notes": [*done["notes"], note],
                    "note_codes": [*done["note_codes"], *note_codes([note])],
                }
        record = {**target.as_record(), **done, **kept}
        yield StreamEvent("done", await asyncio.to_thread(without_address, record, settings))


@asynccontextmanager
async def opened_sources(asked: CallTarget, services: Services) -> AsyncIterator[OpenedSources]:
    """Keep the sources of a call open; an index in its published version.

    Raises:
        UnknownIndex: the index was deleted.
    """
    models = services.sources.models
    if asked.index and isinstance(asked.opened, FollowingIndex):
        async with asked.opened.held() as version:
            source = LimitedSource(DiscreetIndex(asked.index, version), INDEX_SECONDS)
            yield replace(index_as_source(asked.index, version), sources=[source], models=models)
    else:
        yield OpenedSources(await services.sources.asked(asked.sources), models=models)


class DiscreetIndex(IndexSource):
    """A version of an index whose errors hide its address from callers."""

    async def ask(self, question: Callable[[SearchIndex], Awaitable[T]]) -> T:
        """Run a question on the version; SourceFailed hides its address."""
        try:
            return await super().ask(question)
        except RemediableError as error:
            raise SourceFailed(detail_of(error)) from None
