"""Agreement of two judges beyond chance (Cohen, Educational and Psychological Measurement 20, 1960)."""

from collections import Counter
from collections.abc import Hashable, Sequence


def cohens_kappa(verdicts: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa, (p_o − p_e) / (1 − p_e), of the verdicts of two judges on the same items.

    p_o is the share of equal verdicts. p_e is the share expected if each judge gave the same number of each
    verdict at random. The result is None if p_e is 1, and without items.
    """
    count = len(verdicts)
    firsts, seconds = Counter(one for one, _ in verdicts), Counter(other for _, other in verdicts)
    agreed = sum(one == other for one, other in verdicts)
    # As whole numbers, so that a denominator of 0 is exact.
    expected = sum(firsts[verdict] * seconds[verdict] for verdict in firsts)
    if expected == count**2:
        return None
    return (agreed * count - expected) / (count**2 - expected)
