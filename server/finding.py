"""A running search for papers: it is kept while it runs, and returns partial results at its time limit."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from base.errors import RemediableError
from base.notes import Note, note_codes
from generator.finding.calls import FindRequest
from generator.finding.events import stream_finding
from generator.finding.finding import INDEX_SECONDS, OpenedSources, index_as_source
from generator.finding.result import SoFar
from generator.finding.state import FindingState
from generator.tracing import StepEvent, StreamEvent
from retriever.errors import SourceFailed
from retriever.following import FollowingIndex
from retriever.index import SearchIndex
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from server.addresses import without_address
from server.errors import Stopping, TooSlow
from server.kept_searches.searches import RunningSearch
from server.monitoring import metrics
from server.problems import detail_of
from server.services import Backends
from server.targets import CallTarget
from server.transport.streams import until_stop

T = TypeVar("T")


async def finding_events(
    target: CallTarget, request: FindRequest, services: Backends, search: RunningSearch | None = None
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
async def opened_sources(asked: CallTarget, services: Backends) -> AsyncIterator[OpenedSources]:
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
