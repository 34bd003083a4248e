"""A server before the cluster that answers some requests itself, as an overloaded or broken one would."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from tests.service.apps import answering
from tests.service.elasticsearch.server import Access

PRODUCT = {"X-elastic-product": "Elasticsearch"}
Answer = tuple[int, Any]  # status and JSON


@dataclass
class Proxy:
    """Answers what `answers` has an answer to (by method, path and body), and passes the rest on."""

    access: Access
    behind: str
    answers: Callable[[str, str, bytes], Answer | None] = lambda *_: None
    seen: Counter[str] = field(default_factory=Counter)  # requests by the last part of their path
    cut: int = 0  # bulk requests that the cluster gets, and whose answers get lost

    def fail(self, part: str, answer: Answer, times: int) -> None:
        """Answer the next so many requests to a path with `part` in it so."""
        self.seen.clear()
        left = [times]

        def answers(method: str, path: str, body: bytes) -> Answer | None:
            del method, body
            if part in path and left[0] > 0:
                left[0] -= 1
                return answer
            return None

        self.answers = answers

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.seen[request.path.rpartition("/")[2]] += 1
        own = self.answers(request.method, request.path, body)
        if own is not None:
            status, answer = own
            return web.Response(
                status=status, text=json.dumps(answer), content_type="application/json", headers=PRODUCT
            )
        kept = ("Authorization", "Content-Type", "Accept")
        headers = {name: request.headers[name] for name in kept if name in request.headers}
        headers["Accept-Encoding"] = "identity"
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, self.behind + request.raw_path, data=body, headers=headers
            ) as answered,
        ):
            if self.cut and request.path.endswith("_bulk") and request.transport:
                await answered.read()
                self.cut -= 1
                request.transport.close()
            passed = {name: answered.headers[name] for name in ("Content-Type",) if name in answered.headers}
            return web.Response(status=answered.status, body=await answered.read(), headers=passed | PRODUCT)


@contextmanager
def proxy_before(access: Access) -> Iterator[Proxy]:
    """Run a proxy before a cluster."""
    proxy = Proxy(access, access.url)
    with answering(proxy.handle) as url:
        proxy.access = Access(url, access.username, access.password)
        yield proxy
