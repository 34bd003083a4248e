"""Chat completions in OpenAI's format: requests, the questions in them, and answers, whole and streamed.

| field | effect |
|---|---|
| model, messages, stream, stream_options.include_usage | used |
| metadata.way, metadata.hops | used as in `ask` |
| n above 1, logprobs, audio, a required tool call, a JSON format | refused, as not supported |
| temperature, max_tokens, stop, seed, tools, user, other metadata and the rest | accepted, no effect |

A streamed completion sends the pieces of an answer's text one by one, then the parts that need all of it; a
plain one joins them. Where the model withdrew sentences, the plain one lacks them.
"""

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from generator.calls import AskCall
from generator.housekeeping import Housekeeping, answer_housekeeping, find_housekeeping, question_in
from generator.request import Turn
from generator.settings import HopsMode
from generator.tracing import StepEvent
from generator.ways import way_names
from retriever.request import check_question
from server.addresses import hit_address, public_address
from server.cited_text import Citation, CitedText
from server.errors import BadRequest
from server.problems import in_openai_format, problem
from server.services import Services
from server.targets import answer_events

ModelTarget: TypeAlias = tuple[str | None, tuple[str, ...]]  # an index, or sources instead of one

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


@dataclass(slots=True)
class End:
    """The last piece: the citation marks in the text, and the tokens that the model read and wrote.

    The tokens are zero without a model, and where its server reports none.
    """

    citations: tuple[Citation, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def listen(self, event: StepEvent) -> None:
        """Add the tokens of a finished step."""
        if event.kind == "finished" and (call := event.step.model_call):
            self.prompt_tokens += call.get("prompt_tokens") or 0
            self.completion_tokens += call.get("completion_tokens") or 0

    def annotations(self) -> list[dict[str, Any]]:
        """Return the marks `[n]` of the text as URL citations."""
        return [
            {
                "type": "url_citation",
                "url_citation": {
                    "start_index": citation.start,
                    "end_index": citation.end,
                    "title": citation.reference.title,
                    "url": citation.reference.url,
                },
            }
            for citation in self.citations
            if citation.reference.url
        ]

    def usage(self) -> dict[str, int]:
        """Return the tokens."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
        }


Piece: TypeAlias = str | End | None  # None: the call is admitted


async def pieces_of(
    request: Request, services: Services, target: ModelTarget, asked: Asked, *, streams: bool
) -> AsyncGenerator[Piece, None]:
    """Yield the pieces of an answer; raises as `answer_events`.

    Without `streams` the text has the final sentences only.
    """
    end = End()
    if asked.housekeeping:
        async with services.gate.admit(request, "ask"):
            yield None
            yield await answer_housekeeping(asked.housekeeping, services.model)
            yield end
            return
    check_question(asked.question)
    (index, sources), public = target, public_address(services.server, request)
    call = AskCall(question=asked.question, way=asked.way, hops=asked.hops, index=index, sources=sources)
    text = CitedText(asked.question, lambda hit: hit_address(hit, index, public), streams=streams)
    async with aclosing(answer_events(request, services, call, asked.turns, end.listen)) as events:
        async for event in events:
            if event is None:
                yield None
            elif added := text.take(event):
                yield added
    end.citations = tuple(text.citations)
    yield end


@dataclass(frozen=True, slots=True)
class Completion:
    """Fields that all parts of one completion share."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self, pieces: AsyncGenerator[Piece, None]) -> dict[str, Any]:
        """Join the pieces into a completion."""
        text, end = "", End()
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, End):
                    end = piece
                else:
                    text += piece or ""
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": end.annotations()}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._record("chat.completion", [choice]) | {"usage": end.usage()}

    def written(self, piece: Piece | Exception, *, with_usage: bool) -> bytes:
        """Write a piece, or an error, as chunks of a stream; the last ones are followed by `[DONE]`."""
        if isinstance(piece, Exception):
            return _data(in_openai_format(problem(piece))[1]) + LAST
        deltas: list[dict[str, Any]]
        if isinstance(piece, End):
            noted = piece.annotations()
            deltas = [{"annotations": noted}, {}] if noted else [{}]
        else:
            deltas = [{"role": "assistant", "content": ""} if piece is None else {"content": piece}]
        chunks = []
        for delta in deltas:
            choice = {"index": 0, "delta": delta, "logprobs": None}
            choice["finish_reason"] = None if delta else "stop"
            chunks.append(self._record("chat.completion.chunk", [choice]))
            chunks[-1] |= {"usage": None} if with_usage else {}
        if isinstance(piece, End) and with_usage:
            chunks.append(self._record("chat.completion.chunk", []) | {"usage": piece.usage()})
        return b"".join(map(_data, chunks)) + (LAST if isinstance(piece, End) else b"")

    def _record(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        shared = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return shared | {"choices": choices}


def _data(record: dict[str, Any]) -> bytes:
    """Format an event."""
    return f"data: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
