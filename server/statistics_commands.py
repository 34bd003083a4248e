"""The command `statistics`: searches by day, index and words, and questions without results."""

import click

from base.terminal.columns import table
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import json_option
from indexer.settings import IndexerSettings
from server.monitoring.search_statistics import read_statistics
from server.settings import ServerSettings
from server.store import Store


@click.command()
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=30,
    show_default=True,
    help="Days to count, with today (UTC).",
)
@json_option
def statistics(days: int, as_json: bool) -> None:
    """Show the searches of the server, without their callers, and questions that found nothing."""
    counted = ServerSettings().statistics
    found = read_statistics(Store(IndexerSettings().home), days)
    if as_json:
        echo_json({"counted": counted, **found})
        return
    if not counted:
        echo("searches are not counted; SHRAG_SERVER__STATISTICS=true counts them", err=True)
    for name in ("days", "indexes", "words", "without_results"):
        if rows := found[name]:
            echo_lines(table([tuple(rows[0]), *(tuple(map(str, row.values())) for row in rows)]))
            echo("")
