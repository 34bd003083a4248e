"""The gate by itself: slots of a process, limits of a key, and which calls count in a key's day."""

import asyncio
from contextlib import ExitStack

import pytest
from starlette.requests import HTTPConnection

from server.access.callers import Caller, Visit
from server.access.keys import KeyLimits
from server.errors import QuotaUsed, TooManyOpen
from server.limits.gate import Gate
from server.settings import ServerSettings
from tests.virtual_clock import run

REPORTED = (b"x-ratelimit-report-only", b"exceeded")


def gate_of(*, has_model=False, **settings):
    return Gate(ServerSettings(**settings), has_model=has_model, has_cluster=False)


def visit_by(**limits):
    """Return a visit of a key with these limits."""
    return Visit("r", Caller("192.0.2.1", "reader", "k", limits=KeyLimits(**limits)))


async def admit(gate, visit, seconds=0.0):
    """Check and admit a search that takes some time."""
    gate.check(visit, "search")
    async with gate.admit(HTTPConnection({"type": "http", "state": {"visit": visit}}), "search"):
        await asyncio.sleep(seconds)


def test_the_slots_of_a_process_depend_on_the_model():
    def slots(gate):
        return {work: queue.slots for work, queue in gate.queues.items()}

    assert slots(gate_of()) == {"search": 4, "ask": 4, "read": 8}
    asks = {workers: slots(gate_of(workers=workers, has_model=True))["ask"] for workers in (1, 2, 16)}
    assert asks == {1: 8, 2: 4, 16: 4}


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (1, "the daily limit of 1 call is reached; it resets at midnight UTC"),
        (1_000, "the daily limit of 1,000 calls is reached; it resets at midnight UTC"),
    ],
)
def test_a_used_up_day_is_refused_with_its_limit_and_when_it_resets(most, text):
    gate = gate_of(searches_per_minute=0)
    for _ in range(most):
        gate.days.add("k")

    with pytest.raises(QuotaUsed) as refused:
        gate.check(visit_by(per_day=most), "search")

    assert str(refused.value) == text


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (1, "1 call is open already; wait until one has ended"),
        (2, "2 calls are open already; wait until one has ended"),
    ],
)
def test_a_call_beyond_the_limit_of_open_calls_is_refused_with_their_number(most, text):
    gate = gate_of()
    with ExitStack() as opened:
        for _ in range(most):
            gate.count_open(visit := visit_by(connections=most))
            opened.push(visit.open_call)

        with pytest.raises(TooManyOpen) as refused:
            gate.count_open(visit_by(connections=most))

    assert str(refused.value) == text
    gate.count_open(visit_by(connections=most))


def test_with_report_only_a_used_up_day_is_reported_and_counted_on():
    gate = gate_of(report_only=True)
    first, second = visit_by(per_day=1), visit_by(per_day=1)
    run(admit(gate, first))
    run(admit(gate, second))

    assert (REPORTED in first.headers, REPORTED in second.headers) == (False, True)
    assert gate.days.used("k") == 2


def test_with_report_only_a_call_beyond_the_limit_of_open_calls_is_reported():
    gate = gate_of(report_only=True)
    first, second = visit_by(connections=1), visit_by(connections=1)
    with first.open_call, second.open_call:
        gate.count_open(first)
        gate.count_open(second)

    assert (REPORTED in first.headers, REPORTED in second.headers) == (False, True)


def test_a_call_counts_in_the_day_when_its_work_starts():
    gate = gate_of(searches_at_once=1)

    async def main():
        running, waiting = (asyncio.create_task(admit(gate, visit_by(), 10)) for _ in range(2))
        await asyncio.sleep(1)
        assert gate.days.used("k") == 1
        waiting.cancel()
        await running

    run(main())
    assert gate.days.used("k") == 1


def test_calls_that_wait_for_their_start_do_not_exceed_the_day():
    gate = gate_of(searches_at_once=1)

    async def main():
        calls = (admit(gate, visit_by(per_day=2), 1) for _ in range(4))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert list(map(type, run(main()))) == [type(None), type(None), QuotaUsed, QuotaUsed]
