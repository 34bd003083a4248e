"""Tables of an experiment: rows, such as variants of a search, compared by the records of the topics.

The record of a topic has `rows`: a record of each row by name. A row that needs a language model is missing
without one; a record is None if the row failed for the topic.

Precision, recall and F1 of sets of papers are SPAR's (equations 1 to 3), from a record with the counts of a
question: `retrieved` and `relevant` papers, and `found`, which are both. SPAR prints one F1 for a benchmark.
In its table 1 it is the harmonic mean of the printed precision and recall (.3612 and .4105 give .3843), so of
means over questions. The mean of each question's F1 is another value.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from operator import itemgetter
from statistics import fmean, median
from typing import Any, NamedTuple, TypeAlias

from eval.statistics import NONE, compare, difference_columns, mean_of_known, wilson

NEEDS_MODEL = "needs a model"  # cell of a row without results, because no language model is used
TESTED = "p: paired randomisation test."
ROWS = "rows"  # key of a topic's record
SECONDS = "seconds"  # key of a topic's times, which are not among the results
BENCHMARKS = ("AutoScholarQuery", "SPARBench")  # of SPAR's tables
NOTES = (
    "F1: harmonic mean of mean recall and mean precision, as in SPAR. Mean F1: mean over the questions.",
    "Mean precision is over the questions with papers, all others over all questions. –: no valid value.",
)

Cell: TypeAlias = str | int | float | None  # formatted by `report.py`; None is a missing value
Record: TypeAlias = Mapping[str, Any]  # JSON
Rows: TypeAlias = Mapping[str, Sequence[Record | None]]  # one record for each topic
Column: TypeAlias = Callable[[Sequence[Record]], Cell]
Value: TypeAlias = str | Callable[[Record], Any]  # a part of a record, or a function of it


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results; each row has one cell per column."""

    title: str  # above the table
    columns: tuple[str, ...]  # names of the columns
    rows: tuple[tuple[Cell, ...], ...]  # of cells
    judge: str = ""  # the judge of relevance or of answers, if the judgements are not those of the qrels
    timed: bool = False  # whether the cells are times; such a table is not among the results that repeat
    main: Mapping[str, float] = field(default_factory=dict)  # main numbers, as `COLUMN, ROW`


class Line(NamedTuple):
    """A line of a panel: a value for each place, and the bounds of its interval if there is one."""

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


