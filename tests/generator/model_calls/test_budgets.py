"""Budgets of a loop: what is set aside before it is spent, and told when it ends."""

import pytest

from generator.model_calls.budgets import Allowance, Budget, Spent


def clock_of(*times):
    ticking = iter(times)
    last = times[-1]
    return lambda: next(ticking, last)


def test_without_bounds_everything_may_be_taken():
    allowance = Allowance(Budget())
    assert allowance.take(calls=10**6, tokens=10**9)
    assert allowance.note() == ""


@pytest.mark.parametrize(
    ("bound", "first", "second"),
    [
        ("calls", {"calls": 2}, {"calls": 2}),
        ("tokens", {"tokens": 3}, {"tokens": 1}),
    ],
)
def test_what_would_pass_a_bound_is_not_taken_and_told(bound, first, second):
    allowance = Allowance(Budget(**{bound: 3}))
    assert allowance.take(**first)
    assert not allowance.take(**second)
    assert allowance.ended == (bound,)
    assert f"3 {bound}" in allowance.note()


def test_what_was_set_aside_too_much_is_given_back():
    allowance = Allowance(Budget(tokens=100))
    assert allowance.take(tokens=90)
    allowance.settle(tokens=-80)
    assert allowance.take(tokens=90)


def test_what_was_spent_before_counts():
    allowance = Allowance(Budget(calls=5), Spent(calls=4))
    assert allowance.take(calls=1)
    assert not allowance.take(calls=1)


def test_seconds_go_on_from_those_spent_before():
    allowance = Allowance(Budget(seconds=10), Spent(seconds=7), clock_of(0.0, 2.0, 2.0, 4.0))
    assert allowance.seconds_left == 1.0
    assert not allowance.time_is_over
    assert allowance.time_is_over
    assert "10 seconds" in allowance.note()
