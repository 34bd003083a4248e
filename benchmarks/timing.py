"""Timing of several variants on the same inputs, alternately, so that other load affects all of them."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from benchmarks.figures import Figure

T = TypeVar("T")
Seconds = dict[str, list[float]]  # times of each variant, one per input


def seconds_of(work: Callable[[], object]) -> float:
    """Return the duration of a call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


async def measure_in_turn(
    ways: Mapping[str, Callable[[T], Awaitable[object]]], inputs: Sequence[T]
) -> Seconds:
    """Return the seconds of each variant for each input; the order of variants alternates."""
    names = list(ways)
    seconds: Seconds = {name: [] for name in names}
    for number, given in enumerate(inputs):
        for place in range(len(names)):
            name = names[(number + place) % len(names)]
            started = time.perf_counter()
            await ways[name](given)
            seconds[name].append(time.perf_counter() - started)
    return seconds


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is not exceeded by at least this share of the values (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def latencies(part: str, name: str, seconds: Sequence[float], bar: float | None = None) -> list[Figure]:
    """Return median, optionally with a bar, and 95th percentile in milliseconds."""
    return [
        Figure(part, f"{name}, p50", 1000 * statistics.median(seconds), "ms", bar),
        Figure(part, f"{name}, p95", 1000 * percentile(seconds, 0.95), "ms"),
    ]


def latencies_of_ways(part: str, rounds: Sequence[Seconds]) -> list[Figure]:
    """Return median and 95th percentile of each variant, over all rounds."""
    return [
        figure
        for name in rounds[0]
        for figure in latencies(part, name, [second for taken in rounds for second in taken[name]])
    ]


def ratio(rounds: Sequence[Seconds], way: str, other: str, share: float = 0.5) -> float:
    """Return the median over rounds of the ratio of two variants' percentiles in the same round."""
    return statistics.median(
        percentile(seconds[way], share) / percentile(seconds[other], share) for seconds in rounds
    )
