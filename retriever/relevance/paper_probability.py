"""The probability that a paper is relevant, and the end of a list of papers.

The probability depends on the paper's score in the ranking of `shrag` and on the decline of the scores. It is
a logistic regression, fitted on training collections (`python -m tools.fitting papers --home DIR --fit`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from base.logistic import likelihood

HEAD, TAIL = (3, 10), (9, 30)  # slices of the ranking; their mean scores are compared with the best score
LEAST = 0.02  # added to scores before their logarithm is taken
WEIGHTS: Mapping[str, float] = {
    "bias": -0.438,
    "share": 3.035,
    "head": -1.35,
    "tail": 0.558,
    "words": 0.306,
}
READ = 100  # papers of a ranking that are judged
LAST = 20  # last papers of a full ranking; their mean probability is assumed for READ more papers


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """The decline of the scores of a question's papers.

    Args:
        best: the highest score.
        head, tail: logarithms of the mean scores of `HEAD` and `TAIL`, as shares of the best.
        words: the logarithm of the number of the question's words.
    """

    best: float
    head: float
    tail: float
    words: float

    @classmethod
    def of(cls, scores: Sequence[float], words: int) -> "ScoreCurve":
        """Return the curve of the scores of a question's papers; ranks without a paper count 0."""
        ranked = sorted((max(0.0, score) for score in scores), reverse=True)
        best = ranked[0] if ranked else 0.0
        means = [fmean([*ranked, *[0.0] * end][start:end]) for start, end in (HEAD, TAIL)]
        head, tail = (math.log((mean + LEAST) / (best + LEAST)) for mean in means)
        return cls(best, head, tail, math.log(max(1, words)))

    def features(self, score: float) -> dict[str, float]:
        """Return the features of a paper of this score."""
        share = math.log(max(0.0, score) / self.best + LEAST) if self.best else math.log(LEAST)
        return {"share": share, "head": self.head, "tail": self.tail, "words": self.words}

    def probability(self, score: float) -> float:
        """Return the probability that a paper of this score is relevant; 0 without a score."""
        return likelihood(WEIGHTS, self.features(score)) if score > 0 else 0.0


def highest_expected_f(probabilities: Sequence[float]) -> float:
    """Return the expected F of the best list of these papers, 0 to 1; 0 without papers.

        E[F] of the first n of a ranking ≈ 2 · (p₁ + … + pₙ) / (n + expected number of relevant papers)

    A paper raises it if its probability is more than half of the expected F of the list without it (Lipton,
    Elkan & Naryanaswamy, ECML 2014).

    A ranking of `READ` papers was cut: `READ` more with the mean probability of its last papers are expected.
    """
    ranked = sorted(probabilities, reverse=True)
    expected = sum(ranked)
    if len(ranked) >= READ:
        expected += READ * sum(ranked[-LAST:]) / LAST
    best = held = 0.0
    for count, probability in enumerate(ranked, 1):
        held += probability
        best = max(best, 2 * held / (count + expected))
    return round(min(best, 1.0), 6)
