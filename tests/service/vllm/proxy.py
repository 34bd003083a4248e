"""A server between client and vLLM that spoils what passes, as an overloaded or broken one would."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from tests.service.apps import answering

CALLS = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of vLLM's answer to a call."""

    wait_s: float = 0  # before anything happens
    pace_s: float = 0  # between two pieces of the answer
    cut_after: int | None = None  # bytes of the answer, then the connection breaks
    hold_after: int | None = None  # bytes of the answer, then nothing comes any more


NONE = Fault()
HELD = Fault(hold_after=0)


@dataclass
class Proxy:
    """Passes everything on; calls of the model meet the next of `faults`, and none when these are used up."""

    behind: str
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)  # their bodies

    @property
    def base_url(self) -> str:
        """Return where the API begins."""
        return f"{self.url}/v1"

    def meet(self, *faults: Fault) -> None:
        """Forget what was asked, and let the next calls meet these."""
        self.calls.clear()
        self.faults[:] = faults

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        fault = NONE
        if request.path.endswith(CALLS):
            self.calls.append(json.loads(body))
            fault = self.faults.pop(0) if self.faults else NONE
        await asyncio.sleep(fault.wait_s)
        unlimited = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(timeout=unlimited, trust_env=False) as session,
            session.request(
                request.method,
                self.behind + request.raw_path,
                data=body,
                headers={"Content-Type": request.headers.get("Content-Type", "application/json")},
            ) as answered,
        ):
            return await self._pass_on(request, answered, fault)

    async def _pass_on(
        self, request: web.Request, answered: aiohttp.ClientResponse, fault: Fault
    ) -> web.StreamResponse:
        response = web.StreamResponse(
            status=answered.status, headers={"Content-Type": answered.headers.get("Content-Type", "")}
        )
        await response.prepare(request)
        left = min((one for one in (fault.cut_after, fault.hold_after) if one is not None), default=None)
        async for piece in answered.content.iter_any():
            await response.write(piece if left is None else piece[:left])
            await asyncio.sleep(fault.pace_s)
            if left is None:
                continue
            left -= len(piece)
            if left <= 0 and fault.hold_after is not None:
                await asyncio.Event().wait()  # until the client goes
            if left <= 0 and request.transport:
                request.transport.abort()
                break
        return response


@contextmanager
def proxy_before(url: str) -> Iterator[Proxy]:
    """Run a proxy before the server at `url`."""
    proxy = Proxy(url)
    # A handler is cancelled when its client goes, and lets go of vLLM too.
    with answering(proxy.handle, handler_cancellation=True, shutdown_timeout=1) as proxy.url:
        yield proxy
