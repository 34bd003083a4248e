"""Services of the tests, which answer without a network, and sources that ask them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import count
from typing import Any, TypeVar

import httpx

from retriever.queries.boolean import Or, Term
from retriever.sources.web.source import WebSource
from tests.retriever.sources.exchanges import CONTACT, EXCHANGES, Asked

Result = TypeVar("Result")
_transports: dict[str, httpx.MockTransport] = {}  # by address
_numbers = count(1)


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Replier = Callable[[Asked], Reply]


@contextmanager
def service(reply: Replier) -> Iterator[tuple[str, list[Asked]]]:
    """Yield the address of a service, and what it is asked."""
    asked: list[Asked] = []

    def answer(request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode()
        asked.append(Asked(request.method, target, request.headers, request.content))
        given = reply(asked[-1])
        return httpx.Response(given.status, headers=dict(given.headers), content=given.body)

    address = f"http://service-{next(_numbers)}.localhost"
    _transports[address] = httpx.MockTransport(answer)
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
    source.client = replace(source.client, transport=_transports.get(address))
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
