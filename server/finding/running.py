"""A search for papers under way: kept meanwhile, and given as far as it came where its time is over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from generator.finding.events import stream_finding
from generator.finding.finding import index_as_source
from generator.finding.request import FindRequest
from generator.finding.result import found_until_now
from generator.finding.state import FindingState
from generator.steps import Step, StepEvent
from indexer.durable import cause_of
from indexer.logs import get_logger
from retriever.following import FollowingIndex
from server.access.callers import Visit
from server.errors import Stopping, TooSlow
from server.finding.keeping import Keeping
from server.finding.kept_searches import LockedSearch, SearchHead, now
from server.model_address import without_address
from server.monitoring import metrics
from server.services import Services
from server.transport.streams import until

log = get_logger("server")


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A call that can be answered, as far as can be told before it is.

    `named` is what the call named. A kept search that it goes on with has a head and a state, and is locked,
    unless the home folder cannot be written to.
    """

    name: str
    index: FollowingIndex
    request: FindRequest
    named: Mapping[str, Any]
    visit: Visit
    kept: tuple[LockedSearch | None, SearchHead, FindingState] | None = None


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """What is sent: a `FindingEvent`, or `search` with the id of what is kept, which comes first."""

    kind: str
    data: Mapping[str, Any]


async def finding_events(call: PreparedSearch, services: Services) -> AsyncGenerator[FoundEvent, None]:
    """Yield what is found as it is found, and keep it; `done` comes last, and says what cut the search off.

    Raises:
        SourceFailed: the index does not answer.
    """
    begun = _Begun(call.kept[2] if call.kept else FindingState(call.request.question))
    async with _keeping(call, services, begun.state) as (keeping, refused):
        if keeping and not keeping.failure:
            yield FoundEvent("search", {"id": keeping.id})
        begun.keeping = keeping
        done: Mapping[str, Any] = {}
        async with call.index.held() as version:
            arriving = stream_finding(
                index_as_source(call.name, version),
                call.request,
                services.settings,
                state=begun.state if call.kept else None,
                model=services.model,
                listener=begun.listen,
            )
            try:
                async with aclosing(until(services.stopping, arriving, services.server.ask_s)) as events:
                    async for event in events:
                        if event.kind == "done":
                            done = event.data
                        else:
                            yield FoundEvent(event.kind, without_address(event.data, services.settings))
            except (Stopping, TooSlow) as error:
                done = await asyncio.to_thread(_cut_off, call, services, begun.state, error)
        metrics.observe_finding(call.visit, done, begun.step)
        if keeping:
            await keeping.end(complete=done["complete"], notes=tuple(done["notes"]))
        failure = keeping.failure if keeping else refused
        search = {"search": keeping.id} if keeping and not failure else {}
        notes = [*done["notes"], *([f"the search is not kept: {failure}"] if failure else [])]
        record = {"index": call.name, **search, **done, "notes": notes}
        yield FoundEvent("done", await asyncio.to_thread(without_address, record, services.settings))


class _Begun:
    """What a search has come to, as its steps tell."""

    def __init__(self, state: FindingState) -> None:
        self.state = state
        self.step: Step | None = None
        self.keeping: Keeping | None = None

    def listen(self, event: StepEvent) -> None:
        if not event.step.path:
            self.step = event.step
        if isinstance(event.made, FindingState):
            self.state = event.made
            if self.keeping:
                self.keeping.note(event.made)


def _cut_off(
    call: PreparedSearch, services: Services, state: FindingState, error: Stopping | TooSlow
) -> dict[str, Any]:
    why = "the server is being stopped"
    if isinstance(error, TooSlow):
        why = f"the {services.server.ask_s:g} seconds that the server gives a search are over"
    note = f"{why}; what was found before is given"
    return found_until_now(state, call.request, this_year(services), notes=(note,)).as_tree_record()


def this_year(services: Services) -> int:
    """Return the year by which papers are new."""
    return services.settings.retriever.this_year or datetime.now().astimezone().year


@asynccontextmanager
async def _keeping(
    call: PreparedSearch, services: Services, state: FindingState
) -> AsyncIterator[tuple[Keeping | None, str]]:
    """Keep a search while it runs; yield why it is not kept where it cannot be."""
    caller = call.visit.caller
    if not services.server.kept_searches:
        yield None, ""
        return
    search, created, failure = None, now(), ""
    if call.kept:
        search, created = call.kept[0], call.kept[1].created
    else:
        try:
            search = await asyncio.to_thread(services.searches.begin, caller)
        except OSError as error:
            failure = cause_of(error)
            log.warning("search not kept", reason=failure)
    if search is None:
        yield None, failure or "its file cannot be written to"
        return
    head = SearchHead(search.id, call.name, dict(call.named), created)
    try:
        async with Keeping(search, head, state, call.request.threshold) as keeping:
            yield keeping, ""
    finally:
        await asyncio.to_thread(services.searches.make_room, caller)
