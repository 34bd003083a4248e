"""Concurrent work of a process: slots for one kind of work, and a bounded queue for them.

A caller has at most half of the slots and half of the queue, so nobody can keep the others out. Waiting
callers take turns.
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from server.errors import TooBusy
from server.monitoring import metrics


class WorkQueue:
    """Slots for one kind of work, for one event loop."""

    def __init__(self, work: str, slots: int, most_waiting: int) -> None:
        """`work`: the label in the metrics."""
        self.slots = slots
        self._work = work
        self._most_waiting = most_waiting
        self._running: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def running(self) -> int:
        """Number of running calls."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """Number of waiting calls."""
        return sum(map(len, self._queues.values()))

    def check(self, caller: str) -> None:
        """Raise TooBusy if a call of this caller can neither run nor wait."""
        own = len(self._queues.get(caller, ()))
        if self._may_run(caller) or (self.waiting < self._most_waiting and own < _half(self._most_waiting)):
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
        began = time.perf_counter()
        with metrics.WAITING.labels(self._work).track_inprogress():
            await self._wait(caller)
        metrics.WAITED.labels(self._work).observe(time.perf_counter() - began)
        try:
            with metrics.RUNNING.labels(self._work).track_inprogress():
                yield
        finally:
            self._release(caller)

    @contextmanager
    def lent(self, caller: str) -> Iterator[None]:
        """Lend the caller's slot to others while its work waits for another machine."""
        self._release(caller)
        try:
            yield
        finally:
            self._running[caller] += 1  # without waiting, even if another call has the slot

    async def _wait(self, caller: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(caller, turn)
            else:  # admitted in the meantime
                self._release(caller)
            raise

    def _admit(self) -> None:
        """Let waiting calls run while slots are free."""
        while caller := next(filter(self._may_run, self._queues), None):
            turn = self._queues[caller][0]
            self._leave(caller, turn)
            if not turn.done():
                self._running[caller] += 1
                turn.set_result(None)

    def _may_run(self, caller: str) -> bool:
        return self.running < self.slots and self._running[caller] < _half(self.slots)

    def _leave(self, caller: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(caller, deque())
        if turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[caller]

    def _release(self, caller: str) -> None:
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        if caller in self._queues:
            self._queues.move_to_end(caller)
        self._admit()


def _half(number: int) -> int:
    return (number + 1) // 2
