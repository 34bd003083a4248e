"""Options that experiments have in common."""

from pathlib import Path

import click

DATA = Path("../shared/data")


def _there(context: click.Context, parameter: click.Parameter, folder: Path) -> Path:
    del context, parameter
    if not folder.is_dir():
        raise click.UsageError(f"no collections in {folder}; name their folder: --data DIR")
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
