"""Options shared by commands, and their handling of Ctrl-C."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from base.errors import InvalidCall, RemediableError, Remedy, first_names
from base.files.durable import describe_error
from base.terminal.output import echo, echo_lines
from base.terminal.parameters import INDEX_CALLED_FOR, PathParameter, completing
from indexer.analysis import ANALYZERS, DECOMPOUND_MODES
from indexer.analysis.user_dictionary import read_user_dictionary
from indexer.errors import UnknownIndex
from indexer.glossary.given import read_glossary

if TYPE_CHECKING:
    from indexer.harvesting.protocol import Repository
    from indexer.settings import IndexerSettings

COMPLETION_S = 0.5  # per request for names; an unreachable cluster is tried four times
INTERRUPTED = 130  # exit code 128 + signal number, as in shells

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


def _keep(context: click.Context, _: click.Parameter, name: str | None) -> str | None:
    return name and _keep_index(context, name)


def _keep_index(context: click.Context, name: str) -> str:
    """Store the requested index for error messages that do not know it."""
    context.ensure_object(dict)[INDEX_CALLED_FOR] = name
    return name


def index_names() -> list[str]:
    """Return the names of all indexes, for the shell to complete."""
    from indexer.settings import IndexerSettings
    from indexer.versions.store.engines import index_names as names_of

    settings = IndexerSettings()
    hurried = settings.elasticsearch.model_copy(update={"timeout_s": COMPLETION_S})
    return names_of(settings.model_copy(update={"elasticsearch": hurried}))


name_option = click.option(
    "--name",
    metavar="NAME",
    callback=_keep,
    shell_complete=completing(index_names),
    help="The index; optional if there is only one, or if SHRAG_NAME is set.",
)

name_argument = click.argument("name", callback=_keep, shell_complete=completing(index_names))

optional_name_argument = click.argument(
    "name", required=False, callback=_keep, shell_complete=completing(index_names)
)


def chosen_index(name: str | None, settings: "IndexerSettings") -> str:
    """Return the index named by the call, otherwise by the settings, otherwise the only index.

    Raises:
        UnknownIndex: no name is given, and there is no index.
        InvalidCall: no name is given, and there are several indexes.
        ResourceError: the engine cannot list the indexes.
    """
    if name is None:
        name = settings.name or _only_index(settings)
    return _keep_index(click.get_current_context(), name)


def _only_index(settings: "IndexerSettings") -> str:
    from indexer.versions.store.engines import index_names as names_of

    names = names_of(settings)
    if not names:
        raise UnknownIndex("there is no index yet", remedy=Remedy.CREATE)
    if len(names) > 1:
        raise InvalidCall(f"there are {len(names):,} indexes: {first_names(names)}", remedy=Remedy.NAME_INDEX)
    return names[0]


analyzer_option = click.option(
    "--analyzer",
    type=click.Choice(list(ANALYZERS)),
    default="bilingual",
    show_default=True,
    help="Analysis of Korean and English text, or of one of the two alone.",
)
decompound_option = click.option(
    "--decompound",
    type=click.Choice(DECOMPOUND_MODES),
    default="discard",
    show_default=True,
    help="Korean compounds: their parts, the compound stacked on its parts, or the compound.",
)
dictionary_option = click.option(
    "--dictionary",
    type=PathParameter(),
    callback=lambda _, __, file: read_user_dictionary(file) if file else None,
    metavar="FILE",
    help="Custom terms, one per line, followed by its parts if it is to be split: 세종시 세종 시",
)


glossary_option = click.option(
    "--glossary",
    type=PathParameter(),
    callback=lambda _, __, file: read_glossary(file) if file else None,
    metavar="FILE",
    help="Custom glossary, one pair per line: the Korean term, a tab, the English term.",
)


partial_option = click.option(
    "--partial",
    is_flag=True,
    help="For oai: index the harvested records even if the repository fails before the end of its list.",
)


def repository_of(
    paths: tuple[str, ...], set_: str | None, metadata_prefix: str | None
) -> "Repository | None":
    """Return the repository named by a path oai:URL, None for a path of files."""
    if not any(path.startswith("oai:") for path in paths):
        if set_ is not None or metadata_prefix is not None:
            raise click.UsageError("--set and --metadata-prefix are for a repository, oai:URL")
        return None
    if len(paths) > 1:
        raise click.UsageError(
            "a repository is harvested by a call of its own: give one oai:URL and no files"
        )
    from indexer.harvesting.protocol import OAI_DC, Repository

    return Repository.of(paths[0], set_=set_ or "", metadata_prefix=metadata_prefix or OAI_DC)


@contextmanager
def interruptible() -> Iterator[None]:
    """Exit on Ctrl-C with a one-line message."""
    try:
        yield
    except KeyboardInterrupt:
        echo("interrupted; repeat the command to resume", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def raise_last(errors: Sequence[RemediableError]) -> None:
    """Print all errors but the last one, which is raised."""
    echo_lines((f"{type(error).__name__}: {describe_error(error)}" for error in errors[:-1]), err=True)
    if errors:
        raise errors[-1]
