"""Options that commands have in common, and how they end on Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from indexer.analysis import UserDictionary
from indexer.analysis.user_dictionary import read_user_dictionary
from indexer.glossary.given import Entry, read_glossary
from indexer.remedies import INDEX_CALLED_FOR
from indexer.terminal import echo

INTERRUPTED = 130  # 128 and the number of the signal, as shells say

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")


def _keep(context: click.Context, _: click.Parameter, name: str) -> str:
    """Keep which index is called for: an error from deep within may not know it."""
    context.ensure_object(dict)[INDEX_CALLED_FOR] = name
    return name


name_option = click.option("--name", required=True, callback=_keep, help="The index's name.")

name_argument = click.argument("name", callback=_keep)

dictionary_option = click.option(
    "--dictionary",
    "dictionary_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One's own terms, one a line, behind it its parts if it is to be cut: 세종시 세종 시",
)


def dictionary_of(file: Path | None) -> UserDictionary | None:
    """Read the dictionary of an option; None where it was not given."""
    return read_user_dictionary(file) if file else None


glossary_option = click.option(
    "--glossary",
    "glossary_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One's own pairs, one a line: the Korean term, a tab, the English one.",
)


def glossary_of(file: Path | None) -> tuple[Entry, ...] | None:
    """Read the glossary of an option; None where it was not given."""
    return read_glossary(file) if file else None


@contextmanager
def interruptible() -> Iterator[None]:
    """End on Ctrl-C with one line."""
    try:
        yield
    except KeyboardInterrupt:
        echo("interrupted; the same command goes on where it stopped", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
