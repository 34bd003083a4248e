"""Models and chat completions in OpenAI's format: an index is a model, and so is a source."""

import asyncio
from datetime import datetime
from functools import partial
from typing import Any
from unicodedata import normalize

from fastapi import APIRouter, Request

from base.errors import ResourceError
from indexer.errors import UnknownIndex
from server.addresses import as_index, sources_named
from server.limits.gate import Read
from server.openai import ChatCall, Completion, ModelTarget, Piece, asked_by, pieces_of
from server.problems import ErrorBody
from server.services import Services, Shared
from server.transport.streams import EVENT_STREAM, EventStream

router = APIRouter(
    prefix="/v1",
    tags=["chat programs"],
    responses={"default": {"model": ErrorBody, "description": "An error in OpenAI's format"}},
)
STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}}
SHOWN_NAMES = 10


@router.get("/models")
async def list_models(services: Shared, _: Read) -> dict[str, Any]:
    """List the models: the indexes and the offered sources."""
    indexes, sources = await services.indexes.names(), map(as_index, services.sources.names())
    described = [
        *(_described(services, name, name) for name in indexes),
        *(_described(services, name, None) for name in sources),
    ]
    return {"object": "list", "data": await asyncio.gather(*described)}


@router.get("/models/{name}")
async def show_model(name: str, services: Shared, _: Read) -> dict[str, Any]:
    """Describe a model."""
    index, _sources = await _target_of(services, name)
    return await _described(services, normalize("NFC", name), index)


@router.post("/chat/completions", response_model=None, responses=STREAM)
async def chat_completions(
    request: Request, call: ChatCall, services: Shared
) -> EventStream[Piece] | dict[str, Any]:
    """Answer the last question of a conversation from an index or a source, whole or streamed.

    Every sentence has citations `[1]`, the references follow at the end, and each mark is an annotation
    `url_citation`.
    """
    asked = asked_by(call)
    target = await _target_of(services, call.model)
    completion = Completion(normalize("NFC", call.model))
    pieces = pieces_of(request, services, target, asked, streams=bool(call.stream))
    if call.stream:
        with_usage = bool(call.stream_options and call.stream_options.include_usage)
        return EventStream(pieces, partial(completion.written, with_usage=with_usage))
    return await completion.whole(pieces)


async def _target_of(services: Services, name: str) -> ModelTarget:
    """Return the index of a name, else sources: `source:NAME`, several separated by commas, or NAME alone.

    Raises:
        UnknownIndex: no index or source has the name.
    """
    name = normalize("NFC", name)
    if await services.indexes.knows(name):
        return name, ()
    sources, offered = sources_named(name) or tuple(name.split(",")), services.sources.names()
    if set(sources) <= {*offered}:
        return None, sources
    names = [*await services.indexes.names(), *map(as_index, offered)]
    listed = ", ".join(names[:SHOWN_NAMES]) or "there are none yet"
    raise UnknownIndex(
        f"no model {name[:100]!r}: the models are the indexes{' and sources' if offered else ''} ({listed})"
    )


async def _described(services: Services, name: str, index: str | None) -> dict[str, Any]:
    """Describe a model in OpenAI's format; `created` is the time when an index version was published."""
    created = 0
    if index:
        try:
            published = (await services.indexes.manifest(index)).published
            created = int(datetime.fromisoformat(published).timestamp())
        except (ResourceError, OSError, ValueError):
            pass  # questions to it will report the error
    return {"id": name, "object": "model", "created": created, "owned_by": "shrag"}
