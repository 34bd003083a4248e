"""What the gate counts, in the memory of a process: slots for work, rates, and calls per day."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from server.errors import TooBusy, TooOften
from server.monitoring import metrics

DAY_S = 86_400
PRUNED_FROM = 10_000  # buckets
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket's size, and its fill rate."""

    per_minute: float
    burst: int

    @property
    def interval(self) -> float:
        """Seconds per token."""
        return 60.0 / self.per_minute

    @property
    def window(self) -> float:
        """Seconds until an empty bucket is full."""
        return self.interval * self.burst


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of taking a token."""

    allowed: bool
    left: int  # tokens
    wait_s: float  # until the next token

    def headers(self, name: str, rate: Rate) -> list[tuple[bytes, bytes]]:
        """Return the headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10)."""
        policy = f'"{name}";q={rate.burst};w={max(1, round(rate.window))}'
        limit = f'"{name}";r={self.left};t={max(0, -int(-self.wait_s // 1))}'
        return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", limit.encode())]


class Buckets:
    """Token buckets by name.

    A bucket is stored as the time at which it will be full (the theoretical arrival time of the generic cell
    rate algorithm, ITU-T I.371). A full bucket needs no entry.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with full buckets."""
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._pruned_at = PRUNED_FROM

    def take(self, name: str, rate: Rate) -> Taken:
        """Take a token from a bucket; an empty bucket is left unchanged."""
        now = self._clock()
        full_at = max(now, self._full_at.get(name, now)) + rate.interval
        left = int((rate.window - (full_at - now)) / rate.interval + ROUNDING)
        wait_s = full_at - now - rate.window
        if wait_s > ROUNDING:
            return Taken(allowed=False, left=0, wait_s=wait_s)
        self._full_at[name] = full_at
        if len(self._full_at) > self._pruned_at:
            self._full_at = {name: full_at for name, full_at in self._full_at.items() if full_at > now}
            self._pruned_at = max(PRUNED_FROM, 2 * len(self._full_at))
        return Taken(allowed=True, left=left, wait_s=0.0 if left else wait_s + rate.interval)

    def require(self, name: str, rate: Rate, message: str) -> None:
        """Take a token. Raises TooOften with the message if there is none."""
        taken = self.take(name, rate)
        if not taken.allowed:
            raise TooOften(message, retry_after_s=taken.wait_s)


class DailyUse:
    """Searches and questions of each key today (UTC)."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Start with no calls."""
        self._clock = clock
        self._day = 0
        self._used: Counter[str] = Counter()

    def used(self, key_id: str) -> int:
        """Return the calls of a key today."""
        today = int(self._clock() // DAY_S)
        if today != self._day:
            self._day, self._used = today, Counter()
        return self._used[key_id]

    def add(self, key_id: str) -> int:
        """Count a call of a key, and return its calls today."""
        self._used[key_id] = self.used(key_id) + 1
        return self._used[key_id]

    def ends_in_s(self) -> float:
        """Return the seconds until midnight."""
        return DAY_S - self._clock() % DAY_S


class Slots:
    """Slots for one kind of work, and a bounded queue for them, for one event loop.

    A caller has at most half of the slots and half of the queue, so nobody can keep the others out.
    """

    def __init__(self, work: str, number: int, most_waiting: int) -> None:
        """`work`: the label in the metrics."""
        self.number, self.running = number, 0
        self._work, self._most_waiting = work, most_waiting
        self._free = asyncio.Semaphore(number)
        self._of_caller: dict[str, asyncio.Semaphore] = {}
        self._calls: Counter[str] = Counter()  # running and waiting

    @property
    def waiting(self) -> int:
        """Number of waiting calls."""
        return self._calls.total() - self.running

    def check(self, caller: str) -> None:
        """Raise TooBusy if a call of this caller can neither run nor wait."""
        own = _half(self.number) + _half(self._most_waiting)
        if self._calls[caller] < own and self._calls.total() < self.number + self._most_waiting:
            return
        metrics.REFUSED.labels(self._work, "queue").inc()
        raise TooBusy("the server is busy; try again in a moment", retry_after_s=1)

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it. A caller who leaves in the meantime leaves the queue.

        Raises:
            TooBusy: too many calls are waiting.
        """
        self.check(caller)
        self._calls[caller] += 1
        own = self._of_caller.setdefault(caller, asyncio.Semaphore(_half(self.number)))
        began = time.perf_counter()
        try:
            async with AsyncExitStack() as held:
                with metrics.WAITING.labels(self._work).track_inprogress():
                    await held.enter_async_context(own)
                    await held.enter_async_context(self._free)
                metrics.WAITED.labels(self._work).observe(time.perf_counter() - began)
                with metrics.RUNNING.labels(self._work).track_inprogress():
                    self.running += 1
                    held.callback(self._end)
                    yield
        finally:
            self._calls[caller] -= 1
            if not self._calls[caller]:
                del self._calls[caller], self._of_caller[caller]

    def _end(self) -> None:
        self.running -= 1


def _half(number: int) -> int:
    return (number + 1) // 2
