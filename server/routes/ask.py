"""An answer: as one JSON object, or streamed to clients that accept server-sent events."""

from typing import Annotated, Any

from fastapi import APIRouter, Request

from generator.calls import AskCall
from server.api.description import by_address_and_body
from server.api.events import ANSWER_RESULT, EVENTS, stream_responses
from server.services import Shared
from server.targets import answer_events
from server.transport.streams import streamed_or_whole

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
    return await streamed_or_whole(request, answer_events(request, services, call))
