"""Chat completions, whole and streamed: the text of an answer in pieces, then the parts that need all of it.

A streamed completion sends the pieces one by one, a plain one joins them. Where the model withdrew sentences,
the plain one lacks them.
"""

import json
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from uuid import uuid4

from starlette.requests import Request

from generator.answer_events import stream_answer
from generator.calls import AskCall
from generator.housekeeping import answer_housekeeping
from generator.tracing import StepEvent
from retriever.request import check_question
from server.addresses import hit_address, public_address, without_address
from server.cited_text import Citation, CitedText
from server.openai.calls import Asked
from server.problems import in_openai_format, problem
from server.services import Services
from server.targets import open_target
from server.transport.streams import unless_stopping, until

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
    request: Request,
    services: Services,
    target: tuple[str | None, tuple[str, ...]],
    asked: Asked,
    *,
    streams: bool,
) -> AsyncGenerator[Piece, None]:
    """Yield the pieces of an answer; closing the generator ends the work, including the model's.

    `target` is an index, or sources in place of one. Without `streams` the text has the final sentences only.

    Raises:
        ServerError: the call is not admitted, or the server stops.
        RetrieverError, ResourceError: the question is invalid, or the index cannot be opened.
    """
    async with services.gate.admit(request, "ask"):
        end, settings = End(), services.settings
        if asked.housekeeping:
            yield None
            yield await unless_stopping(services, answer_housekeeping(asked.housekeeping, services.model))
            yield end
            return
        of = await open_target(services, *target)
        check_question(asked.question)
        ask = AskCall(question=asked.question, way=asked.way, hops=asked.hops).request(settings)
        ask, public = replace(ask, turns=asked.turns), public_address(services.server, request)
        text = CitedText(asked.question, lambda hit: hit_address(hit, of.index, public), streams=streams)
        yield None
        arriving = stream_answer(of.opened, ask, settings, model=services.model, listener=end.listen)
        async with aclosing(until(services.stopping, arriving)) as events:
            async for event in events:
                data = without_address({**event.data}, settings)
                if added := text.take(replace(event, data=data)):
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

    async def streamed(
        self, pieces: AsyncGenerator[Piece, None], *, with_usage: bool
    ) -> AsyncGenerator[bytes | None, None]:
        """Yield None when the call is admitted, then the chunks, an error as one, and `[DONE]`."""
        async with aclosing(pieces):
            first = await anext(pieces)
            yield None
            try:
                for chunk in self._chunks(first, with_usage=with_usage):
                    yield chunk
                async for piece in pieces:
                    for chunk in self._chunks(piece, with_usage=with_usage):
                        yield chunk
            except Exception as error:  # noqa: BLE001 - reported to the reader
                yield _data(in_openai_format(problem(error))[1])
            yield LAST

    def _chunks(self, piece: Piece, *, with_usage: bool) -> Iterator[bytes]:
        """Write a piece as chunks of a stream."""
        deltas: list[tuple[dict[str, Any], str | None]]
        if isinstance(piece, End):
            noted = piece.annotations()
            deltas = [({"annotations": noted}, None)] if noted else []
            deltas.append(({}, "stop"))
        else:
            delta = {"role": "assistant", "content": ""} if piece is None else {"content": piece}
            deltas = [(delta, None)]
        beside: dict[str, Any] = {"usage": None} if with_usage else {}
        for delta, reason in deltas:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            yield _data(self._record("chat.completion.chunk", [choice]) | beside)
        if with_usage and isinstance(piece, End):
            yield _data(self._record("chat.completion.chunk", []) | {"usage": piece.usage()})

    def _record(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        shared = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return shared | {"choices": choices}


def _data(record: dict[str, Any]) -> bytes:
    """Format an event."""
    return f"data: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