class Panel(NamedTuple):
    """A panel of a figure: at most five lines over the same places (ticks) of the horizontal axis, or bars.

    `across` and `up` are the labels of the axes. A bar has a label, a value and a note above it; the scale of
    bars is logarithmic, and values below 1 have none.
    """

    title: str
    across: str
    up: str
    places: tuple[float, ...] = ()
    lines: tuple[Line, ...] = ()
    bars: tuple[tuple[str, float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, saved as `figures/NAME.svg` and `figures/NAME.png`."""

    name: str
    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The tables and figures of an experiment, made from the records of its topics."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)  # further main numbers
    files: Mapping[str, str] = field(default_factory=dict)  # further files of the folder, by name

    @property
    def main(self) -> dict[str, float]:
        """The main numbers by name, for a comparison with published values."""
        return {
            name: value
            for of in (self.numbers, *(table.main for table in self.tables))
            for name, value in of.items()
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A table that compares the rows with the first one."""

    title: str
    kind: str  # heading of the names
    columns: Mapping[str, Column]  # functions of the records of a row
    value: Value | None = None  # the value of a topic whose difference is tested; without it there are none
    difference: str = "difference"  # heading of the difference
    _: KW_ONLY
    missing: Cell = NEEDS_MODEL  # first cell of a row without records
    judge: str = ""
    main: Mapping[str, Column] = field(default_factory=dict)  # main numbers of each row that has them
    # Published values by name, `ROW` or `ROW, BENCHMARK`: each is below its row, or at the end.
    published: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    measures: Sequence[str] = ()  # the columns of the published values

    def table(self, rows: Rows) -> Table:
        """Return the table of records by row; a row without any has the cell `missing`."""
        groups: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in (*rows, "")}
        numbers: dict[str, float] = {}
        for name, records in rows.items():
            row: tuple[Cell, ...] = (self.missing, *[None] * (len(self.columns) - 1))
            if known := [record for record in records if record is not None]:
                row = tuple(column(known) for column in self.columns.values())
                main = {f"{column}, {name}": function(known) for column, function in self.main.items()}
                numbers |= {key: float(each) for key, each in main.items() if isinstance(each, float | int)}
            groups[name].append((name, *row, *self._difference(rows, name)))
        headings = (self.kind, *self.columns, *(difference_columns(self.difference) if self.value else ()))
        for name, values in self.published.items():
            cells = dict(zip(self.measures, values, strict=True))
            below = next((row for row in rows if f"{name}, ".startswith(f"{row}, ")), "")
            groups[below].append((f"published: {name}", *(cells.get(column) for column in headings[1:])))
        lines = tuple(row for group in groups.values() for row in group)
        return Table(self.title, headings, lines, self.judge, main=numbers)

    def _difference(self, rows: Rows, name: str) -> tuple[Cell, ...]:
        if self.value is None:
            return ()
        first, value = next(iter(rows)), value_of(self.value)
        pairs = zip(rows[first], rows[name], strict=True)
        both = [(value(a), value(b)) for a, b in pairs if a is not None and b is not None]
        return NONE if name == first or not both else compare(*zip(*both, strict=True)).as_cells()


def value_of(value: Value) -> Callable[[Record], Any]:
    """Return the function of a record."""
    return itemgetter(value) if isinstance(value, str) else value


def mean(part: str) -> Column:
    """Return the column of the mean of a part, over the records in which it is not None."""
    return lambda records: mean_of_known(record[part] for record in records)


def percent(value: Value) -> Column:
    """Return the column of the percentage of records that satisfy a condition."""
    return lambda records: 100 * fmean(map(value_of(value), records))


def number(value: Value) -> Column:
    """Return the column of the number of records that satisfy a condition."""
    return lambda records: sum(map(bool, map(value_of(value), records)))


def total(part: str) -> Column:
    """Return the column of the sum of a part."""
    return lambda records: sum(record[part] for record in records)


def wilson_columns(value: Value) -> dict[str, Column]:
    """Return the bounds of the 95 % interval of a percentage."""

    def bound(place: int) -> Column:
        return lambda records: 100 * wilson(sum(map(value_of(value), records)), len(records))[place]

    return {"95 % from": bound(0), "to": bound(1)}


def seconds_table(topics: Sequence[Record]) -> tuple[Table, ...]:
    """Return a table of the seconds of a topic by row; none if no topic has seconds by row."""
    times: dict[str, list[float]] = {}
    for seconds in (topic.get(SECONDS) for topic in topics):
        for name, value in seconds.items() if isinstance(seconds, Mapping) else ():
            times.setdefault(name, []).append(value)
    rows = tuple((name, fmean(each), median(each), max(each), sum(each)) for name, each in times.items())
    columns = ("", "mean", "median", "longest", "all topics")
    return (Table("Seconds of a topic", columns, rows, timed=True),) if rows else ()


def share_of(relevant: frozenset[str], found: Iterable[str]) -> float:
    """Return the share of the relevant documents that were found."""
    return len(relevant.intersection(found)) / len(relevant)


def set_counts(retrieved: Iterable[str], relevant: Collection[str]) -> dict[str, int]:
    """Count ids; a repeated id counts once."""
    distinct = set(retrieved)
    found = distinct.intersection(relevant)
    return {"retrieved": len(distinct), "relevant": len(relevant), "found": len(found)}


def recall(records: Sequence[Record]) -> float | None:
    """Return the mean recall over the questions with relevant papers; 0 for one without retrieved papers."""
    return mean_of_known(each["found"] / each["relevant"] for each in records if each["relevant"])


def precision(records: Sequence[Record]) -> float | None:
    """Return the mean precision over the questions with retrieved papers."""
    return mean_of_known(each["found"] / each["retrieved"] for each in records if each["retrieved"])


def f1(records: Sequence[Record]) -> float | None:
    """Return the harmonic mean of mean precision and mean recall, as SPAR prints it."""
    return harmonic_mean(precision(records), recall(records))


def mean_f1(records: Sequence[Record]) -> float | None:
    """Return the mean of each question's F1; a question without retrieved papers counts 0."""
    return mean_of_known(f1_of(each) for each in records if each["relevant"])


def f1_of(record: Record) -> float:
    """Return the F1 of a question; 0 without relevant papers."""
    papers: int = record["retrieved"] + record["relevant"]
    return 2 * record["found"] / papers if papers else 0.0


def harmonic_mean(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean, 0 if both are 0; None if one is None."""
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


MEASURES: Mapping[str, Column] = {"F1": f1, "recall": recall, "precision": precision}
COLUMNS: Mapping[str, Column] = {
    **MEASURES,
    "mean F1": mean_f1,
    "questions with papers": lambda records: sum(each["retrieved"] > 0 for each in records),
}
MAIN: Mapping[str, Column] = {"F1": f1, "Recall": recall, "Precision": precision}


def of_benchmarks(published: Iterable[Sequence[Cell]]) -> dict[str, Sequence[Cell]]:
    """Return F1, recall and precision by `SYSTEM, BENCHMARK`, of rows with both benchmarks."""
    return {
        f"{system}, {benchmark}": values[place : place + len(MEASURES)]
        for system, *values in published
        for place, benchmark in zip(range(0, len(values), len(MEASURES)), BENCHMARKS, strict=True)
    }
