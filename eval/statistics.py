"""Statistics of runs and judgements: significance, overlap, proportions, agreement, the area under a curve.

The test is the randomisation test that Smucker, Allan & Carterette recommend (A comparison of statistical
significance tests for information retrieval evaluation, CIKM 2007). The interval is the percentile
bootstrap's (Efron & Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

SEED = 20_071_106
TRIALS, RESAMPLES = 100_000, 20_000
CONFIDENCE = 0.95
ENUMERATED_PAIRS = 16  # up to 2^16 assignments are enumerated
CHUNK = 4_000_000  # numbers in memory at a time
TOLERANCE = 1e-9  # sums of the same differences in a different order may differ in the last digits

Floats: TypeAlias = NDArray[np.float64]
Rankings: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
Cells: TypeAlias = tuple[str | None, ...]

NONE: Cells = (None,) * 4  # the row that others are compared with


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared by one measure: means, b − a, p, interval; wins are questions where b is better."""

    a: float
    b: float
    difference: float
    p_value: float
    interval: tuple[float, float]
    wins: int
    ties: int
    losses: int

    def as_record(self) -> dict[str, Any]:
        """Return the comparison for JSON output."""
        return asdict(self) | {"interval": list(self.interval)}

    def as_cells(self) -> tuple[str, str, str, str]:
        """Return difference, interval, p value and wins for a table; a small p value is not shown as 0."""
        p_value = "<.0001" if self.p_value < 0.0001 else f"{self.p_value:.4f}"  # noqa: PLR2004 - four places
        interval = f"{self.interval[0]:+.4f} … {self.interval[1]:+.4f}"
        return f"{self.difference:+.4f}", interval, p_value, f"{self.wins} / {self.ties} / {self.losses}"


def difference_columns(name: str = "difference") -> tuple[str, ...]:
    """Return the columns of a compared row, as in `as_cells`; the first one has this name."""
    return (name, "95 %", "p", "better / same / worse")


def compare(a: Sequence[float], b: Sequence[float]) -> Comparison:
    """Compare the values of two runs for the same questions in the same order."""
    differences = _differences(a, b)
    return Comparison(
        float(np.mean(a)),
        float(np.mean(b)),
        float(differences.mean()),
        paired_randomization(a, b),
        bootstrap_interval(a, b),
        *(int(part.sum()) for part in (differences > 0, differences == 0, differences < 0)),
    )


def paired_randomization(a: Sequence[float], b: Sequence[float], *, trials: int = TRIALS) -> float:
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
    generator = np.random.default_rng(SEED)
    as_large = 0
    for count in _chunks(trials, pairs):
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(count, pairs), dtype=np.int8)
        as_large += int((np.abs(signs @ differences) >= reached).sum())
    return (as_large + 1) / (trials + 1)


def bootstrap_interval(
    a: Sequence[float], b: Sequence[float], *, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of b − a from resampled questions."""
    differences, generator = _differences(a, b), np.random.default_rng(SEED)
    pairs = len(differences)
    means = [
        differences[generator.integers(0, pairs, size=(count, pairs))].mean(axis=1)
        for count in _chunks(resamples, pairs)
    ]
    low, high = np.quantile(np.concatenate(means), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
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


def mean_overlap(a: Rankings, b: Rankings, k: int = 10) -> float:
    """Return the mean share of the first k that two runs have in common, over the questions of either.

    If a ranking is shorter than k, the length of the longer one is used; two empty rankings are equal.
    ValueError if neither run contains a question.
    """
    return fmean(overlap(one[:k], other[:k]) for one, other in _rankings(a, b))


def mean_rank_biased_overlap(a: Rankings, b: Rankings, p: float = 0.9) -> float:
    """Return the mean rank-biased overlap of two runs, over the questions of either."""
    return fmean(rank_biased_overlap(one, other, p) for one, other in _rankings(a, b))


def overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """Return the share of the longer list that is in both."""
    longer = max(len(a), len(b))
    return len({*a} & {*b}) / longer if longer else 1.0


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings, from 0 to 1.

    Webber, Moffat & Zobel, A similarity measure for indefinite rankings, ACM TOIS 28(4), 2010, equation 32.
    The lower p, the higher the weight of the first ranks: at .9 the first ten have 86 % of the weight.
    """
    shorter, longer = sorted((a, b), key=len)
    s, last = len(shorter), len(longer)
    if not s:
        return float(not last)
    ranks = {item: rank for rank, item in enumerate(shorter, 1)}
    in_both = [max(rank, ranks[item]) for rank, item in enumerate(longer, 1) if item in ranks]
    depths = np.arange(1, last + 1)
    common = np.cumsum(np.bincount(np.array(in_both, dtype=int), minlength=last + 1)[1:])
    overlaps = common / depths + common[s - 1] * np.maximum(depths - s, 0) / (s * depths)
    tail = (common[-1] - common[s - 1]) / last + common[s - 1] / s
    return float((1 - p) / p * (overlaps * p**depths).sum() + tail * p**last)


def _rankings(a: Rankings, b: Rankings) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the ids of both runs for each question."""
    for query_id in dict.fromkeys((*a, *b)):
        one, other = ([found for found, _ in run.get(query_id, ())] for run in (a, b))
        yield one, other


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def wilson(successes: int, total: int) -> tuple[float, float]:
    """Return the bounds, 0 to 1, of the 95 % interval of a proportion (Wilson, JASA 22, 1927)."""
    from scipy.stats import binomtest  # takes a second to load

    interval = binomtest(successes, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def area_under_curve(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive's score is above a negative's, ties counting half (AUROC)."""
    from scipy.stats import mannwhitneyu

    pairs = len(positive) * len(negative)
    return float(mannwhitneyu(positive, negative, method="asymptotic").statistic) / pairs


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two judges on the items that both judged.

    Cohen's kappa is (p_o − p_e) / (1 − p_e). p_o is the share of equal verdicts, p_e the share expected if
    each judge gave the same number of each verdict at random (Cohen, Educational and Psychological
    Measurement 20, 1960). It is None if both gave one and the same verdict to all items, and without items.
    """

    compared: int  # number of items
    share: float | None  # of equal verdicts; None without items
    kappa: float | None


def agreement(verdicts: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
    """Return the agreement of the verdicts of two judges on the same items."""
    count, equal = len(verdicts), [one == other for one, other in verdicts]
    firsts, seconds = Counter(one for one, _ in verdicts), Counter(other for _, other in verdicts)
    # As whole numbers, so that a denominator of 0 is exact.
    expected = sum(firsts[verdict] * seconds[verdict] for verdict in firsts)
    beyond_chance = count**2 - expected
    kappa = (sum(equal) * count - expected) / beyond_chance if beyond_chance else None
    return Agreement(count, mean_of_known(equal), kappa)
