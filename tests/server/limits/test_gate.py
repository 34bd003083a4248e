"""The gate and its parts: slots and their queue, limits of a key, token buckets, daily counts."""

import asyncio
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from server.access.callers import Caller, Visit
from server.access.keys import KeyLimits
from server.errors import QuotaUsed, Stopping, TooBusy, TooManyOpen, TooSlow
from server.limits.counting import DAY_S, PRUNED_FROM, Buckets, DailyUse, Rate, Slots
from server.limits.gate import Gate
from server.settings import ServerSettings
from tests.virtual_clock import run


def gate_of(*, has_model=False, **settings):
    return Gate(ServerSettings(**settings), asyncio.Event(), has_model=has_model, has_cluster=False)


def visit_by(**limits):
    """Return a visit of a key with these limits."""
    return Visit("r", Caller("192.0.2.1", "reader", "k", limits=KeyLimits(**limits)))


async def nobody_leaves() -> Any:
    await asyncio.Event().wait()


async def leaves_soon() -> Any:
    await asyncio.sleep(1)
    return {"type": "http.disconnect"}


async def admit(gate, visit, seconds=0.0, receive=nobody_leaves):
    """Check and admit a search that takes some time."""
    gate.check(visit, "search")
    request = Request({"type": "http", "state": {"visit": visit}}, receive)
    async with gate.admit(request, "search"):
        await asyncio.sleep(seconds)


def test_calls_that_wait_for_their_start_do_not_exceed_the_day():
    gate = gate_of(searches_at_once=1)

    async def main():
        calls = (admit(gate, visit_by(per_day=2), 1) for _ in range(4))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert list(map(type, run(main()))) == [type(None), type(None), QuotaUsed, QuotaUsed]


def test_a_caller_has_so_many_open_calls():
    gate = gate_of()
    with ExitStack() as opened:
        for _ in range(2):
            gate.count_open(visit := visit_by(connections=2))
            opened.push(visit.open_call)
        with pytest.raises(TooManyOpen, match="2 calls are open already"):
            gate.count_open(visit_by(connections=2))
    gate.count_open(visit_by(connections=2))


@pytest.mark.parametrize(
    ("receive", "stops", "error", "ended_s"),
    [
        (nobody_leaves, False, TooSlow, 9),
        (leaves_soon, False, asyncio.CancelledError, 1),
        (nobody_leaves, True, Stopping, 2),
    ],
)
def test_work_and_what_waits_for_it_end_when_the_reader_leaves_or_the_server_stops(
    receive, stops, error, ended_s
):
    stopping = asyncio.Event()
    settings = ServerSettings(searches_at_once=1, search_s=9)
    gate = Gate(settings, stopping, has_model=False, has_cluster=False)

    async def main():
        calls = [asyncio.create_task(admit(gate, visit_by(), 99, each)) for each in (receive, receive)]
        await asyncio.sleep(2)
        if stops:
            stopping.set()
        await asyncio.wait(calls[:1])
        ended = asyncio.get_running_loop().time(), gate.slots["search"].running
        return await asyncio.gather(*calls, return_exceptions=True), ended

    found, (time, running) = run(main())
    assert [type(each) for each in found] == [error] * 2
    assert time == max(2, ended_s)
    assert running == (error is TooSlow)
    assert gate.slots["search"].running == gate.slots["search"].waiting == 0


class Work:
    """Pieces of work of a test, each running until its event is set."""

    def __init__(self, slots, most_waiting):
        self.queue = Slots("search", slots, most_waiting)
        self.order = []  # of the callers
        self.begun = []
        self.leaves = None  # a task that is cancelled when a piece ends, before the next one runs

    async def begin(self, *callers):
        """Begin a piece of work for each caller; return the event that ends it, and its task."""
        found = []
        for caller in callers:
            end = asyncio.Event()
            found.append((end, asyncio.create_task(self._run(caller, end))))
        self.begun += found
        await settle()
        return found

    async def _run(self, caller, done):
        async with self.queue.slot(caller):
            self.order.append(caller)
            await done.wait()
        if self.leaves:
            self.leaves.cancel()

    async def end(self, *begun):
        """End pieces of work, by default all."""
        for done, _ in begun or self.begun:
            done.set()
        await asyncio.wait([task for _, task in begun or self.begun])
        await settle()

    @property
    def counts(self):
        """The numbers of running and waiting pieces."""
        return self.queue.running, self.queue.waiting


async def settle():
    """Let everything that can continue do so."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("slots", "callers", "counts", "refused", "order"),
    [
        ((2, 2), "abcd", (2, 2), "e", "abcd"),
        ((4, 4), "aaaa", (2, 2), "a", "aaaa"),  # half of the slots and of the queue
        ((4, 4), "aaaabbb", (4, 3), "a", "aabbaab"),
        ((1, 8), "aaabc", (1, 4), "", "abcaa"),  # in turns
    ],
)
def test_some_calls_run_some_wait_and_the_rest_is_refused(slots, callers, counts, refused, order):
    async def main():
        work = Work(*slots)
        await work.begin(*callers)
        assert work.counts == counts
        if refused:
            with pytest.raises(TooBusy) as error:
                work.queue.check(refused)
            assert error.value.retry_after_s > 0
            ((_, last),) = await work.begin(refused)
            assert isinstance(last.exception(), TooBusy)
        await work.end()
        assert "".join(work.order) == order
        assert work.counts == (0, 0)

    asyncio.run(main())


@pytest.mark.parametrize("admitted_meanwhile", [False, True])
def test_a_caller_who_leaves_while_waiting_frees_its_place(admitted_meanwhile):
    async def main():
        work = Work(1, 4)
        first, (_, leaving), last = await work.begin(*"abc")
        if admitted_meanwhile:
            work.leaves = leaving
            first[0].set()
        else:
            leaving.cancel()
        await settle()
        assert leaving.cancelled()
        await work.end(first, last)
        assert work.order[-1] == "c"
        assert work.counts == (0, 0)

    asyncio.run(main())


def test_a_bucket_fills_by_the_minute():
    clock = SimpleNamespace(now=1_000.0)
    buckets, rate = Buckets(clock=lambda: clock.now), Rate(per_minute=60, burst=3)
    taken = [True, True, True, False]
    for later, allowed in ((0, taken), (0.9, [False]), (0.2, [True, False]), (3_600, taken)):
        clock.now += later
        assert [buckets.take("a", rate).allowed for _ in allowed] == allowed


def test_many_callers_do_not_make_an_empty_bucket_full():
    clock = SimpleNamespace(now=1_000.0)
    buckets, rate = Buckets(clock=lambda: clock.now), Rate(per_minute=60, burst=10)
    for name in [*["busy"] * 10, *(f"passing {number}" for number in range(3 * PRUNED_FROM))]:
        clock.now += 1e-5
        buckets.take(name, rate)
    assert not buckets.take("busy", rate).allowed


def test_a_day_begins_at_midnight_in_utc():
    clock = SimpleNamespace(now=DAY_S * 20_000 - 2.0)
    days = DailyUse(clock=lambda: clock.now)
    assert [days.add("a"), days.add("a"), days.used("a"), days.used("b")] == [1, 2, 2, 0]
    assert days.ends_in_s() == 2
    clock.now += 2
    assert [days.used("a"), days.add("a")] == [0, 1]
