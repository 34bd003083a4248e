"""Models and chat completions in OpenAI's format: an index is a model, and so is a source."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from server.limits.gate import Read
from server.openai.calls import ChatCall, asked_by
from server.openai.completions import Completion, CompletionStream
from server.openai.models import model, models, require_model
from server.openai.pieces import pieces_of
from server.openai_errors import ErrorBody
from server.services import Shared
from server.transport.headers import EVENT_STREAM
from server.transport.leaving import while_connected

router = APIRouter(
    prefix="/v1",
    tags=["chat programs"],
    responses={"default": {"model": ErrorBody, "description": "An error in OpenAI's format"}},
)
STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}}


@router.get("/models")
async def list_models(services: Shared, _: Read) -> dict[str, Any]:
    """List the models: the indexes and the offered sources."""
    return {"object": "list", "data": await models(services)}


@router.get("/models/{name}")
async def show_model(name: str, services: Shared, _: Read) -> dict[str, Any]:
    """Describe a model."""
    return await model(services, name)


@router.post("/chat/completions", response_model=None, responses=STREAM)
async def chat_completions(request: Request, call: ChatCall, services: Shared) -> Response | dict[str, Any]:
    """Answer the last question of a conversation from an index or a source, whole or streamed.

    Every sentence has citations `[1]`, the references follow at the end, and each mark is an annotation
    `url_citation`.
    """
    asked = asked_by(call)
    of = await require_model(services, call.model)
    completion = Completion(of.id)
    pieces = pieces_of(request, services, of, asked)
    if not call.stream:
        return await while_connected(request, services, completion.whole(pieces))
    return CompletionStream(completion, pieces, with_usage=call.with_usage)
