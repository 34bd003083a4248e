"""A search for papers under way: what was come to is given also where its time is over."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from generator.finding.events import FindingEvent, stream_finding
from generator.finding.finding import index_as_source
from generator.finding.request import FindRequest
from generator.finding.result import found_until_now
from generator.finding.state import FindingState
from generator.steps import StepEvent
from retriever.following import FollowingIndex
from server.errors import Stopping, TooSlow
from server.model_address import without_address
from server.services import Services
from server.transport.streams import until


@dataclass(frozen=True, slots=True)
class PreparedSearch:
    """A call that can be answered, as far as can be told before it is."""

    name: str
    index: FollowingIndex
    request: FindRequest
    state: FindingState | None = None


async def finding_events(call: PreparedSearch, services: Services) -> AsyncGenerator[FindingEvent, None]:
    """Yield what is found as it is found; `done` comes last, and tells where something cut it off.

    Raises:
        SourceFailed: the index does not answer.
    """
    latest = call.state or FindingState(call.request.question)

    def listen(event: StepEvent) -> None:
        nonlocal latest
        if isinstance(event.made, FindingState):
            latest = event.made

    settings, seconds = services.settings, services.server.ask_s
    async with call.index.held() as version:
        opened = index_as_source(call.name, version)
        arriving = stream_finding(
            opened, call.request, settings, state=call.state, model=services.model, listener=listen
        )
        try:
            async with aclosing(until(services.stopping, arriving, seconds)) as events:
                async for event in events:
                    named = {"index": call.name} if event.kind == "done" else {}
                    yield replace(event, data=without_address({**named, **event.data}, settings))
        except Stopping:
            note = "the server is being stopped; what was found before is given"
        except TooSlow:
            note = f"the server's {seconds:g} seconds are over; what was found before is given"
        else:
            return
    year = settings.retriever.this_year or datetime.now().astimezone().year
    found = found_until_now(latest, call.request, year, notes=(note,))
    yield FindingEvent("done", without_address({"index": call.name, **found.as_tree_record()}, settings))
