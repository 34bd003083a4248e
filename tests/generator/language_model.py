"""Language models for tests, at the HTTP seam: scripted answers in process, and a real local server."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx

from generator.settings import LanguageModelSettings
from tests.http_server import Handler, serving

BASE_URL = "http://model.test/v1"
PATIENCE_S = 120  # for what comes at once, on a machine that does much else
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def settings(**changed: Any) -> LanguageModelSettings:
    """Return settings of a model that is retried without waiting and writes a strategy in one call."""
    given = {"base_url": BASE_URL, "model": "tiny-writer", "backoff_s": 0, "timeout_s": 60}
    given |= {"strategy_calls": "one"}
    return LanguageModelSettings.model_validate(given | {"allow_plain_http": True} | changed)


def completion(content: Any, *, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """Return the body of a chat completion; content that is no text is written as JSON."""
    text = content if content is None or isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    said = {"role": "assistant", "content": text, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "tiny-writer-7b",
        "choices": [{"index": 0, "message": said, "finish_reason": finish_reason}],
        "usage": USAGE,
    }


def says(content: Any, **fields: Any) -> httpx.Response:
    """Return a response that holds a chat completion."""
    return httpx.Response(200, json=completion(content, **fields))


def piece(text: str | None = "", *, finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return one piece of a streamed chat completion."""
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "model": "tiny-writer-7b", "choices": [choice]}


COUNTS = {"model": "tiny-writer-7b", "choices": [], "usage": USAGE}


def events(content: Any, *, finish_reason: str = "stop") -> list[Any]:
    """Return the events of a stream that brings this content, in pieces of three characters."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    pieces = [piece(text[start : start + 3]) for start in range(0, len(text), 3)]
    return [piece(role="assistant"), *pieces, piece(finish_reason=finish_reason), COUNTS, "[DONE]"]


def written(*events: Any) -> bytes:
    """Write events as they go over the wire."""
    texts = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return b"".join(f"data: {text}\n\n".encode() for text in texts)


def streams(*events: Any) -> httpx.Response:
    """Return a response that is a stream of these events."""
    return httpx.Response(200, content=written(*events), headers={"Content-Type": "text/event-stream"})


@dataclass
class Slowly(httpx.AsyncByteStream):
    """A body that comes in parts, with a pause behind each."""

    parts: Iterable[bytes]
    pause_s: float

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Bring the parts."""
        for part in self.parts:
            yield part
            await asyncio.sleep(self.pause_s)


def streams_slowly(parts: Iterable[bytes], pause_s: float) -> httpx.Response:
    """Return a response that is a stream of these parts, with a pause behind each."""
    return httpx.Response(200, stream=Slowly(parts, pause_s), headers={"Content-Type": "text/event-stream"})


@dataclass
class Scripted:
    """A transport that gives its answers in turn and keeps what it was asked; an exception is raised.

    What is asked beside the chat calls is answered by `beside`: by the end of the address, else with 404.
    """

    answers: Sequence[httpx.Response | Exception]
    beside: Mapping[str, Callable[[httpx.Request], httpx.Response]] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)
    asked_beside: list[httpx.Request] = field(default_factory=list)

    @property
    def transport(self) -> httpx.MockTransport:
        """Return what stands in for the network."""
        return httpx.MockTransport(self._answer)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Return what was asked, in order."""
        return [json.loads(request.content) for request in self.requests]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/chat/completions"):
            self.asked_beside.append(request)
            answer_beside = self.beside.get(request.url.path.rpartition("/")[2])
            return answer_beside(request) if answer_beside else httpx.Response(404)
        self.requests.append(request)
        answer = self.answers[len(self.requests) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


Behaviour = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Served:
    """A running server: where it is, and the bodies that it was sent."""

    base_url: str
    behaviours: Sequence[Behaviour]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)  # the first call has come
    second: threading.Event = field(default_factory=threading.Event)  # and the second
    closed: threading.Event = field(default_factory=threading.Event)  # a client went in the middle

    def meet(self, *behaviours: Behaviour) -> None:
        """Forget the calls so far, and meet the next ones with these behaviours."""
        self.behaviours = behaviours
        self.bodies.clear()
        for event in (self.begun, self.second, self.closed):
            event.clear()


@contextmanager
def served(*behaviours: Behaviour) -> Iterator[Served]:
    """Run a server that meets each request with the next behaviour, the last one from then on."""

    model = Served("", behaviours)
    counting = threading.Lock()

    class Behaves(Handler):
        protocol_version = "HTTP/1.1"

        def get(self) -> None:
            answers_nothing(self)

        def post(self) -> None:
            asked = self.asked()
            if not self.path.endswith("/chat/completions"):
                answers_nothing(self)
                return
            with counting:
                model.bodies.append(asked)
                (model.begun if len(model.bodies) == 1 else model.second).set()
                behaviour = model.behaviours[min(len(model.bodies), len(model.behaviours)) - 1]
            try:
                behaviour(self)
            except OSError:
                model.closed.set()
                self.close_connection = True

    with serving(Behaves) as url:
        model.base_url = f"{url}/v1"
        yield model


def answers_with(content: Any, *, status: int = 200) -> Behaviour:
    """Answer as a working server does."""

    return lambda handler: handler.answer(status, completion(content))  # type: ignore[attr-defined]


def answers_nothing(handler: BaseHTTPRequestHandler) -> None:
    """Say that there is nothing at this address."""
    handler.send_response(404)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def streams_out(
    *events: Any, pause_s: float = 0.0, end: bool = True, until: threading.Event | None = None
) -> Behaviour:
    """Send events one by one, with a pause behind each, and stay open until something has happened.

    A function among them is called in its turn. Without `end` the connection breaks behind them.
    """

    def behave(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for event in events:
            if callable(event):
                event()
                continue
            data = event if isinstance(event, bytes) else written(event)
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            handler.wfile.flush()
            time.sleep(pause_s)
        if until:
            assert until.wait(PATIENCE_S)
        if end:
            handler.wfile.write(b"0\r\n\r\n")
        else:
            handler.close_connection = True

    return behave
