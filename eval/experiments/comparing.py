"""Tables that compare rows, such as variants of a search, by the records that each topic has of them.

The record of a topic has `rows`: a record of each row by name. A row that needs a language model is missing
without one; a record is None if the row failed for the topic.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from statistics import fmean, median
from typing import TypeAlias

from eval.experiments.experiment import Cell, Table
from eval.experiments.topic import SECONDS, Record
from eval.significance import NONE, compare, difference_columns
from eval.statistics import mean_of_known, wilson

NEEDS_MODEL = "needs a model"  # cell of a row without results, because no language model is used
TESTED = "p: paired randomisation test."

Rows: TypeAlias = Mapping[str, Sequence[Record | None]]  # one record for each topic
Column: TypeAlias = Callable[[Sequence[Record]], Cell]
Value: TypeAlias = Callable[[Record], float]


def known(records: Sequence[Record | None]) -> list[Record]:
    """Return the records of the topics that have the row."""
    return [record for record in records if record is not None]


def compared(
    title: str,
    kind: str,
    rows: Rows,
    columns: Mapping[str, Column],
    value: Value | None = None,
    difference: str = "difference",
    missing: Cell = NEEDS_MODEL,
) -> Table:
    """Return a table with the columns of each row, and its difference to the first row.

    Args:
        title: of the table.
        kind: heading of the names.
        rows: records by name.
        columns: functions of the known records of a row.
        value: the value of a topic whose difference is tested; without it there are no differences.
        difference: heading of the difference.
        missing: first cell of a row without records.
    """
    cells = []
    for name, records in rows.items():
        row: tuple[Cell, ...] = (missing, *[None] * (len(columns) - 1))
        if values := known(records):
            row = tuple(column(values) for column in columns.values())
        cells.append((name, *row, *(_difference(rows, name, value) if value else ())))
    tested = difference_columns(difference) if value else ()
    return Table(title, (kind, *columns, *tested), tuple(cells))


def _difference(rows: Rows, name: str, value: Value) -> tuple[Cell, ...]:
    first = next(iter(rows))
    pairs = [(a, b) for a, b in zip(rows[first], rows[name], strict=True) if a is not None and b is not None]
    if name == first or not pairs:
        return NONE
    return compare([value(a) for a, _ in pairs], [value(b) for _, b in pairs]).as_cells()


def with_published(table: Table, columns: Sequence[str], published: Mapping[str, Sequence[Cell]]) -> Table:
    """Return the table with rows of published values, each below the row that its name begins with.

    Args:
        table: our values.
        columns: the columns of the published values; other cells are missing.
        published: values by name, such as `ROW` or `ROW, BENCHMARK`; names of no row come last.
    """
    rows = list(enumerate(table.rows))
    for name, values in published.items():
        cells = dict(zip(columns, values, strict=True))
        places = (place for place, row in enumerate(table.rows) if f"{name}, ".startswith(f"{row[0]}, "))
        row = (f"published: {name}", *(cells.get(column) for column in table.columns[1:]))
        rows.append((next(places, len(rows)), row))
    return replace(table, rows=tuple(row for _, row in sorted(rows, key=itemgetter(0))))


def main_numbers(rows: Rows, columns: Mapping[str, Column]) -> dict[str, float]:
    """Return the numbers of all rows that have them, as `COLUMN, ROW`."""
    found = {
        f"{column}, {name}": function(values)
        for name, records in rows.items()
        if (values := known(records))
        for column, function in columns.items()
    }
    return {name: float(value) for name, value in found.items() if isinstance(value, float | int)}


def mean(part: str) -> Column:
    """Return the column of the mean of a part, over the records in which it is not None."""
    return lambda records: mean_of_known(record[part] for record in records)


def percent(of: Callable[[Record], bool]) -> Column:
    """Return the column of the percentage of records that satisfy a condition."""
    return lambda records: 100 * fmean(of(record) for record in records)


def number(of: Callable[[Record], object]) -> Column:
    """Return the column of the number of records that satisfy a condition."""
    return lambda records: sum(bool(of(record)) for record in records)


def total(part: str) -> Column:
    """Return the column of the sum of a part."""
    return lambda records: sum(record[part] for record in records)


def wilson_columns(succeeds: Callable[[Record], bool]) -> dict[str, Column]:
    """Return the bounds of the 95 % interval of a percentage."""

    def bound(place: int) -> Column:
        return lambda records: 100 * wilson(sum(map(succeeds, records)), len(records))[place]

    return {"95 % from": bound(0), "to": bound(1)}


def seconds_table(topics: Sequence[Record]) -> Table | None:
    """Return the seconds of a topic by row; None if no topic has seconds by row."""
    times: dict[str, list[float]] = {}
    for topic in topics:
        seconds = topic.get(SECONDS, {})
        for name, value in seconds.items() if isinstance(seconds, Mapping) else ():
            times.setdefault(name, []).append(value)
    if not times:
        return None
    rows = tuple((name, fmean(of), median(of), max(of), sum(of)) for name, of in times.items())
    return Table("Seconds of a topic", ("", "mean", "median", "longest", "all topics"), rows, timed=True)
