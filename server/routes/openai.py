"""Models and chat completions in OpenAI's format, whole and streamed; an index or a source is a model.

| field | effect |
|---|---|
| model, messages, stream, stream_options.include_usage | used |
| metadata.way, metadata.hops | used as in `ask` |
| n above 1, logprobs, audio, a required tool call, a JSON format | refused, as not supported |
| temperature, max_tokens, stop, seed, tools, user, other metadata and the rest | accepted, no effect |

A streamed completion sends the pieces of an answer's text one by one, then the parts that need all of it; a
plain one joins them. Where the model withdrew sentences, the plain one lacks them.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias, get_args
from unicodedata import normalize
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from base.errors import ResourceError
from generator.calls import AskCall
from generator.housekeeping import Housekeeping, answer_housekeeping, find_housekeeping, question_in
from generator.request import Turn
from generator.settings import HopsMode
from generator.tracing import StepEvent
from generator.ways import way_names
from indexer.errors import UnknownIndex
from retriever.request import check_question
from server.addresses import as_index, hit_address, public_address, sources_named
from server.cited_text import Citation, CitedText
from server.errors import BadRequest
from server.limits.gate import Read
from server.problems import ErrorBody, in_openai_format, problem
from server.services import Services, Shared
from server.targets import answer_events
from server.transport.streams import EVENT_STREAM, EventStream

ModelTarget: TypeAlias = tuple[str | None, tuple[str, ...]]  # an index, or sources instead of one

router = APIRouter(
    prefix="/v1",
    tags=["chat programs"],
    responses={"default": {"model": ErrorBody, "description": "An error in OpenAI's format"}},
)
STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {EVENT_STREAM: {"schema": {"type": "string"}}}}}
SHOWN_NAMES = 10
SPOKEN = frozenset({"user", "assistant"})
TEXTS = frozenset({"text", "input_text", "refusal"})  # parts of a message that contain text
MOST_TURNS = 100  # before the question; older turns are ignored
HOPS = get_args(HopsMode)
# Accepted values of fields that would change an answer, and the reason for refusing others. Compared with any
# JSON.
ACCEPTED: dict[str, tuple[list[Any], str]] = {
    "n": ([None, 1], "a call returns one answer"),
    "logprobs": ([None, False], "log probabilities are not supported"),
    "top_logprobs": ([None, 0], "log probabilities are not supported"),
    "modalities": ([None, [], ["text"]], "an answer is always text"),
    "tool_choice": ([None, "auto", "none"], "tools are never called"),
    "function_call": ([None, "auto", "none"], "tools are never called"),
}


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool | None = None


class Message(BaseModel):
    """One message of a conversation; its parts are text."""

    role: str
    content: str | list[dict[str, Any]] | None = None


def _describe_accepted(schema: dict[str, Any]) -> None:
    """Add the restricted fields and an example to the schema of a call."""
    schema["properties"] |= {
        name: {"enum": accepted, "description": reason} for name, (accepted, reason) in ACCEPTED.items()
    }
    message = {"role": "user", "content": "Does drip irrigation help?"}
    schema["examples"] = [{"model": "papers", "messages": [message]}]


class ChatCall(BaseModel):
    """A chat completion; the last message of the user is the question."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_describe_accepted)

    model: str = Field(description="the index or the source, as listed by /v1/models")
    messages: list[Message] = Field(min_length=1)
    stream: bool | None = None
    stream_options: StreamOptions | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with earlier turns, or a housekeeping request of a chat program."""

    question: str
    turns: tuple[Turn, ...] = ()
    housekeeping: Housekeeping | None = None
    way: str | None = None
    hops: HopsMode | None = None


def asked_by(call: ChatCall) -> Asked:
    """Return the question of a call; system and tool messages are ignored.

    Raises:
        BadRequest: it requests an unsupported feature, or has no question.
    """
    fields = call.model_extra or {}
    for name, (accepted, reason) in ACCEPTED.items():  # they would silently have no effect
        if fields.get(name) not in accepted:
            raise BadRequest(reason, place=name)
    roles = ["system" if message.role == "developer" else message.role for message in call.messages]
    last = max((place for place, role in enumerate(roles) if role == "user"), default=None)
    messages = [
        Turn(role, _text_of(message, place, is_question=place == last))
        for place, (role, message) in enumerate(zip(roles, call.messages, strict=True))
    ]
    if housekeeping := find_housekeeping(messages):
        return Asked("", housekeeping=housekeeping)
    form = fields.get("response_format")
    if form and (form.get("type") if isinstance(form, dict) else form) != "text":
        raise BadRequest(
            "an answer is text with citations; other formats are not supported", place="response_format"
        )
    if last is None:
        raise BadRequest(
            "no message has the role 'user'; the last one with it is the question", place="messages"
        )
    turns = [turn for turn in messages[:last] if turn.role in SPOKEN and turn.text.strip()]
    way, hops = (_chosen(call, name, among) for name, among in (("way", way_names()), ("hops", HOPS)))
    return Asked(question_in(messages[last].text), tuple(turns[-MOST_TURNS:]), way=way, hops=hops)


def _chosen(call: ChatCall, name: str, among: Sequence[str]) -> Any:
    """Return a value of a call's metadata, None if it is absent."""
    metadata = (call.model_extra or {}).get("metadata")
    chosen = metadata.get(name) if isinstance(metadata, dict) else None
    if chosen is not None and chosen not in among:
        raise BadRequest(f"must be one of: {', '.join(among)}", place=f"metadata.{name}")
    return chosen


