"""Token buckets and daily counts: as many calls at once, as many in a time."""

from types import SimpleNamespace

import pytest

from server.limits.rates import DAY_S, PRUNED_FROM, Buckets, DailyUse, Rate


@pytest.fixture
def clock():
    """Return a clock that is set by hand."""
    return SimpleNamespace(now=1_000.0)


@pytest.fixture
def buckets(clock):
    return Buckets(clock=lambda: clock.now)


def test_a_bucket_holds_a_burst_and_fills_by_the_minute(buckets, clock):
    rate = Rate(per_minute=60, burst=3)
    assert [buckets.take("a", rate).left for _ in range(3)] == [2, 1, 0]
    refused = buckets.take("a", rate)
    assert not refused.allowed
    assert refused.wait_s == pytest.approx(1)
    assert buckets.take("b", rate).allowed
    clock.now += 0.9
    assert not buckets.take("a", rate).allowed
    clock.now += 0.2
    assert buckets.take("a", rate).allowed
    assert not buckets.take("a", rate).allowed
    clock.now += 3_600
    assert buckets.take("a", rate).left == 2


def test_many_callers_do_not_make_an_empty_bucket_full(buckets, clock):
    rate = Rate(per_minute=60, burst=10)
    for _ in range(10):
        buckets.take("busy", rate)
    for number in range(3 * PRUNED_FROM):
        clock.now += 1e-5
        buckets.take(f"passing {number}", rate)

    assert not buckets.take("busy", rate).allowed


def test_a_day_begins_at_midnight_in_utc(clock):
    clock.now = DAY_S * 20_000 - 2.0
    days = DailyUse(clock=lambda: clock.now)
    assert [days.add("a"), days.add("a"), days.used("a"), days.used("b")] == [1, 2, 2, 0]
    assert days.ends_in_s() == 2
    clock.now += 2
    assert [days.used("a"), days.add("a")] == [0, 1]
