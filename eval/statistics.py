"""Statistics of judgements: means of known values, proportions, agreement, the area under a curve."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean


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


def cohens_kappa(verdicts: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa, (p_o − p_e) / (1 − p_e), of the verdicts of two judges on the same items.

    p_o is the share of equal verdicts. p_e is the share expected if each judge gave the same number of each
    verdict at random (Cohen, Educational and Psychological Measurement 20, 1960). The result is None if p_e
    is 1, and without items.
    """
    count = len(verdicts)
    firsts, seconds = Counter(one for one, _ in verdicts), Counter(other for _, other in verdicts)
    agreed = sum(one == other for one, other in verdicts)
    # As whole numbers, so that a denominator of 0 is exact.
    expected = sum(firsts[verdict] * seconds[verdict] for verdict in firsts)
    if expected == count**2:
        return None
    return (agreed * count - expected) / (count**2 - expected)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two judges on the items that both judged."""

    compared: int  # number of items
    share: float | None  # of equal verdicts; None without items
    # Cohen's kappa; None if both gave one and the same verdict to all items, and without items.
    kappa: float | None


def agreement(verdicts: Sequence[tuple[Hashable, Hashable]]) -> Agreement:
    """Return the agreement of the verdicts of two judges on the same items."""
    equal = [one == other for one, other in verdicts]
    return Agreement(len(equal), mean_of_known(equal), cohens_kappa(verdicts))
