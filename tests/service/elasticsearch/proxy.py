"""A server before the cluster that answers some requests itself, as an overloaded or broken one would."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

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
    answering: threading.Event = field(default_factory=threading.Event)  # cleared, it only takes requests

    def fail(self, part: str, answer: Answer, times: int) -> None:
        """Answer the next so many requests to a path with `part` in it so."""
        self.seen.clear()
        left = [times]

        def answers(_method: str, path: str, _body: bytes) -> Answer | None:
            if part in path and left[0] > 0:
                left[0] -= 1
                return answer
            return None

        self.answers = answers

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.seen[request.path.rpartition("/")[2]] += 1
        await asyncio.to_thread(self.answering.wait)
        own = self.answers(request.method, request.path, body)
        if own is not None:
            return web.json_response(own[1], status=own[0], headers=PRODUCT)
        kept = ("Authorization", "Content-Type", "Accept")
        headers = {name: request.headers[name] for name in kept if name in request.headers}
        headers["Accept-Encoding"] = "identity"
        address = self.behind + request.raw_path
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(request.method, address, data=body, headers=headers) as answered,
        ):
            content = await answered.read()
            if self.cut and request.path.endswith("_bulk") and request.transport:
                self.cut -= 1
                request.transport.close()
            passed = {name: answered.headers[name] for name in ("Content-Type",) if name in answered.headers}
            return web.Response(status=answered.status, body=content, headers=passed | PRODUCT)


@contextmanager
def proxy_before(access: Access) -> Iterator[Proxy]:
    """Run a proxy before a cluster, in a thread, until the end of the block."""
    proxy, loop = Proxy(access, access.url), asyncio.new_event_loop()
    proxy.answering.set()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    app = web.Application(client_max_size=100_000_000)
    app.router.add_route("*", "/{path:.*}", proxy.handle)
    runner = web.AppRunner(app, access_log=None)

    async def begin() -> int:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    try:
        port = asyncio.run_coroutine_threadsafe(begin(), loop).result()
        proxy.access = Access(f"http://127.0.0.1:{port}", access.username, access.password)
        yield proxy
    finally:
        proxy.answering.set()
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
