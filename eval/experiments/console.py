"""The command line of experiments: shared options, and tables of measured subjects and their figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from base.terminal.columns import table
from base.terminal.output import echo_json, echo_lines

DATA = Path("../shared/data")


def _there(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    del context, parameter
    if not folder.is_dir():
        raise click.UsageError(f"no collections in {folder}; set their folder: --data DIR")
    return folder


home_option = click.option(
    "--home", required=True, type=click.Path(path_type=Path), help="The folder for the indexes."
)
data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=DATA,
    show_default=True,
    callback=_there,
    help="The folder of the collections.",
)


def names_option(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return the option that selects some of these collections."""
    return click.option(
        "--collection",
        "names",
        multiple=True,
        type=click.Choice(list(names)),
        help="Only this collection; repeatable.",
    )


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
