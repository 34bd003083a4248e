"""Options shared by experiments."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

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
