"""The command `harvest`, for cron: updates of the indexes of repositories."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from base.errors import InvalidCall, RemediableError
from base.terminal.output import echo_json
from indexer.options import interruptible, json_option, optional_name_argument, partial_option, raise_last
from indexer.settings import IndexerSettings


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
    from indexer.console import harvest_record, show_harvest
    from indexer.harvest import harvested_indexes, harvested_repositories, update
    from indexer.harvesting.listing import HarvestOptions

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
        with _collected(errors, index):
            for repository in harvested_repositories(settings, index):
                with _collected(errors, index):
                    with progress_bar() as progress, interruptible():
                        report = update(repository, index, settings, options, progress)
                    errors += [report.failure] if report.failure else []
                    records.append(harvest_record(index, report))
                    if not as_json:
                        show_harvest(index, report)
    if as_json:
        echo_json({"harvests": records})
    raise_last(errors)


@contextmanager
def _collected(errors: list[RemediableError], index: str) -> Iterator[None]:
    """Add an error to `errors`, so that the other repositories are harvested."""
    try:
        yield
    except RemediableError as error:
        error.index = error.index or index
        errors.append(error)
