"""Chat completions, whole and streamed: the text of an answer in pieces, then the parts that need all of it.

A streamed completion sends the pieces one by one, a plain one joins them. Where the model withdrew sentences,
the plain one lacks them.
"""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from starlette.requests import Request

from generator.calls import AskCall
from generator.housekeeping import answer_housekeeping
from generator.tracing.steps import StepEvent
from retriever.request import check_question
from server.addresses import hit_address, public_address
from server.cited_text import Citation, CitedText
from server.openai.calls import Asked, Target
from server.problems import in_openai_format, problem
from server.services import Services
from server.targets import answer_events

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
    request: Request, services: Services, target: Target, asked: Asked, *, streams: bool
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
        beside: dict[str, Any] = {"usage": None} if with_usage else {}
        chunks = b""
        for delta in deltas:
            choice = {"index": 0, "delta": delta, "logprobs": None}
            choice["finish_reason"] = None if delta else "stop"
            chunks += _data(self._record("chat.completion.chunk", [choice]) | beside)
        if not isinstance(piece, End):
            return chunks
        used = {"usage": piece.usage()}
        return (
            chunks + (_data(self._record("chat.completion.chunk", []) | used) if with_usage else b"") + LAST
        )

    def _record(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        shared = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return shared | {"choices": choices}


def _data(record: dict[str, Any]) -> bytes:
    """Format an event."""
    return f"data: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