def _text_of(message: Message, place: int, *, is_question: bool) -> str:
    """Return the text of a message; other parts are ignored, or refused in the question."""
    if not isinstance(message.content, list):
        return message.content or ""
    texts = []
    for number, part in enumerate(message.content):
        text = part.get(str(part.get("type")), part.get("text"))
        if part.get("type") in TEXTS and isinstance(text, str):
            texts.append(text)
        elif is_question:
            raise BadRequest(
                f"parts of type {str(part.get('type'))[:40]!r} are not supported; send text",
                place=f"messages[{place}].content[{number}]",
            )
    return "\n".join(texts)


LAST = b"data: [DONE]\n\n"
Delta: TypeAlias = dict[str, Any]  # a part of a message; the last one is empty


@dataclass(slots=True)
class Completion:
    """One completion, and the tokens that the model read and wrote.

    The tokens are zero without a model, and where its server reports none.
    """

    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def deltas(
        self, request: Request, services: Services, target: ModelTarget, asked: Asked, *, streams: bool
    ) -> AsyncGenerator[Delta, None]:
        """Yield the role when the call is admitted, the text in pieces, and its citations.

        Without `streams` the text has the final sentences only. Raises as `answer_events`.
        """
        role = {"role": "assistant", "content": ""}
        if asked.housekeeping:
            async with services.gate.admit(request, "ask"):
                yield role
                yield {"content": await answer_housekeeping(asked.housekeeping, services.model)}
                yield {}
                return
        check_question(asked.question)
        (index, sources), public = target, public_address(services.server, request)
        call = AskCall(question=asked.question, way=asked.way, hops=asked.hops, index=index, sources=sources)
        text = CitedText(asked.question, lambda hit: hit_address(hit, index, public), streams=streams)
        async with aclosing(answer_events(request, services, call, asked.turns, self._count)) as events:
            async for event in events:
                if event is None:
                    yield role
                elif added := text.take(event):
                    yield {"content": added}
        if cited := [_url_citation(each) for each in text.citations if each.reference.url]:
            yield {"annotations": cited}
        yield {}

    def _count(self, event: StepEvent) -> None:
        """Add the tokens of a finished step."""
        if event.kind == "finished" and (call := event.step.model_call):
            self.prompt_tokens += call.get("prompt_tokens") or 0
            self.completion_tokens += call.get("completion_tokens") or 0

    async def whole(self, deltas: AsyncGenerator[Delta, None]) -> dict[str, Any]:
        """Join the parts into a completion."""
        text: list[str] = []
        message: Delta = {"role": "assistant", "content": "", "refusal": None, "annotations": []}
        async with aclosing(deltas):
            async for delta in deltas:
                text.append(delta.get("content", ""))
                message |= delta
        choice = {"index": 0, "message": message | {"content": "".join(text)}, "logprobs": None}
        return self._record("chat.completion", [choice | {"finish_reason": "stop"}]) | self._usage()

    def written(self, delta: Delta | Exception | None, *, with_usage: bool) -> bytes:
        """Write a part, or an error, as a chunk of a stream; the last one is followed by `[DONE]`."""
        if isinstance(delta, Exception):
            return _data(in_openai_format(problem(delta))[1]) + LAST
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None if delta else "stop"}
        unknown = {"usage": None} if with_usage else {}
        written = _data(self._record("chat.completion.chunk", [choice]) | unknown)
        if delta:
            return written
        used = _data(self._record("chat.completion.chunk", []) | self._usage()) if with_usage else b""
        return written + used + LAST

    def _usage(self) -> dict[str, Any]:
        tokens = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return {"usage": tokens | {"total_tokens": sum(tokens.values())}}

    def _record(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        shared = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return shared | {"choices": choices}


def _url_citation(citation: Citation) -> dict[str, Any]:
    """Return a mark `[n]` of the text as an annotation."""
    span = {"start_index": citation.start, "end_index": citation.end}
    reference = {"title": citation.reference.title, "url": citation.reference.url}
    return {"type": "url_citation", "url_citation": span | reference}


def _data(record: dict[str, Any]) -> bytes:
    """Format an event."""
    return f"data: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


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
) -> EventStream[Delta] | dict[str, Any]:
    """Answer the last question of a conversation from an index or a source, whole or streamed.

    Every sentence has citations `[1]`, the references follow at the end, and each mark is an annotation
    `url_citation`.
    """
    asked = asked_by(call)
    target = await _target_of(services, call.model)
    completion = Completion(normalize("NFC", call.model))
    deltas = completion.deltas(request, services, target, asked, streams=bool(call.stream))
    if call.stream:
        with_usage = bool(call.stream_options and call.stream_options.include_usage)
        return EventStream(deltas, partial(completion.written, with_usage=with_usage))
    return await completion.whole(deltas)


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
