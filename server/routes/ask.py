"""An answer: as one JSON object, or streamed to clients that accept server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Request

from generator.answer_events import AnswerEvent, stream_answer
from generator.calls import AskCall
from server.addresses import without_address
from server.api.description import by_address_and_body
from server.api.events import ANSWER_RESULT, EVENTS, stream_responses
from server.services import Services, Shared
from server.targets import open_target
from server.transport.streams import streamed_or_whole, until

router = APIRouter(prefix="/api/v1", tags=["answer"])
DESCRIPTION = """Answer a question from the best papers found; every sentence is cited and checked.

With `Accept: text/event-stream` the answer is streamed as numbered events `step`, `keywords`, `queries`,
`evidence`, `sentence`, `check`, `restart` (the sentences so far are withdrawn), and as the last one `done`,
with the content of the plain answer, or `error`, with problem details."""
ANSWER = Annotated[dict[str, Any], ANSWER_RESULT]


@by_address_and_body(
    router, "/ask", response_model=ANSWER, responses=stream_responses(EVENTS), description=DESCRIPTION
)
async def ask(request: Request, call: AskCall, services: Shared) -> Any:
    """Answer a question."""
    return await streamed_or_whole(request, services, _events(request, call, services))


async def _events(
    request: Request, call: AskCall, services: Services
) -> AsyncGenerator[AnswerEvent | None, None]:
    """Yield None when the call is admitted, then the events; `done` names the index or the sources."""
    asked, settings = call.request(services.settings), services.settings
    async with services.gate.admit(request, "ask", is_stream=True):
        of = await open_target(services, call.index, call.sources)
        yield None
        arriving = stream_answer(of.opened, asked, settings, model=services.model_of(asked))
        async with aclosing(until(services.stopping, arriving, services.server.ask_s)) as events:
            async for event in events:
                named = of.as_record() if event.kind == "done" else {}
                yield replace(event, data=without_address({**named, **event.data}, settings))
