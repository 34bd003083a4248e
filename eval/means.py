"""Means of values of which some are missing."""

from collections.abc import Iterable
from statistics import fmean


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
