"""aiohttp applications that run in a thread until the end of a block."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@contextmanager
def answering(handle: Handle, **options: Any) -> Iterator[str]:
    """Answer each request, whatever its method and path, by `handle`; yield the address.

    `options` are those of the runner.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    app = web.Application(client_max_size=100_000_000)
    runner = web.AppRunner(app, access_log=None, **options)

    async def begin() -> int:
        app.router.add_route("*", "/{path:.*}", handle)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return int(runner.addresses[0][1])

    try:
        yield f"http://127.0.0.1:{asyncio.run_coroutine_threadsafe(begin(), loop).result()}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
