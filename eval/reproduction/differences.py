"""Differences between the rows of a table: mean, interval, a paired test, and counts of topics."""

from collections.abc import Callable, Sequence

from eval.reproduction.experiment import Cell
from eval.significance import compare

NONE: tuple[Cell, ...] = (None,) * 4


def difference_columns(name: str = "difference") -> tuple[str, ...]:
    """Return the columns of `difference_cells`; the first one has this name."""
    return (name, "95 %", "p", "better / same / worse")


def difference_cells(values_of: Callable[[str], Sequence[float]], row: str, first: str) -> tuple[Cell, ...]:
    """Compare a row with the first row; the first row itself has empty cells.

    Args:
        values_of: returns the values of a row, one for each topic in the same order.
        row, first: names of rows.
    """
    return NONE if row == first else compare(values_of(first), values_of(row)).as_cells()
