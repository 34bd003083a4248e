"""Token buckets and daily counts: as many calls at once, as many in a time."""

from types import SimpleNamespace

from server.limits.rates import DAY_S, PRUNED_FROM, Buckets, DailyUse, Rate


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
