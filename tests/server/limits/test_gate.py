"""The gate by itself: places of a process, limits of a key, and what of a key's day is given back."""

import asyncio
from contextlib import ExitStack

import pytest
from starlette.requests import HTTPConnection

from server.access.callers import Caller, Visit
from server.access.keys import KeyLimits
from server.errors import QuotaUsed, TooManyOpen
from server.limits.daily_use import DailyUse
from server.limits.gate import Counts, Gate
from server.limits.open_calls import OpenCalls
from server.limits.rates import Buckets
from server.settings import ServerSettings
from tests.virtual_clock import run

REPORTED = (b"x-ratelimit-report-only", b"exceeded")


def gate_of(*, has_model=False, **settings):
    """Return a gate of this process alone."""
    counts = Counts(Buckets(), DailyUse(), OpenCalls())
    return Gate(ServerSettings(**settings), counts, has_model=has_model, has_cluster=False), counts


def visit_by(**limits):
    """Return a visit of a key with these limits."""
    return Visit("r", Caller("192.0.2.1", "reader", "k", limits=KeyLimits(**limits)))


@pytest.mark.parametrize("workers", [1, 4, 64])
def test_each_process_has_two_places_for_searches_so_that_one_can_be_reserved(workers):
    gate, _ = gate_of(workers=workers)

    assert {work: places.at_once for work, places in gate.places.items()} == {
        "search": 2,
        "ask": 2,
        "read": 4,
    }


@pytest.mark.parametrize(("workers", "asks"), [(1, 8), (3, 3), (4, 2), (16, 2)])
def test_eight_questions_to_a_model_are_divided_among_processes_with_at_least_two_in_each(workers, asks):
    assert gate_of(workers=workers, has_model=True)[0].places["ask"].at_once == asks


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (1, "the daily limit of 1 call is reached; it resets at midnight UTC"),
        (1_000, "the daily limit of 1,000 calls is reached; it resets at midnight UTC"),
    ],
)
def test_a_used_up_day_is_refused_with_its_limit_and_when_it_resets(most, text):
    gate, counts = gate_of(searches_per_minute=0)
    for _ in range(most):
        counts.days.take("k", most)

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
def test_a_call_beyond_those_that_may_be_open_is_refused_with_their_number(most, text):
    gate, _ = gate_of()
    with ExitStack() as opened:
        for _ in range(most):
            gate.count_open(visit := visit_by(connections=most))
            opened.push(visit.open_call)

        with pytest.raises(TooManyOpen) as refused:
            gate.count_open(visit_by(connections=most))

    assert str(refused.value) == text


def test_with_report_only_a_used_up_day_is_reported_and_counted_on():
    gate, counts = gate_of(report_only=True)
    first, second = visit_by(per_day=1), visit_by(per_day=1)
    gate.check(first, "search")
    gate.check(second, "search")

    assert (REPORTED in first.headers, REPORTED in second.headers) == (False, True)
    assert counts.days.used("k") == 2


def test_with_report_only_a_call_beyond_those_that_may_be_open_is_reported():
    gate, _ = gate_of(report_only=True)
    first, second = visit_by(connections=1), visit_by(connections=1)
    with first.open_call, second.open_call:
        gate.count_open(first)
        gate.count_open(second)

    assert (REPORTED in first.headers, REPORTED in second.headers) == (False, True)


def test_a_call_that_is_checked_and_never_admitted_is_taken_out_of_the_day():
    gate, counts = gate_of()
    visit = visit_by()
    gate.check(visit, "search")
    before = counts.days.used("k")
    gate.give_back_unused(visit)

    assert (before, counts.days.used("k")) == (1, 0)


def test_a_call_whose_caller_leaves_while_it_waits_is_taken_out_of_the_day():
    gate, counts = gate_of(searches_at_once=1)

    async def search():
        visit = visit_by()
        gate.check(visit, "search")
        try:
            async with gate.admit(HTTPConnection({"type": "http", "state": {"visit": visit}}), "search"):
                await asyncio.sleep(10)
        finally:
            gate.give_back_unused(visit)

    async def main():
        running, waiting = asyncio.create_task(search()), asyncio.create_task(search())
        await asyncio.sleep(1)
        assert counts.days.used("k") == 2
        waiting.cancel()
        await running

    run(main())
    assert counts.days.used("k") == 1
