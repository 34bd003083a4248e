"""The gate by itself: slots of a process, limits of a key, and which calls count in a key's day."""

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest
from starlette.requests import Request

from server.access.callers import Caller, Visit
from server.access.keys import KeyLimits
from server.errors import QuotaUsed, Stopping, TooManyOpen, TooSlow
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
        ended = asyncio.get_running_loop().time(), gate.queues["search"].running
        return await asyncio.gather(*calls, return_exceptions=True), ended

    found, (time, running) = run(main())
    assert [type(each) for each in found] == [error] * 2
    assert time == max(2, ended_s)
    assert running == (error is TooSlow)
    assert gate.queues["search"].running == gate.queues["search"].waiting == 0
