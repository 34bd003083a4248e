"""Significance of the difference between two runs, and intervals of differences.

The test is the randomisation test that Smucker, Allan & Carterette recommend (A comparison of statistical
significance tests for information retrieval evaluation, CIKM 2007). The interval is the percentile
bootstrap's (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

SEED = 20_071_106
TRIALS = 100_000
RESAMPLES = 20_000
ENUMERATED_PAIRS = 16  # up to 2^16 assignments are enumerated
CHUNK = 4_000_000  # numbers in memory at a time
# Sums of the same differences in a different order may differ in the last digits.
TOLERANCE = 1e-9

Floats = NDArray[np.float64]


def _shown(p_value: float) -> str:
    """Format a p value to four places; a smaller value is not shown as 0."""
    return "<.0001" if p_value < 0.0001 else f"{p_value:.4f}"  # noqa: PLR2004 - the last place shown


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared by one measure. The difference is b − a; wins are questions where b is better."""

    mean_a: float
    mean_b: float
    difference: float
    p_value: float
    interval: tuple[float, float]
    wins: int
    ties: int
    losses: int

    def as_record(self) -> dict[str, Any]:
        """Return the comparison for JSON output."""
        return {
            "a": self.mean_a,
            "b": self.mean_b,
            "difference": self.difference,
            "p_value": self.p_value,
            "interval": list(self.interval),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
        }

    def as_cells(self) -> tuple[str, str, str, str]:
        """Return difference, interval, p value and wins for a table."""
        return (
            f"{self.difference:+.4f}",
            f"{self.interval[0]:+.4f} … {self.interval[1]:+.4f}",
            _shown(self.p_value),
            f"{self.wins} / {self.ties} / {self.losses}",
        )


def compare(a: Sequence[float], b: Sequence[float], *, trials: int = TRIALS, seed: int = SEED) -> Comparison:
    """Compare the values of two runs for the same questions in the same order."""
    differences = _differences(a, b)
    return Comparison(
        mean_a=float(np.mean(a)),
        mean_b=float(np.mean(b)),
        difference=float(differences.mean()),
        p_value=paired_randomization(a, b, trials=trials, seed=seed),
        interval=bootstrap_interval(a, b, seed=seed),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


def paired_randomization(
    a: Sequence[float], b: Sequence[float], *, trials: int = TRIALS, seed: int = SEED
) -> float:
    """Return the two-sided p value: how often swapping pairs gives a mean difference at least as large.

    Exact if at most 16 pairs differ, else estimated from `trials` random swaps as (n + 1) / (trials + 1),
    so never 0 (Davison & Hinkley, Bootstrap Methods and their Application, 1997, chapter 4). ValueError for
    sequences of different length or without elements.
    """
    differences = _differences(a, b)
    differences = differences[differences != 0]
    pairs = len(differences)
    if not pairs:
        return 1.0
    reached = abs(differences.sum()) - TOLERANCE * float(np.abs(differences).sum())
    if pairs <= ENUMERATED_PAIRS:
        assignments = np.arange(2**pairs)
        signs = 1.0 - 2.0 * ((assignments[:, None] >> np.arange(pairs)) & 1)
        return float((np.abs(signs @ differences) >= reached).mean())
    generator = np.random.default_rng(seed)
    as_large = 0
    for count in _chunks(trials, pairs):
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(count, pairs), dtype=np.int8)
        as_large += int((np.abs(signs @ differences) >= reached).sum())
    return (as_large + 1) / (trials + 1)


def bootstrap_interval(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[float, float]:
    """Return the confidence interval of the mean of b − a from resampled questions."""
    differences = _differences(a, b)
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            differences[generator.integers(0, len(differences), size=(count, len(differences)))].mean(axis=1)
            for count in _chunks(resamples, len(differences))
        ]
    )
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _differences(a: Sequence[float], b: Sequence[float]) -> Floats:
    if len(a) != len(b) or not len(a):
        raise ValueError(
            f"{len(a)} and {len(b)} values: both runs need values of the same questions in the same order"
        )
    return np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)


def _chunks(total: int, width: int) -> list[int]:
    size = max(1, CHUNK // width)
    return [min(size, total - start) for start in range(0, total, size)]


Cells: TypeAlias = tuple[str | None, ...]

NONE: Cells = (None,) * 4  # the row that others are compared with


def difference_columns(name: str = "difference") -> tuple[str, ...]:
    """Return the columns of a compared row, as in `as_cells`; the first one has this name."""
    return (name, "95 %", "p", "better / same / worse")
