"""A service of the tests: a real server that answers as it is told, and a source that asks it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeVar

from retriever.queries.boolean import Or, Term
from retriever.sources.web.source import WebSource
from tests.http_server import Handler, serving
from tests.retriever.sources.exchanges import CONTACT, EXCHANGES, Asked

Result = TypeVar("Result")


@dataclass(frozen=True)
class Reply:
    """An answer; `more` zeros are sent behind its body, and it waits so long before it begins."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    more: int = 0
    claimed: int | None = None  # bytes that it says it has


Replier = Callable[[Asked], Reply]


@contextmanager
def service(reply: Replier) -> Iterator[tuple[str, list[Asked]]]:
    asked: list[Asked] = []

    class Service(Handler):
        protocol_version = "HTTP/1.1"

        def get(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(Asked(self.command, self.path, dict(self.headers), body))
            answer = reply(asked[-1])
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) + answer.more if answer.claimed is None else answer.claimed
            self.send_header("Content-Length", str(length))
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                self.wfile.write(answer.body)
                for _ in range(answer.more // 1_000_000):
                    self.wfile.write(b"0" * 1_000_000)
            except OSError:  # the reader has heard enough
                pass

        post = get

    with serving(Service) as address:
        yield address, asked


def open_kind(kind: str, address: str, **settings: Any) -> WebSource:
    module = import_module(f"retriever.sources.kinds.{kind}")
    given = {
        "kind": kind,
        "url": address,
        "contact": CONTACT,
        "requests_per_second": 100,
        "retries": 0,
        "request_timeout_s": 60,
        "timeout_s": 120,
        **EXCHANGES[kind].settings,
        **settings,
    }
    source: WebSource = module.open_source(f"my-{kind}", module.Settings(**given))
    return source


def ask(source: WebSource, call: Callable[[WebSource], Awaitable[Result]]) -> Result:
    async def asking() -> Result:
        try:
            return await call(source)
        finally:
            await source.close()

    return asyncio.run(asking())


def any_of(*words: str) -> Or:
    return Or(tuple(Term(word, (word,)) for word in words))


def well(kind: str) -> Replier:
    """Return a service that answers as its documentation says."""
    return lambda asked: Reply(EXCHANGES[kind].found(asked))
