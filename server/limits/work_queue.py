"""Concurrency limits: places for work, a bounded queue for them, and the order of admission.

The caller with the least running work is admitted first, so a hundred questions of one caller do not delay a
single one of another. A full queue refuses the caller who has the most in it: the newcomer, or, if the
newcomer has less, the last call of the busiest caller. While several callers arrive, none of them gets all of
two or more places. The last place is reserved for a caller without running work, who would otherwise wait for
work that cannot be interrupted.

A queue that empties again and again absorbs bursts, and may be long. A queue that never empties makes
everybody wait and serves nobody sooner (a standing queue, RFC 8289), so it is kept short after a while.
"""

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from server.errors import TooBusy

SMOOTHED_OVER = 16  # window of the mean time, in calls
FIRST_GUESS_S = 0.1  # mean time before any work has ended
STOOD_S = 1.0  # time without an empty queue that makes a standing queue
ALONE_S = 10.0  # time without other callers after which one may hold all places
SOON_S = 0.01  # minimum delay of a second look at a reserved place: two clocks differ slightly
FULL = "the server is busy; try again in a moment"


class WorkQueue:
    """Places for one kind of work, for one event loop."""

    def __init__(
        self,
        at_once: int,
        most_waiting: int,
        *,
        in_a_burst: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Set the limits of running calls, of waiting calls, and of waiting calls in a burst."""
        self.at_once = at_once
        self._standing = most_waiting
        self._in_a_burst = max(most_waiting, in_a_burst)
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_s = FIRST_GUESS_S
        self._came: OrderedDict[str, float] = OrderedDict()  # the last two callers, and their times
        self._empty_until = -math.inf  # last time the queue was empty
        self._look_again: asyncio.TimerHandle | None = None

    @property
    def most_waiting(self) -> int:
        """Number of calls that may wait now."""
        now = self._clock()
        if not self._queues:
            self._empty_until = now
        return self._in_a_burst if now - self._empty_until < STOOD_S else self._standing

    @property
    def running(self) -> int:
        """Number of running calls."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """Number of waiting calls."""
        return sum(map(len, self._queues.values()))

    def wait_s(self) -> float:
        """Estimate the waiting time of the next call, in seconds."""
        free = self.at_once - self.running - self.waiting
        return 0.0 if free > 0 else math.ceil((1 - free) / self.at_once) * self._mean_s

    def check(self, caller: str) -> None:
        """Raise TooBusy immediately if `taken` would."""
        if not self._may_enter(caller):
            self._caller_to_evict(caller)

    @asynccontextmanager
    async def taken(self, caller: str) -> AsyncIterator[float]:
        """Hold a place; yield the seconds spent waiting.

        Raises:
            TooBusy: too many calls are waiting, or later callers with less running work came first.
        """
        began = self._clock()
        self._note(caller, began)
        await self._enter(caller)
        entered = self._clock()
        try:
            yield entered - began
        finally:
            self._mean_s += (self._clock() - entered - self._mean_s) / SMOOTHED_OVER
            self._leave(caller)

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Add a place while running work waits for another machine."""
        self.at_once += 1
        self._admit_next()
        try:
            yield
        finally:
            self.at_once -= 1

    async def _enter(self, caller: str) -> None:
        if self._may_enter(caller) and caller not in self._queues:
            self._running[caller] += 1
            return
        if busiest := self._caller_to_evict(caller):
            self._refuse_last(busiest)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self._admit_next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave(caller)  # it was admitted in the meantime
            else:
                self._forget(caller, turn)
            raise

    def _leave(self, caller: str) -> None:
        """Release a place, and admit the next call."""
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        if caller in self._queues:
            self._queues.move_to_end(caller)  # others come first
        self._admit_next()

    def _admit_next(self) -> None:
        while able := [*filter(self._may_enter, self._queues)]:
            chosen = min(able, key=self._running.__getitem__)
            turn = self._queues[chosen].popleft()
            if not self._queues[chosen]:
                del self._queues[chosen]
            if not turn.done():
                self._running[chosen] += 1
                turn.set_result(None)
        self._admit_later()

    def _admit_later(self) -> None:
        """Schedule `_admit_next` for the time when the reserved place opens to a waiting caller."""
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again = None
        if self._queues and self.at_once > self.running:
            opens_s = min(map(self._reserved_until, self._queues)) - self._clock()
            self._look_again = asyncio.get_running_loop().call_later(max(SOON_S, opens_s), self._admit_next)

    def _note(self, caller: str, now: float) -> None:
        """Record the arrival of a caller."""
        self._came[caller] = now
        self._came.move_to_end(caller)
        while len(self._came) > 2:  # noqa: PLR2004 - one of two is another caller
            self._came.popitem(last=False)

    def _may_enter(self, caller: str) -> bool:
        """Check whether a place is free for a caller; the last one may be reserved for others."""
        free = self.at_once - self.running
        if free != 1 or not self._running[caller]:
            return free > 0
        return self._reserved_until(caller) <= self._clock()

    def _reserved_until(self, caller: str) -> float:
        """Return the time until which the last place is reserved for callers other than this one."""
        others = [came for other, came in self._came.items() if other != caller]
        return max(others, default=-math.inf) + ALONE_S

    def _caller_to_evict(self, caller: str) -> str:
        """Return the caller whose last call makes room for a new one; "" if the queue has room.

        Raises:
            TooBusy: the queue is full, and no caller has more than this one would have.
        """
        if self.waiting < self.most_waiting:
            return ""
        busiest = max(self._queues, key=self._held, default="")
        if not busiest or self._held(busiest) <= self._held(caller) + 1:
            raise TooBusy(FULL, retry_after_s=self.wait_s())
        return busiest

    def _held(self, caller: str) -> int:
        return self._running[caller] + len(self._queues.get(caller, ()))

    def _refuse_last(self, caller: str) -> None:
        turn = self._queues[caller][-1]
        self._forget(caller, turn)
        if not turn.done():
            turn.set_exception(TooBusy(FULL, retry_after_s=self.wait_s()))

    def _forget(self, caller: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(caller)
        if queue is None or turn not in queue:
            return
        queue.remove(turn)
        if not queue:
            del self._queues[caller]
