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


def test_calls_that_wait_for_their_start_do_not_exceed_the_day():
    gate = gate_of(searches_at_once=1)

    async def main():
        calls = (admit(gate, visit_by(per_day=2), 1) for _ in range(4))
        return await asyncio.gather(*calls, return_exceptions=True)

    assert list(map(type, run(main()))) == [type(None), type(None), QuotaUsed, QuotaUsed]
