"""The gate that all work passes: roles, rates and concurrency, for every endpoint.

All counts are of one process: with N workers a caller has up to N times the limits.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import ceil
from typing import Annotated, Literal, TypeAlias

from fastapi import Depends
from starlette.requests import Request

from base.amounts import counted
from base.cores import usable_cores
from base.logs import get_logger
from server.access.callers import Visit, visit_of
from server.errors import QuotaUsed, Stopping, TooManyOpen, TooOften, TooSlow
from server.limits.counting import DAY_S, Buckets, DailyUse, Rate, Slots
from server.monitoring import metrics
from server.settings import Role, ServerSettings
from server.stopping import STOPPING

Work: TypeAlias = Literal["read", "search", "ask", "curate", "admin"]
ROLE_FOR: dict[Work, Role] = {"curate": "librarian", "admin": "operator"}  # other work: reader

# A caller has half of the slots. Searches are mostly Python, of which one thread runs at a time, so more than
# two of a caller would slow each other down.
SEARCHES_OF_A_PROCESS = 4
ASKS_OF_A_MODEL = 8  # divided among the processes: a model server batches requests
LEAST_ASKS = 4  # in each process
SEARCHES_OF_A_CLUSTER = 4  # per core
QUESTIONS_TO_SOURCES = 4  # per core
READS_BY_SEARCH = 2  # slots for reads per slot for searches
COUNTED_BY_DAY = frozenset({"search", "ask"})
BURST_OF_OWN = 1 / 3  # of a minute's calls, as in the default settings
REPORTED = Rate(per_minute=1, burst=1)  # log lines per caller and limit
REPORT_ONLY = (b"x-ratelimit-report-only", b"exceeded")
TAKEN_WITHIN_S = 10.0  # time for a reader to take the end of a stream

log = get_logger("server")


class Gate:
    """Admit work up to the capacity of the process and the limits of each caller."""

    def __init__(
        self, settings: ServerSettings, stopping: asyncio.Event, *, has_model: bool, has_cluster: bool
    ) -> None:
        """Read the limits of the settings. Work that waits for a model or a cluster leaves the cores free."""
        of_cluster = _cores(settings) * SEARCHES_OF_A_CLUSTER
        searches = settings.searches_at_once or (of_cluster if has_cluster else SEARCHES_OF_A_PROCESS)
        asks = max(LEAST_ASKS, ceil(ASKS_OF_A_MODEL / settings.processes)) if has_model else searches
        slots = {
            "search": searches,
            "read": searches * READS_BY_SEARCH,
            "ask": settings.asks_at_once or asks,
        }
        self.slots = {work: Slots(work, most, most * settings.waiting) for work, most in slots.items()}
        if settings.sources:  # a source that hangs takes no slot from searches of indexes
            at_once = settings.sources_at_once or _cores(settings) * QUESTIONS_TO_SOURCES
            self.slots["sources"] = Slots("sources", at_once, 0)
        self.buckets = Buckets()
        self.days = DailyUse()
        self._settings, self._stopping = settings, stopping
        self._open: Counter[str] = Counter()  # calls by caller
        self._rates = {
            "search": Rate(settings.searches_per_minute, settings.search_burst),
            "read": Rate(settings.reads_per_minute, settings.read_burst),
            "ask": Rate(settings.asks_per_minute, settings.ask_burst),
        }

    def count_open(self, visit: Visit) -> None:
        """Count a call as open until `visit.open_call` is closed.

        Raises:
            TooManyOpen: the limit is reached.
        """
        caller, own = visit.caller, visit.caller.limits.connections
        most = self._settings.connections_of_caller if own is None else own
        if not most or caller.has_no_limits:
            return
        name = caller.counted_as
        if self._open[name] >= most and self._refuses(visit, "connection", "queue", "open calls"):
            open_now = f"{counted(most, 'call')} {'is' if most == 1 else 'are'} open already"
            raise TooManyOpen(f"{open_now}; wait until one has ended", retry_after_s=1)
        self._open += Counter({name: 1})
        visit.open_call.callback(self._close, name)

    def _close(self, name: str) -> None:
        self._open -= Counter({name: 1})  # drops callers without open calls

    def check(self, visit: Visit, work: Work) -> None:
        """Refuse a call that `admit` would refuse, before its body is read.

        Raises:
            Unauthorized, Forbidden: the caller lacks the role.
            TooOften, QuotaUsed: the caller's bucket is empty, or the key's day is used up.
            TooBusy: too many calls are waiting.
        """
        visit.caller.require(ROLE_FOR.get(work, "reader"))
        if work in ROLE_FOR:
            return
        self.slots[work].check(visit.caller.counted_as)
        self._charge_rate(visit, work)
        if not self._settings.report_only:
            self._check_day(visit, work)

    @asynccontextmanager
    async def admit(
        self, request: Request, work: Work, *, is_stream: bool = False, asks_sources: bool = False
    ) -> AsyncIterator[None]:
        """Wait for a slot, and hold it during the work, which is cancelled when the reader leaves.

        Work that waits for sources has slots of its own, without a queue.
        A stream ends by itself at its time limit and when the server stops; this method ends it if the reader
        does not take the end.

        Raises:
            Unauthorized, Forbidden: the caller lacks the role.
            TooOften, QuotaUsed: the caller's bucket is empty, or the key's day is used up.
            TooBusy: too many calls are waiting.
            TooSlow: the work exceeded its time limit.
            Stopping: the server is being stopped.
        """
        visit = visit_of(request)
        visit.caller.require(ROLE_FOR.get(work, "reader"))
        if work in ROLE_FOR:
            visit.is_privileged = True
            yield
            return
        if visit.charged != work:
            self._charge_rate(visit, work)
        visit.charged = ""  # a second piece of work is counted separately
        slots = self.slots.get("sources" if asks_sources else work, self.slots[work])
        caller, loop = visit.caller.counted_as, asyncio.get_running_loop()
        seconds = self._settings.ask_s if work == "ask" else self._settings.search_s
        grace_s = TAKEN_WITHIN_S * is_stream
        async with self._ending_early(request, TooSlow(seconds), grace_s) as limit, slots.slot(caller):
            self._count_day(visit, work)
            visit.ends_at = loop.time() + seconds
            if limit.when() is None:  # not yet ending early
                limit.reschedule(visit.ends_at + grace_s)
            yield

    @asynccontextmanager
    async def _ending_early(
        self, request: Request, too_slow: Exception, grace_s: float
    ) -> AsyncIterator[asyncio.Timeout]:
        """Cancel the block at its time limit, when the reader leaves, or when the server stops."""
        reason: BaseException = too_slow
        limit = asyncio.timeout(None)

        async def end(event: Callable[[], Awaitable[object]], after_s: float, why: BaseException) -> None:
            nonlocal reason
            await event()
            if not limit.expired():
                reason = why
                limit.reschedule(asyncio.get_running_loop().time() + after_s)

        leaving = end(partial(_left, request), 0, asyncio.CancelledError("the reader has left"))
        tasks = [
            asyncio.create_task(each)
            for each in (leaving, end(self._stopping.wait, grace_s, Stopping(STOPPING)))
        ]
        try:
            async with limit:
                yield limit
        except TimeoutError:
            if not limit.expired():  # raised by the work itself
                raise
            raise reason from None
        finally:
            for task in tasks:
                task.cancel()

    def _charge_rate(self, visit: Visit, work: Work) -> None:
        """Count a call against the caller's rate; a key's own rate covers searches and questions together."""
        visit.charged = work
        caller, name, rate = visit.caller, str(work), self._rates[work]
        own = caller.limits.per_minute
        if own is not None and work in COUNTED_BY_DAY:
            name, rate = "key", Rate(own, ceil(own * BURST_OF_OWN))
        if not rate.per_minute or caller.has_no_limits or visit.is_unmetered:
            return
        taken = self.buckets.take(f"{name} {caller.counted_as}", rate)
        visit.headers += taken.headers(name, rate)
        if not taken.allowed and self._refuses(visit, work, "rate", name):
            raise TooOften(
                f"more calls ({name}) than {rate.per_minute:g} a minute; try again in {taken.wait_s:.0f} s",
                retry_after_s=taken.wait_s,
            )

    def _count_day(self, visit: Visit, work: Work) -> None:
        """Count work that starts in its key's day."""
        key_id, most = visit.caller.key_id, visit.caller.limits.per_day
        if not key_id or work not in COUNTED_BY_DAY:
            return
        self._check_day(visit, work)
        used = self.days.add(key_id)
        if most is not None:
            left = f'"day";r={max(0, most - used)};t={ceil(self.days.ends_in_s())}'
            visit.headers += [
                (b"ratelimit-policy", f'"day";q={most};w={DAY_S}'.encode()),
                (b"ratelimit", left.encode()),
            ]

    def _check_day(self, visit: Visit, work: Work) -> None:
        most = visit.caller.limits.per_day
        if most is None or work not in COUNTED_BY_DAY or self.days.used(visit.caller.key_id) < most:
            return
        if self._refuses(visit, work, "quota", "day"):
            raise QuotaUsed(
                f"the daily limit of {counted(most, 'call')} is reached; it resets at midnight UTC",
                retry_after_s=self.days.ends_in_s(),
            )

    def _refuses(self, visit: Visit, work: str, why: str, limit: str) -> bool:
        """Count a call beyond a limit of its caller; return whether it is refused or only reported."""
        is_refused = not self._settings.report_only
        metrics.REFUSED.labels(work, why if is_refused else "reported").inc()
        if is_refused:
            return True
        if REPORT_ONLY not in visit.headers:
            visit.headers.append(REPORT_ONLY)
        caller = visit.caller.counted_as
        if self.buckets.take(f"reported {limit} {caller}", REPORTED).allowed:
            log.warning("more calls than allowed", limit=limit, caller=caller)
        return False


async def _left(request: Request) -> None:
    """Wait until the reader leaves; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _cores(settings: ServerSettings) -> int:
    return max(1, usable_cores() // settings.processes)


def _admitted(work: Work) -> Callable[[Request], AsyncIterator[None]]:
    """Return the dependency of a route whose work passes the gate."""

    async def admit(request: Request) -> AsyncIterator[None]:
        gate: Gate = request.state.services.gate
        async with gate.admit(request, work):
            yield

    return admit


# A slot is released before the answer is sent, so that a slow reader does not hold it.
Search = Annotated[None, Depends(_admitted("search"), scope="function")]
Read = Annotated[None, Depends(_admitted("read"), scope="function")]
Curate = Annotated[None, Depends(_admitted("curate"), scope="function")]
Admin = Annotated[None, Depends(_admitted("admin"), scope="function")]
