"""What is made of measured seconds."""

import asyncio

import pytest

from benchmarks.figures import Figure
from benchmarks.timing import measure_in_turn, percentile, ratio


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10), (0.95, 19), (1.0, 20)])
def test_a_percentile_is_a_value_that_was_measured(share, expected):
    assert percentile(list(range(1, 21)), share) == expected


@pytest.mark.parametrize(
    ("value", "bar", "higher_is_better", "met"),
    [(3.5, 3.5, False, True), (3.6, 3.5, False, False), (0.4, 0.4, True, True), (0.3, 0.4, True, False)],
)
def test_a_bar_is_a_highest_value_or_a_lowest_one(value, bar, higher_is_better, met):
    assert Figure("part", "name", value, "×", bar, higher_is_better=higher_is_better).met is met


def test_a_figure_without_a_bar_is_neither_met_nor_missed():
    figure = Figure("part", "name", 1.5, "ms")

    assert figure.met is None
    assert figure.as_record() == {"part": "part", "name": "name", "value": 1.5, "unit": "ms"}


def test_the_way_that_comes_first_changes_with_the_input():
    order = []

    async def first(given):
        order.append(("first", given))

    async def second(given):
        order.append(("second", given))

    seconds = asyncio.run(measure_in_turn({"first": first, "second": second}, [1, 2]))

    assert order == [("first", 1), ("second", 1), ("second", 2), ("first", 2)]
    assert [len(taken) for taken in seconds.values()] == [2, 2]


def test_ratios_are_taken_within_a_round():
    quiet, busy = {"ten": [4.0], "one": [2.0]}, {"ten": [30.0], "one": [10.0]}

    assert ratio([quiet, busy], "ten", "one") == 2.5  # the median of 2 and 3
