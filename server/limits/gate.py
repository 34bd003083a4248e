"""The gate that all work passes: access, concurrency and rates, for every endpoint."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Literal, TypeAlias

from fastapi import Depends
from starlette.requests import HTTPConnection

from base.amounts import counted
from base.cores import usable_cores
from base.logs import get_logger
from server.access.callers import Caller, Visit, visit_of
from server.errors import QuotaUsed, TooBusy, TooManyOpen, TooOften, TooSlow
from server.limits.daily_use import DAY_S, DailyUse
from server.limits.open_calls import OpenCalls
from server.limits.rates import Buckets, Rate
from server.limits.work_queue import WorkQueue
from server.monitoring import metrics
from server.roles import Role
from server.settings import ServerSettings

Work: TypeAlias = Literal["read", "search", "ask", "curate", "admin"]
ROLE_FOR: dict[Work, Role] = {"curate": "librarian", "admin": "operator"}  # other work: reader

# Searches are mostly Python, of which one thread runs at a time, so more than two slow each other down. With
# a single place none could be reserved for callers without running work.
SEARCHES_OF_A_PROCESS = 2
ASKS_OF_A_MODEL = 8  # divided among the processes: a model server batches requests
LEAST_ASKS = 2  # in each process
SEARCHES_OF_A_CLUSTER = 4  # per core
QUESTIONS_TO_SOURCES = 4  # per core
BURST = 8  # factor for the queue length if the queue empties in between
READS_BY_SEARCH = 2  # places for reads per place for searches
COUNTED_BY_DAY = frozenset({"search", "ask"})
BURST_OF_OWN = 1 / 3  # of a minute's calls, as in the default settings
REPORTED = Rate(per_minute=1, burst=1)  # log lines per caller and limit
REPORT_ONLY = (b"x-ratelimit-report-only", b"exceeded")
TAKEN_WITHIN_S = 10.0  # time for a reader to take the end of a stream

log = get_logger("server")


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of calls that all processes of the server share."""

    buckets: Buckets
    days: DailyUse
    open_calls: OpenCalls


