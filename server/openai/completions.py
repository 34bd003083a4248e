"""Chat completions, whole and streamed, from the pieces of an answer."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.openai.pieces import Admitted, End, Piece
from server.openai_errors import in_openai_format
from server.problems import problem
from server.refusals import error_response

END = b"data: [DONE]\n\n"
COMMENT = b": one moment\n\n"
KEPT_ALIVE_EVERY_S = 15.0


@dataclass(frozen=True, slots=True)
class Completion:
    """Fields that all parts of one completion share."""

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def whole(self, pieces: AsyncGenerator[Piece, None]) -> dict[str, Any]:
        """Join the pieces into a completion."""
        texts, end = [], End()
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, str):
                    texts.append(piece)
                elif isinstance(piece, End):
                    end = piece
        message = {
            "role": "assistant",
            "content": "".join(texts),
            "refusal": None,
            "annotations": annotations(end),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._record("chat.completion", [choice]) | {"usage": usage(end)}

    def chunks(self, piece: Piece, *, with_usage: bool) -> Iterator[bytes]:
        """Write a piece as chunks of a stream."""
        deltas: list[tuple[dict[str, Any], str | None]]
        if isinstance(piece, Admitted):
            deltas = [({"role": "assistant", "content": ""}, None)]
        elif isinstance(piece, str):
            deltas = [({"content": piece}, None)]
        else:
            noted = annotations(piece)
            deltas = [({"annotations": noted}, None)] if noted else []
            deltas.append(({}, "stop"))
        beside: dict[str, Any] = {"usage": None} if with_usage else {}
        for delta, reason in deltas:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            yield data(self._record("chat.completion.chunk", [choice]) | beside)
        if with_usage and isinstance(piece, End):
            yield data(self._record("chat.completion.chunk", []) | {"usage": usage(piece)})

    def _record(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


class CompletionStream(Response):
    """A completion as server-sent events; the work ends when the reader leaves.

    An error is sent as an event followed by `[DONE]`; an error before the first piece has its own status.
    """

    media_type = "text/event-stream"

    def __init__(
        self, completion: Completion, pieces: AsyncGenerator[Piece, None], *, with_usage: bool
    ) -> None:
        """`pieces`: a generator that has not started yet."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["Content-Length"]
        self._completion, self._pieces, self._with_usage = completion, pieces, with_usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the pieces until the last one, or until the reader leaves."""
        async with aclosing(self._pieces) as pieces, cancelled_without_reader(receive):
            try:
                first = await anext(pieces)
            except Exception as error:  # noqa: BLE001 - reported to the reader
                await error_response(error, scope)(scope, receive, send)
                return
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async with kept_alive(send):
                async for chunk in self._chunks(first):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": END, "more_body": False})

    async def _chunks(self, first: Piece) -> AsyncGenerator[bytes, None]:
        for chunk in self._completion.chunks(first, with_usage=self._with_usage):
            yield chunk
        try:
            async for piece in self._pieces:
                for chunk in self._completion.chunks(piece, with_usage=self._with_usage):
                    yield chunk
        except Exception as error:  # noqa: BLE001 - reported to the reader
            yield data(in_openai_format(problem(error))[1])


@asynccontextmanager
async def kept_alive(send: Send) -> AsyncIterator[None]:
    """Send a comment regularly, so that proxies do not close the stream while a model thinks."""

    async def comment() -> None:
        while True:
            await asyncio.sleep(KEPT_ALIVE_EVERY_S)
            await send({"type": "http.response.body", "body": COMMENT, "more_body": True})

    commenting = asyncio.create_task(comment())
    try:
        yield
    finally:
        commenting.cancel()
        await asyncio.gather(commenting, return_exceptions=True)


@asynccontextmanager
async def cancelled_without_reader(receive: Receive) -> AsyncIterator[None]:
    """Cancel the block when the reader leaves, and continue after it.

    The block runs in the task of the request, to which the gate's time limit applies.
    """
    task, over = asyncio.current_task(), False

    async def leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    def cancel(left: asyncio.Task[None]) -> None:
        if task and not over and not left.cancelled():
            task.cancel()

    leaving = asyncio.create_task(leave())
    leaving.add_done_callback(cancel)
    try:
        yield
    except asyncio.CancelledError:
        if task is None or not leaving.done() or task.uncancel():
            raise
    finally:
        over = True
        leaving.cancel()


def data(record: dict[str, Any]) -> bytes:
    """Format an event."""
    return f"data: {json.dumps(record, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def annotations(end: End) -> list[dict[str, Any]]:
    """Return the marks `[n]` of a text as URL citations."""
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
        for citation in end.citations
        if citation.reference.url
    ]


def usage(end: End) -> dict[str, int]:
    """Return the tokens that the language model read and wrote; zero without a model."""
    total = end.prompt_tokens + end.completion_tokens
    return {
        "prompt_tokens": end.prompt_tokens,
        "completion_tokens": end.completion_tokens,
        "total_tokens": total,
    }
