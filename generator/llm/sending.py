"""Sending of a chat call: concurrency limit, circuit breaker and retries within one time limit."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from base.amounts import plain
from base.net.backoff import TRANSIENT_STATUSES, growing_pauses
from generator.errors import CircuitOpen, ModelFailed, ModelRefusedCall, ModelTooSlow
from generator.llm.endpoint import Endpoint
from generator.llm.limits import Limit, now
from generator.llm.replies import Completion
from generator.llm.responses import ListenerFailed, OnGrowth
from generator.settings import LanguageModelSettings

if TYPE_CHECKING:
    import httpx


class Circuit:
    """Closed: requests pass. Open: none pass. After `open_s` one request tries the server.

    `clock` returns monotonic seconds.
    """

    def __init__(
        self, failures: int, open_s: float, endpoint: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._allowed = failures
        self._open_s = open_s
        self._endpoint = endpoint
        self._clock = clock
        self._failures = 0  # in a row
        self._opened_at: float | None = None
        self._trying = False
        self._last = ""

    @property
    def is_open(self) -> bool:
        """Whether a request would be refused now."""
        return self._opened_at is not None and (self._trying or self._left_s > 0)

    @property
    def _left_s(self) -> float:
        return 0.0 if self._opened_at is None else self._opened_at + self._open_s - self._clock()

    def check(self) -> None:
        """Raise CircuitOpen if a request would be refused now."""
        if self.is_open:
            left = self._left_s
            wait = "one request is trying it now" if left <= 0 else f"tried again in {left:.0f} s"
            raise CircuitOpen(
                f"{self._endpoint} failed {self._failures} times in a row; calls are paused ({wait}; "
                f"SHRAG_LLM__CIRCUIT_OPEN_S). Last error: {self._last}"
            )

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Let one request through and update the circuit with its outcome.

        A request that is cancelled, or was sent with too little time left, does not change the circuit.

        Raises:
            CircuitOpen: requests are paused.
        """
        self.check()
        trying = self._opened_at is not None
        self._trying = self._trying or trying
        try:
            yield
        except ModelFailed as error:
            if error.of_server:
                self._failures += 1
                self._last = str(error)
                if trying or (self._opened_at is None and self._failures >= self._allowed):
                    self._opened_at = self._clock()
            elif not isinstance(error, ModelTooSlow):
                self._close()
            raise
        else:
            self._close()
        finally:
            if trying:
                self._trying = False

    def _close(self) -> None:
        self._failures, self._opened_at = 0, None


class Sender(Endpoint):
    """An endpoint with at most `concurrency` running calls; bound to the event loop that opened it."""

    def __init__(
        self,
        settings: LanguageModelSettings,
        transport: "httpx.AsyncBaseTransport | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(settings, transport)
        self.circuit = Circuit(settings.circuit_failures, settings.circuit_open_s, self.url, clock)

    async def open(self) -> None:
        """Make the client and its concurrency limit."""
        self._places = asyncio.Semaphore(self.settings.concurrency)
        await super().open()

    async def send(
        self,
        content: bytes,
        limit: Limit,
        on_growth: OnGrowth | None = None,
        may_ask_again: Callable[[], bool] = lambda: True,
    ) -> Completion:
        """Send a call; transient failures are retried while `may_ask_again` returns True.

        Raises:
            ModelFailed: the last failure, or the one after which no time is left.
            Exception: any exception of `on_growth`, unchanged.
        """
        queued_s, attempts = 0.0, 0
        pauses = growing_pauses(self.settings.backoff_s)
        while True:
            if on_growth and attempts:
                on_growth("", 0)
            started = now()
            try:
                self.circuit.check()
                async with self._place(limit):
                    queued_s += now() - started
                    with self.circuit.passage():
                        attempts += 1
                        answer = await self.complete(content, limit, on_growth)
            except ListenerFailed as failed:  # not a failure of the server
                raise failed.error from None
            except ModelFailed as failure:
                failure.attempts = attempts
                if attempts > self.settings.retries or not _is_transient(failure) or self.circuit.is_open:
                    raise
                if not may_ask_again():
                    raise
                await _pause(failure, next(pauses), limit)
            else:
                answer.attempts, answer.queued_s = attempts, queued_s
                return answer

    @asynccontextmanager
    async def _place(self, limit: Limit) -> AsyncIterator[None]:
        """Wait for a free slot; ModelTooSlow if no time is left then."""
        try:
            async with asyncio.timeout_at(limit.at):
                await self._places.acquire()
        except TimeoutError:
            raise ModelTooSlow(
                f"{self.settings.concurrency} calls of {self.url} were running for {limit}, and this one "
                "found no free slot. Raise SHRAG_LLM__CONCURRENCY if the server can serve more calls.",
                of_server=False,
            ) from None
        try:
            if not limit.left:
                raise ModelTooSlow(
                    f"no time of {limit} was left for a request to {self.url}. Raise "
                    f"SHRAG_LLM__{limit.setting.upper()}.",
                    of_server=False,
                )
            yield
        finally:
            self._places.release()


async def _pause(failure: ModelFailed, pause_s: float, limit: Limit) -> None:
    """Wait before the next attempt, or for Retry-After; raise the failure if too little time is left."""
    asked_for = failure.retry_after_s if isinstance(failure, ModelRefusedCall) else None
    spread = random.uniform(0.75, 1.25)  # noqa: S311 - spreads the retries of calls that failed together
    wait = pause_s * spread if asked_for is None else asked_for
    if wait >= limit.left:
        if asked_for is not None:
            short = f"It asks for a pause of {plain(round(asked_for, 1))} s, more than is left of {limit}."
            failure.args = (f"{failure.args[0]} {short}",)
        raise failure
    await asyncio.sleep(wait)


def _is_transient(failure: ModelFailed) -> bool:
    """Check whether a retry may succeed; a server that was too slow would be too slow again."""
    if isinstance(failure, ModelRefusedCall) and failure.status in TRANSIENT_STATUSES:
        return True
    return failure.of_server and not isinstance(failure, ModelTooSlow)
