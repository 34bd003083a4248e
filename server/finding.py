"""A running search for papers: it is kept while it runs, and returns partial results at its time limit."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from base.errors import RemediableError
from base.logs import get_logger
from base.notes import Note, note_codes
from generator.finding.events import stream_finding
from generator.finding.finding import INDEX_SECONDS, OpenedSources, index_as_source
from generator.finding.request import FindRequest
from generator.finding.so_far import SoFar
from generator.finding.state import FindingState
from generator.tracing.steps import StepEvent
from retriever.errors import SourceFailed
from retriever.following import FollowingIndex
from retriever.index import SearchIndex
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from server.access.callers import Caller
from server.errors import Stopping, StoreUnusable, TooSlow
from server.kept_searches.content import SearchContent, SearchHead, now
from server.kept_searches.keeping import NOT_WRITABLE, Keeping
from server.kept_searches.store import KeptSearches, RunningSearch
from server.model_address import without_address
from server.monitoring import metrics
from server.problems import detail_of
from server.services import Backends
from server.targets import CallTarget
from server.transport.streams import until

log = get_logger("server")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToKeep:
    """Where a search is kept, its caller, and the fields of the call.

    A resumed search is leased, unless the store is not writable.
    """

    searches: KeptSearches
    caller: Caller
    named: Mapping[str, Any]
    before: tuple[RunningSearch | None, SearchContent] | None = None


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A checked call; without `kept` it is not saved."""

    place: CallTarget
    request: FindRequest
    kept: ToKeep | None = None


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """A sent event: a `FindingEvent`, or first `search` with the id of the kept search."""

    kind: str
    data: Mapping[str, Any]


async def finding_events(call: PreparedSearch, services: Backends) -> AsyncGenerator[FoundEvent, None]:
    """Yield results as they are found, and keep them; `done` comes last, with the reason of an early end.

    Raises:
        SourceFailed: none of the sources answers.
    """
    settings = services.settings
    state = call.kept.before[1].state if call.kept and call.kept.before else None
    so_far = SoFar(state)
    async with (
        _keeping(call, services) as (keeping, refused),
        opened_sources(call.place, services) as opened,
    ):
        if keeping and not keeping.failure:
            yield FoundEvent("search", {"id": keeping.id})

        def listen(event: StepEvent) -> None:
            so_far.listen(event)
            if keeping and isinstance(event.made, FindingState):
                keeping.note(event.made)

        arriving = stream_finding(
            opened, call.request, settings, state=state, model=services.model, listener=listen
        )
        done: Mapping[str, Any] = {}
        try:
            async with aclosing(until(services.stopping, arriving, services.server.ask_s)) as events:
                async for event in events:
                    if event.kind == "done":
                        done = event.data
                    else:
                        yield FoundEvent(event.kind, without_address(event.data, settings))
        except (Stopping, TooSlow) as error:
            found = await asyncio.to_thread(so_far.found, call.request, _cut_off(error))
            done = await asyncio.to_thread(found.as_tree_record)
        metrics.observe_finding(done, so_far.step)
        if keeping:
            await keeping.end(done)
        failure = keeping.failure if keeping else refused
        search = {"search": keeping.id} if keeping and not failure else {}
        unkept = [Note("search_not_kept", error=failure)] if failure else []
        done = {
            **done,
            "notes": [*done["notes"], *unkept],
            "note_codes": [*done["note_codes"], *note_codes(unkept)],
        }
        record = {**call.place.as_record(), **search, **done}
        yield FoundEvent("done", await asyncio.to_thread(without_address, record, settings))


def _cut_off(error: Stopping | TooSlow) -> str:
    return Note("ended_stopping" if isinstance(error, Stopping) else "ended_by_server")


@asynccontextmanager
async def _keeping(call: PreparedSearch, services: Backends) -> AsyncIterator[tuple[Keeping | None, str]]:
    """Keep a search while it runs; yield the reason if it cannot be kept."""
    kept = call.kept
    if kept is None or not (services.server.kept_searches and services.server.all_kept_searches):
        yield None, ""
        return
    search, before = kept.before or (None, None)
    if before is None:
        try:
            search = await asyncio.to_thread(kept.searches.begin, kept.caller)
        except StoreUnusable as error:
            log.warning("search not kept", reason=error.what)
    if search is None:
        yield None, NOT_WRITABLE
        return
    head = SearchHead(search.id, dict(kept.named), before.head.created if before else now())
    first = replace(before, head=head) if before else SearchContent(head, FindingState(call.request.question))
    async with Keeping(search, first, call.request.threshold) as keeping:
        yield keeping, ""


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
