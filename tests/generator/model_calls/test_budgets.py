"""Budgets of a loop: reservations before calls, corrections after them, and the note on a spent budget."""

import pytest

from generator.model_calls.budgets import Allowance, Budget, Spent


def clock_of(*times):
    ticking = iter(times)
    last = times[-1]
    return lambda: next(ticking, last)


def test_a_budget_without_limits_allows_any_amount():
    allowance = Allowance(Budget())
    assert allowance.take(calls=10**6, tokens=10**9)
    assert allowance.note() == ""


@pytest.mark.parametrize(
    ("limit", "first", "second"),
    [
        ("calls", {"calls": 2}, {"calls": 2}),
        ("tokens", {"tokens": 3}, {"tokens": 1}),
    ],
)
def test_an_amount_beyond_a_limit_is_refused_and_the_limit_noted(limit, first, second):
    allowance = Allowance(Budget(**{limit: 3}))
    assert allowance.take(**first)
    assert not allowance.take(**second)
    assert allowance.ended == (limit,)
    assert f"3 {limit}" in allowance.note()


def test_settling_returns_the_unused_part_of_a_reservation():
    allowance = Allowance(Budget(tokens=100))
    assert allowance.take(tokens=90)
    allowance.settle(tokens=-80)
    assert allowance.take(tokens=90)


def test_amounts_spent_before_count():
    allowance = Allowance(Budget(calls=5), Spent(calls=4))
    assert allowance.take(calls=1)
    assert not allowance.take(calls=1)


def test_seconds_spent_before_count():
    allowance = Allowance(Budget(seconds=10), Spent(seconds=7), clock_of(0.0, 2.0, 2.0, 4.0))
    assert allowance.seconds_left == 1.0
    assert not allowance.time_is_over
    assert allowance.time_is_over
    assert "10 seconds" in allowance.note()
