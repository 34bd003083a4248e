"""The command `harvest`, for cron: updates of the indexes of repositories."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from base.errors import InvalidCall, RemediableError
from base.remedies import describe_error
from base.terminal.output import echo_json, echo_lines
from indexer.options import interruptible, json_option, optional_name_argument, partial_option
from indexer.settings import IndexerSettings

if TYPE_CHECKING:
    from indexer.harvesting.repository import Repository


@click.command()
@optional_name_argument
@click.option("--full", is_flag=True, help="List all records again, and remove missing ones.")
@click.option(
    "--remove-missing",
    is_flag=True,
    help="With --full: remove missing records even if they are more than SHRAG_HARVEST__MOST_MISSING.",
)
@partial_option
@json_option
def harvest(name: str | None, full: bool, remove_missing: bool, partial: bool, as_json: bool) -> None:
    """Update index NAME from its OAI-PMH repositories; without NAME, all indexes that have some.

    A repository is named once, by `shrag index oai:URL --name NAME`. Records that changed since the last call
    are indexed, deleted ones are removed. Without changes nothing is published.
    """
    from base.terminal.progress_bar import progress_bar
    from indexer.harvest import harvested_indexes, update
    from indexer.harvesting.listing import HarvestOptions
    from indexer.report_output import harvest_record, show_harvest

    if remove_missing and not full:
        raise click.UsageError("--remove-missing needs --full")
    settings = IndexerSettings()
    options = HarvestOptions(complete=full, remove_missing=remove_missing, partial=partial)
    names = [name] if name else harvested_indexes(settings)
    if not names:
        remedy = "name one (shrag index oai:URL --name NAME)"
        raise InvalidCall("no index harvests a repository", remedy=remedy)
    records: list[dict[str, Any]] = []
    errors: list[RemediableError] = []
    for index in names:
        for repository in _repositories(settings, index, errors):
            try:
                with progress_bar() as progress, interruptible():
                    report = update(repository, index, settings, options, progress)
            except RemediableError as error:  # the others are harvested
                error.index = error.index or index
                errors.append(error)
                continue
            errors += [report.failure] if report.failure else []
            records.append(harvest_record(index, report))
            if not as_json:
                show_harvest(index, report)
    if as_json:
        echo_json({"harvests": records})
    echo_lines((f"{type(error).__name__}: {describe_error(error)}" for error in errors[:-1]), err=True)
    if errors:
        raise errors[-1]


def _repositories(
    settings: IndexerSettings, index: str, errors: list[RemediableError]
) -> "Sequence[Repository]":
    """Return the repositories of an index; an error is added to `errors`."""
    from indexer.harvest import harvested_repositories

    try:
        return harvested_repositories(settings, index)
    except RemediableError as error:
        error.index = error.index or index
        errors.append(error)
        return ()
