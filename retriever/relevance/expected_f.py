"""The highest expected F of a list of papers, from the probability that each is relevant.

    E[F] of the first n of a ranking ≈ 2 · (p₁ + … + pₙ) / (n + expected number of relevant papers)

A paper raises it if its probability is more than half of the expected F of the list without it. So the best
list holds the papers whose probability is at least half of the highest E[F] (Lipton, Elkan & Naryanaswamy,
ECML 2014).
"""

from collections.abc import Sequence

READ = 100  # papers of a ranking that are judged
LAST = 20  # last papers of a full ranking; their mean probability is assumed for READ more papers


def highest_expected_f(probabilities: Sequence[float]) -> float:
    """Return the expected F of the best list of these papers, 0 to 1; 0 without papers.

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
