"""An answer: as one JSON object, or streamed to clients that accept server-sent events."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from generator.answer_events import AnswerEvent, stream_answer
from generator.calls import AskCall
from generator.pipeline import answer_question
from generator.request import AskRequest, Settings
from server.api.events import ANSWER_RESULT, EVENTS, stream_responses
from server.limits.gate import Ask, AskStream
from server.model_address import without_address
from server.services import Services, Shared
from server.targets import CallTarget, open_target
from server.transport.headers import StreamRoute
from server.transport.leaving import while_connected
from server.transport.streams import numbered_events, until

streamed = APIRouter(prefix="/api/v1", route_class=StreamRoute, include_in_schema=False)
whole = APIRouter(prefix="/api/v1", tags=["answer"])
DESCRIPTION = """Answer a question from the best papers found; every sentence is cited and checked.

With `Accept: text/event-stream` the answer is streamed as numbered events `step`, `keywords`, `queries`,
`evidence`, `sentence`, `check`, `restart` (the sentences so far are withdrawn), and as the last one `done`,
with the content of the plain answer, or `error`, with problem details."""
STREAM = stream_responses(EVENTS)
ANSWER = Annotated[dict[str, Any], ANSWER_RESULT]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that passed all checks before its work."""

    of: CallTarget
    request: AskRequest


async def _prepared(call: AskCall, services: Services) -> Prepared:
    request = call.request(services.settings)
    return Prepared(await open_target(services, call.index, call.sources), request)


async def _by_address(call: Annotated[AskCall, Query()], services: Shared) -> Prepared:
    return await _prepared(call, services)


async def _by_body(call: AskCall, services: Shared) -> Prepared:
    return await _prepared(call, services)


AddressCall = Annotated[Prepared, Depends(_by_address)]
BodyCall = Annotated[Prepared, Depends(_by_body)]


@streamed.get("/ask", response_class=EventSourceResponse)
async def stream_by_address(
    call: AddressCall, services: Shared, _: AskStream
) -> AsyncIterator[ServerSentEvent]:
    """Stream the answer."""
    async for event in _events(call, services):
        yield event


@streamed.post("/ask", response_class=EventSourceResponse)
async def stream_by_body(call: BodyCall, services: Shared, _: AskStream) -> AsyncIterator[ServerSentEvent]:
    """Stream the answer."""
    async for event in _events(call, services):
        yield event


@whole.get("/ask", responses=STREAM, description=DESCRIPTION)
async def ask_by_address(request: Request, call: AddressCall, services: Shared, _: Ask) -> ANSWER:
    """Answer a question; the address can be bookmarked and shared."""
    return await _answer(request, call, services)


@whole.post("/ask", responses=STREAM, description=DESCRIPTION)
async def ask_by_body(request: Request, call: BodyCall, services: Shared, _: Ask) -> ANSWER:
    """Answer a question."""
    return await _answer(request, call, services)


def _events(call: Prepared, services: Services) -> AsyncIterator[ServerSentEvent]:
    model = services.model_of(call.request)
    arriving = stream_answer(call.of.opened, call.request, services.settings, model=model)
    named = _with_names(call.of, arriving, services.settings)
    return numbered_events(until(services.stopping, named, services.server.ask_s))


async def _with_names(
    of: CallTarget, arriving: AsyncGenerator[AnswerEvent, None], settings: Settings
) -> AsyncGenerator[AnswerEvent, None]:
    """Add the index or the sources to the whole answer, and hide the address of the model's server."""
    async with aclosing(arriving):
        async for event in arriving:
            named = of.as_record() if event.kind == "done" else {}
            yield replace(event, data=without_address({**named, **event.data}, settings))


async def _answer(request: Request, call: Prepared, services: Services) -> dict[str, Any]:
    model = services.model_of(call.request)
    answering = answer_question(call.of.opened, call.request, services.settings, model=model)
    asked = await while_connected(request, services, answering)
    return {**call.of.as_record(), **without_address(asked.as_record(), services.settings)}


router = APIRouter()
router.include_router(streamed)  # first: callers that accept no stream fall through
router.include_router(whole)
