"""A chat call sent until it is answered: a place among others, the circuit, retries, within one limit."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from generator.errors import ModelFailed, ModelRefusedCall, ModelTooSlow
from generator.llm.circuit import Circuit
from generator.llm.completion import Completion, Growing
from generator.llm.endpoint import Endpoint
from generator.llm.limits import Limit, now
from generator.llm.reading import Answered, OnGrowth, Sent
from generator.llm.retries import may_pass, pause_s
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx


@dataclass(slots=True)
class Times:
    """Seconds of a call: waited for a place, until the first token came, all of it; requests sent.

    A call that was answered from a file keeps the count of requests of its recording.
    """

    queued_s: float = 0.0
    first_token_s: float | None = None
    total_s: float = 0.0
    attempts: int = 0
    from_cache: bool = False


@dataclass(frozen=True, slots=True)
class Delivered:
    """A completion, and what it took."""

    completion: Completion
    times: Times = field(default_factory=Times)


class Sender:
    """Sends calls to one endpoint, at most `concurrency` at a time; belongs to the loop it is opened in."""

    def __init__(
        self,
        settings: LanguageModelSettings,
        transport: "httpx.AsyncBaseTransport | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self.endpoint = Endpoint(settings, transport)
        self.circuit = Circuit(
            settings.circuit_failures, settings.circuit_open_s, self.endpoint.url, clock=clock
        )
        self._places = asyncio.Semaphore(settings.concurrency)

    async def open(self) -> None:
        """Open the endpoint."""
        self._places = asyncio.Semaphore(self._settings.concurrency)
        await self.endpoint.open()

    async def close(self) -> None:
        """Close the endpoint and its connections."""
        await self.endpoint.close()

    async def send(self, content: bytes, limit: Limit, on_growth: OnGrowth | None = None) -> Delivered:
        """Send a call until it is answered; only what may pass by itself is tried again.

        Raises:
            ModelFailed: the last failure, or the one behind which no time is left.
        """
        started = now()
        times = Times()
        while True:
            times.attempts += 1
            if on_growth and times.attempts > 1:
                on_growth(Growing(self._settings.model or ""))
            try:
                answered = await self._attempt(Sent(content, times.attempts, limit, on_growth), times)
            except ModelFailed as failure:
                await self._pause(failure, content, limit, times.attempts)
            else:
                times.first_token_s = answered.first_token_s
                times.total_s = now() - started
                return Delivered(answered.completion, times)

    async def _attempt(self, sent: Sent, times: Times) -> Answered:
        self.circuit.check()
        async with self._place(sent.limit, times):
            if not sent.limit.left:
                raise ModelTooSlow(
                    f"nothing of {sent.limit} was left to ask {self.endpoint.url} in. Raise "
                    f"SHRAG_LLM__{sent.limit.setting.upper()}.",
                    of_server=False,
                )
            with self.circuit.passage():
                return await self.endpoint.complete(sent)

    @asynccontextmanager
    async def _place(self, limit: Limit, times: Times) -> AsyncIterator[None]:
        """Wait for one of the places; the time counts."""
        began = now()
        try:
            async with asyncio.timeout_at(limit.at):
                await self._places.acquire()
        except TimeoutError:
            raise ModelTooSlow(
                f"{self._settings.concurrency} calls of {self.endpoint.url} were under way for {limit}, none "
                "ended for this one. Raise SHRAG_LLM__CONCURRENCY where the server can take more.",
                of_server=False,
            ) from None
        finally:
            times.queued_s += now() - began
        try:
            yield
        finally:
            self._places.release()

    async def _pause(self, failure: ModelFailed, content: bytes, limit: Limit, attempt: int) -> None:
        """Wait before the next attempt, or raise the failure where there is to be none."""
        if not may_pass(failure) or attempt > self._settings.retries or self.circuit.is_open:
            raise failure
        asked_for = failure.retry_after_s if isinstance(failure, ModelRefusedCall) else None
        pause = pause_s(attempt, self._settings.backoff_s, content, asked_for)
        if pause < limit.left:
            await asyncio.sleep(pause)
            if limit.left:
                return
        if isinstance(failure, ModelRefusedCall) and asked_for is not None:
            left = f"{asked_for:.3g} s, longer than what is left of {limit}"
            raise type(failure)(f"{failure} It asks for a pause of {left}.", status=failure.status) from None
        raise failure
