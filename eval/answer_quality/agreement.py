"""Agreement of two judges on the same sentences: share, and Cohen's kappa."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from eval.answer_quality.citations import Verdict
from eval.statistics import cohens_kappa

SUPPORTED: Verdict = "supported"
UNSUPPORTED: Verdict = "unsupported"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Numbers of sentences by the verdicts of two judges.

    Supported by both, only by the first, only by the second, by none. `left_out`: a judge has no verdict.
    """

    both: int
    only_first: int
    only_second: int
    none: int
    left_out: int

    @property
    def compared(self) -> int:
        """The number of sentences that both judged."""
        return self.both + self.only_first + self.only_second + self.none

    @property
    def share(self) -> float | None:
        """The share of sentences with the same verdict; None without sentences."""
        return (self.both + self.none) / self.compared if self.compared else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None if chance alone agrees on all, as without sentences."""
        counts = {(1, 1): self.both, (1, 0): self.only_first, (0, 1): self.only_second, (0, 0): self.none}
        return cohens_kappa([pair for pair, count in counts.items() for _ in range(count)])


def agreement(verdicts: Iterable[tuple[Verdict, Verdict]]) -> Agreement:
    """Count the verdicts of two judges on the same sentences."""
    counts = Counter(verdicts)
    found = [
        counts.pop((first, second), 0)
        for first in (SUPPORTED, UNSUPPORTED)
        for second in (SUPPORTED, UNSUPPORTED)
    ]
    both, only_first, only_second, none = found
    return Agreement(both, only_first, only_second, none, sum(counts.values()))
