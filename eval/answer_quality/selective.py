"""Selective answers: the risk of the answered questions, by the share of questions that are answered.

Questions are answered in the order of a confidence. Coverage is the share of answered questions, and risk the
share of errors among them (El-Yaniv & Wiener, JMLR 11, 2010). AURC is the mean risk over all coverages
(Geifman, Uziel & El-Yaniv, ICLR 2019); less is better.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, groupby
from statistics import fmean


def risks(confidence: Sequence[float], errors: Sequence[bool]) -> list[float]:
    """Return the risk if the 1, 2, … n questions of highest confidence are answered.

    Questions of equal confidence share their errors equally, so that their order does not matter.
    """
    ordered = sorted(zip(confidence, errors, strict=True), key=lambda each: -each[0])
    shared: list[float] = []
    for _, group in groupby(ordered, key=lambda each: each[0]):
        wrong = [error for _, error in group]
        shared += [fmean(wrong)] * len(wrong)
    return [total / count for count, total in enumerate(accumulate(shared), 1)]


def best_risks(errors: Sequence[bool]) -> list[float]:
    """Return the risks of the best possible order: all errors last."""
    return risks([-float(error) for error in errors], errors)


def risk_at(coverage: float, of: Sequence[float]) -> float:
    """Return the risk at a coverage, 0 to 1, of `risks`: at the next number of questions."""
    return of[max(1, math.ceil(coverage * len(of) - 1e-9)) - 1]