class Gate:
    """Admit work up to the capacity of the machine and the rates of each caller."""

    def __init__(
        self, settings: ServerSettings, counts: Counts, *, has_model: bool, has_cluster: bool
    ) -> None:
        """Read the limits of the settings; processes share the counts.

        Work that waits for a model or a cluster leaves this machine's cores free.
        """
        searches = settings.searches_at_once or (
            _cores(settings) * SEARCHES_OF_A_CLUSTER if has_cluster else SEARCHES_OF_A_PROCESS
        )
        at_once = {
            "search": searches,
            "read": searches * READS_BY_SEARCH,
            "ask": settings.asks_at_once
            or (max(LEAST_ASKS, ceil(ASKS_OF_A_MODEL / settings.processes)) if has_model else searches),
        }
        self.places = {
            work: WorkQueue(places, places * settings.waiting, in_a_burst=places * settings.waiting * BURST)
            for work, places in at_once.items()
        }
        rates = {
            "search": Rate(settings.searches_per_minute, settings.search_burst),
            "read": Rate(settings.reads_per_minute, settings.read_burst),
            "ask": Rate(settings.asks_per_minute, settings.ask_burst),
        }
        self._rates = {work: rate for work, rate in rates.items() if rate.per_minute}
        self._seconds = {"search": settings.search_s, "read": settings.search_s, "ask": settings.ask_s}
        self._counts = counts
        self._most_open = settings.connections_of_caller
        self._report_only = settings.report_only

    def count_open(self, visit: Visit) -> None:
        """Count a call as open until `visit.open_call` is closed.

        Raises:
            TooManyOpen: the limit is reached.
        """
        caller = visit.caller
        own = caller.limits.connections
        most = self._most_open if own is None else own
        if not most or caller.has_no_limits:
            return
        try:
            visit.open_call.enter_context(self._counts.open_calls.one_more(caller.counted_as, most))
        except TooManyOpen:
            if self._refuses(visit, "connection", "queue", "open calls"):
                raise

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
        with _counting_refusals(work):
            self.places[work].check(visit.caller.counted_as)
        self._charge(visit, work)

    @asynccontextmanager
    async def admit(
        self, connection: HTTPConnection, work: Work, *, is_stream: bool = False
    ) -> AsyncIterator[None]:
        """Wait for a place, and hold it during the work.

        A stream ends by itself at its time limit; this method ends it if the reader does not take the end.

        Raises:
            Unauthorized, Forbidden: the caller lacks the role.
            TooOften, QuotaUsed: the caller's bucket is empty, or the key's day is used up.
            TooBusy: too many calls are waiting.
            TooSlow: the work exceeded its time limit.
        """
        visit = visit_of(connection)
        visit.caller.require(ROLE_FOR.get(work, "reader"))
        if work in ROLE_FOR:
            visit.is_privileged = True
            yield
            return
        if visit.charged != work:
            self._charge(visit, work)
        key_id = visit.caller.key_id if visit.counted_today else ""
        visit.charged, visit.counted_today = "", False  # a second piece of work is counted separately
        places, seconds = self.places[work], self._seconds[work]
        async with AsyncExitStack() as held:
            with (
                self._giving_back(key_id),
                _counting_refusals(work),
                metrics.WAITING.labels(work).track_inprogress(),
            ):
                waited_s = await held.enter_async_context(places.taken(visit.caller.counted_as))
            visit.waiting_elsewhere = places.one_more
            held.enter_context(metrics.RUNNING.labels(work).track_inprogress())
            metrics.WAITED.labels(work).observe(waited_s)
            try:
                async with asyncio.timeout(seconds + TAKEN_WITHIN_S * is_stream) as limit:
                    visit.ends_at = asyncio.get_running_loop().time() + seconds
                    yield
            except TimeoutError:
                if not limit.expired():  # raised by the work itself
                    raise
                raise TooSlow(seconds) from None

    def give_back_unused(self, visit: Visit) -> None:
        """Subtract a call from its key's day if it ends and was never admitted."""
        if visit.counted_today:
            self._counts.days.give_back(visit.caller.key_id)

    def _charge(self, visit: Visit, work: Work) -> None:
        """Count a call against the caller's rate, and against the key's day.

        Raises:
            TooOften, QuotaUsed: the limit is reached.
        """
        visit.charged = work
        if visit.caller.has_no_limits or visit.is_unmetered:
            return
        self._charge_rate(visit, work)
        if visit.caller.key_id and work in COUNTED_BY_DAY:
            self._charge_day(visit, work)

    def _charge_rate(self, visit: Visit, work: Work) -> None:
        name, rate = self._rate_of(visit.caller, work)
        if rate is None:
            return
        taken = self._counts.buckets.take(f"{name} {visit.caller.counted_as}", rate)
        visit.headers += taken.headers(name, rate)
        if taken.allowed:
            return
        if self._refuses(visit, work, "rate", name):
            raise TooOften(
                f"more calls ({name}) than {rate.per_minute:g} a minute; try again in {taken.wait_s:.0f} s",
                retry_after_s=taken.wait_s,
            )

    def _rate_of(self, caller: Caller, work: Work) -> tuple[str, Rate | None]:
        """Return the rate of some work and its name; a key's rate covers searches and questions together."""
        own = caller.limits.per_minute
        if own is None or work not in COUNTED_BY_DAY:
            return work, self._rates.get(work)
        return "key", Rate(own, ceil(own * BURST_OF_OWN)) if own else None

    def _charge_day(self, visit: Visit, work: Work) -> None:
        most = visit.caller.limits.per_day
        day = self._counts.days.take(visit.caller.key_id, None if self._report_only else most)
        visit.counted_today = day.allowed
        if most is None:
            return
        visit.headers += [
            (b"ratelimit-policy", f'"day";q={most};w={DAY_S}'.encode()),
            (b"ratelimit", f'"day";r={max(0, most - day.used)};t={ceil(day.ends_in_s)}'.encode()),
        ]
        exceeded = not day.allowed or day.used > most
        if exceeded and self._refuses(visit, work, "quota", "day"):
            raise QuotaUsed(
                f"the daily limit of {counted(most, 'call')} is reached; it resets at midnight UTC",
                retry_after_s=day.ends_in_s,
            )

    def _refuses(self, visit: Visit, work: str, why: str, limit: str) -> bool:
        """Count a call beyond a limit of its caller; return whether it is refused or only reported."""
        metrics.REFUSED.labels(work, "reported" if self._report_only else why).inc()
        if not self._report_only:
            return True
        if REPORT_ONLY not in visit.headers:
            visit.headers.append(REPORT_ONLY)
        caller = visit.caller.counted_as
        if self._counts.buckets.take(f"reported {limit} {caller}", REPORTED).allowed:
            log.warning("more calls than allowed", limit=limit, caller=caller)
        return False

    @contextmanager
    def _giving_back(self, key_id: str) -> Iterator[None]:
        """Subtract a call from its key's day if it is refused, or its caller leaves, while it waits."""
        try:
            yield
        except BaseException:
            if key_id:
                self._counts.days.give_back(key_id)
            raise


def _cores(settings: ServerSettings) -> int:
    return max(1, usable_cores() // settings.processes)


def sources_at_once(settings: ServerSettings) -> int:
    """Return the limit of concurrent source requests; 0 if no source is offered.

    A source that hangs takes no place from searches of indexes: for each one they get an additional place.
    """
    return (settings.sources_at_once or _cores(settings) * QUESTIONS_TO_SOURCES) if settings.sources else 0


@contextmanager
def _counting_refusals(work: str) -> Iterator[None]:
    try:
        yield
    except TooBusy:
        metrics.REFUSED.labels(work, "queue").inc()
        raise


def admitted(work: Work, *, is_stream: bool = False) -> Callable[[HTTPConnection], AsyncIterator[None]]:
    """Return the dependency of a route whose work passes the gate."""

    async def admit(connection: HTTPConnection) -> AsyncIterator[None]:
        gate: Gate = connection.state.services.gate
        async with gate.admit(connection, work, is_stream=is_stream):
            yield

    return admit


# A place is released before the answer is sent, so that a slow reader does not hold it; a streamed answer
# needs its place until it ends.
Search = Annotated[None, Depends(admitted("search"), scope="function")]
Ask = Annotated[None, Depends(admitted("ask"), scope="function")]
AskStream = Annotated[None, Depends(admitted("ask", is_stream=True))]
# Ends by itself at its time limit, with partial results.
Find = Annotated[None, Depends(admitted("ask", is_stream=True), scope="function")]
Read = Annotated[None, Depends(admitted("read"), scope="function")]
Curate = Annotated[None, Depends(admitted("curate"), scope="function")]
Admin = Annotated[None, Depends(admitted("admin"), scope="function")]
