"""How much is done at once: places for work, a bounded queue before them, and who of it goes in first.

Whoever has the least under way is let in first, so a caller with a hundred questions does not hold up one
with a single one. A full queue refuses the caller who has the most in it: the newcomer, or for a newcomer who
has less the last that the busiest brought. While several callers come, none of them holds all of two or more
places. The last one is reserved for a caller without any, who would otherwise wait for work that cannot be
interrupted.

A queue that empties again and again takes up bursts, and may be long. One that never empties makes everybody
wait and serves nobody sooner (a standing queue, RFC 8289), so it is kept short once it has stood a while.
"""

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from server.errors import TooBusy

SMOOTHED_OVER = 16  # works that the mean time is of
FIRST_GUESS_S = 0.1  # before any work has ended
STOOD_S = 1.0  # after which a queue that was never empty is one that stands
ALONE_S = 10.0  # in which nobody else has come: then a caller may hold all places
SOON_S = 0.01  # until a place is looked at again that is still reserved, as two clocks differ a little
FULL = "the server has more to do than it can; come again in a moment"


class Places:
    """Places for one kind of work; one event loop's own."""

    def __init__(
        self,
        at_once: int,
        most_waiting: int,
        *,
        in_a_burst: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take how much may be under way at once, how much may wait, and how much of a burst."""
        self.at_once = at_once
        self._standing = most_waiting
        self._in_a_burst = max(most_waiting, in_a_burst)
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._queues: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_s = FIRST_GUESS_S
        self._came: OrderedDict[str, float] = OrderedDict()  # the last two callers, and when
        self._empty_until = -math.inf  # when the queue was empty last
        self._look_again: asyncio.TimerHandle | None = None

    @property
    def most_waiting(self) -> int:
        """How much may wait now."""
        now = self._clock()
        if not self._queues:
            self._empty_until = now
        return self._in_a_burst if now - self._empty_until < STOOD_S else self._standing

    @property
    def running(self) -> int:
        """How much is under way."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """How much waits."""
        return sum(map(len, self._queues.values()))

    def wait_s(self) -> float:
        """Estimate how long the next one would wait."""
        free = self.at_once - self.running - self.waiting
        return 0.0 if free > 0 else math.ceil((1 - free) / self.at_once) * self._mean_s

    def check(self, caller: str) -> None:
        """Raise TooBusy where `taken` would, at once and without any work done."""
        if not self._may_enter(caller):
            self._yielding(caller)

    @asynccontextmanager
    async def taken(self, caller: str) -> AsyncIterator[float]:
        """Hold a place; yield the seconds that it was waited for.

        Raises:
            TooBusy: too many wait already, or others who have less under way came behind.
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
        """Have a place more, for work under way that waits for another machine."""
        self.at_once += 1
        self._let_in()
        try:
            yield
        finally:
            self.at_once -= 1

    async def _enter(self, caller: str) -> None:
        if self._may_enter(caller) and caller not in self._queues:
            self._running[caller] += 1
            return
        if busiest := self._yielding(caller):
            self._refuse_last(busiest)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(caller, deque()).append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._leave(caller)  # it was let in meanwhile
            else:
                self._forget(caller, turn)
            raise

    def _leave(self, caller: str) -> None:
        """Give a place back, and let the next in."""
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        if caller in self._queues:
            self._queues.move_to_end(caller)  # others have their turn
        self._let_in()

    def _let_in(self) -> None:
        while able := [*filter(self._may_enter, self._queues)]:
            chosen = min(able, key=self._running.__getitem__)
            turn = self._queues[chosen].popleft()
            if not self._queues[chosen]:
                del self._queues[chosen]
            if not turn.done():
                self._running[chosen] += 1
                turn.set_result(None)
        self._let_in_later()

    def _let_in_later(self) -> None:
        """Schedule `_let_in` for when the reserved place opens to a caller who waits for it."""
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again = None
        if self._queues and self.at_once > self.running:
            opens_s = min(map(self._reserved_until, self._queues)) - self._clock()
            self._look_again = asyncio.get_running_loop().call_later(max(SOON_S, opens_s), self._let_in)

    def _note(self, caller: str, now: float) -> None:
        """Note when a caller came."""
        self._came[caller] = now
        self._came.move_to_end(caller)
        while len(self._came) > 2:  # noqa: PLR2004 - of two, one is another caller
            self._came.popitem(last=False)

    def _may_enter(self, caller: str) -> bool:
        """Tell whether there is a place for a caller, and it is not the last one, which others may need."""
        free = self.at_once - self.running
        if free != 1 or not self._running[caller]:
            return free > 0
        return self._reserved_until(caller) <= self._clock()

    def _reserved_until(self, caller: str) -> float:
        """Return until when the last place is reserved for callers other than this one."""
        others = [came for other, came in self._came.items() if other != caller]
        return max(others, default=-math.inf) + ALONE_S

    def _yielding(self, caller: str) -> str:
        """Return whose last gives way where a caller is to wait; "" where there is room.

        Raises:
            TooBusy: there is none, and nobody who waits has more than the caller would.
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
