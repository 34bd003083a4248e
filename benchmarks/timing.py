"""What several ways take for the same inputs, in turn, so that a busy moment of the machine hits all."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from benchmarks.figures import Figure

T = TypeVar("T")
Seconds = dict[str, list[float]]  # of each way, one for each input


def seconds_of(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


async def measure_in_turn(
    ways: Mapping[str, Callable[[T], Awaitable[object]]], inputs: Sequence[T]
) -> Seconds:
    """Return the seconds that each way takes for each input; which way comes first changes with the input."""
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
    """Return the smallest value that at least this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def latencies(part: str, name: str, seconds: Sequence[float], bar: float | None = None) -> list[Figure]:
    """Return median, which a bar may bound, and 95th percentile in milliseconds."""
    return [
        Figure(part, f"{name}, p50", 1000 * statistics.median(seconds), "ms", bar),
        Figure(part, f"{name}, p95", 1000 * percentile(seconds, 0.95), "ms"),
    ]


def latencies_of_ways(part: str, rounds: Sequence[Seconds]) -> list[Figure]:
    """Return median and 95th percentile of each way, over all rounds."""
    return [
        figure
        for name in rounds[0]
        for figure in latencies(part, name, [second for taken in rounds for second in taken[name]])
    ]


def ratio(rounds: Sequence[Seconds], way: str, other: str, share: float = 0.5) -> float:
    """Return the median over rounds of one way's percentile by another's in the same round."""
    return statistics.median(
        percentile(seconds[way], share) / percentile(seconds[other], share) for seconds in rounds
    )
