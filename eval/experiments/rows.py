"""The tables of experiments: the measured subjects and their figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the measured subject, by name, and its figures."""

    subject: Mapping[str, str]
    figures: Mapping[str, float]

    def as_record(self) -> dict[str, str | float]:
        """Return the row as JSON."""
        return {**self.subject, **self.figures}


def table_of(rows: Sequence[Row]) -> list[str]:
    """Format rows of the same subjects: counts unchanged, other figures to four places."""
    names = list(dict.fromkeys(name for row in rows for name in row.figures))
    header = [*(rows[0].subject if rows else ()), *names]
    cells = [[*row.subject.values(), *(_shown(row.figures.get(name)) for name in names)] for row in rows]
    return table([header, *cells], words=len(header) - len(names))


def echo_rows(rows: Sequence[Row], *, as_json: bool) -> None:
    """Write rows to standard output, as a table or one JSON object."""
    if as_json:
        echo_json({"rows": [row.as_record() for row in rows]})
    else:
        echo_lines(table_of(rows))


def _shown(figure: float | None) -> str:
    if figure is None:
        return ""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.4f}"
