"""The commands `indexes backup` and `indexes backups`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from base.errors import InvalidCall
from base.files.base_directories import in_home
from base.terminal.output import echo, echo_json, echo_lines
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.versions.store import LOCAL_ENGINES

if TYPE_CHECKING:
    from indexer.versions.folder_backups import FolderBackup

IN_A_CLUSTER = (
    "the indexes of a cluster are not in this backup: Elasticsearch saves them to its own snapshots "
    "(docs/how-to/cluster.md#backup-and-restore)"
)
location_option = click.option(
    "--location", default="", metavar="FOLDER", help="Folder of the backups. Default: SHRAG_BACKUPS."
)


@click.command()
@click.argument("name", default="", metavar="[NAME]")
@location_option
@click.option(
    "--keep",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Remove all but the newest N folders after a complete backup.",
)
@json_option
def backup(name: str, location: str, keep: int | None, as_json: bool) -> None:
    """Back up all indexes to a folder called NAME or after the date and time.

    Builds and the server may run in parallel. Embedded indexes, and the server's keys, sign-ins,
    statistics, judgements, feeds and kept searches are copied to a folder that can be used as SHRAG_HOME;
    files of indexes that the previous backup also has are links to it. What could not be backed up is named;
    the exit code is then 1. With Elasticsearch only the server's files are copied; snapshots of the cluster
    save the indexes.
    """
    from base.terminal.progress_bar import progress_bar
    from indexer.versions.folder_backups import back_up
    from indexer.versions.server_store import SERVER_STORE

    settings = IndexerSettings()
    if settings.engine not in LOCAL_ENGINES:
        if not (settings.home / SERVER_STORE).exists():
            raise InvalidCall(f"no store of a server is in {settings.home}, and {IN_A_CLUSTER}")
        echo(IN_A_CLUSTER, err=True)
    folder = _folder_of_backups(settings, location)
    with progress_bar() as progress:
        made = back_up(settings, folder, name, keep=keep or 0, progress=progress)
    if as_json:
        echo_json(asdict(made))
    else:
        new = f"{made.copied / 1e6:,.1f} MB of them new"
        echo(f"backup {str(folder / made.name)!r}: {_described(made)}, {new}")
    for part, reason in made.failed.items():
        echo(f"not backed up: {part}: {reason}", err=True)
    if made.failed:
        raise SystemExit(1)


@click.command()
@location_option
@json_option
def backups(location: str, as_json: bool) -> None:
    """List the backups, oldest first."""
    from indexer.versions.folder_backups import list_backups

    made = list_backups(_folder_of_backups(IndexerSettings(), location))
    if as_json:
        echo_json({"backups": [asdict(each) for each in made]})
        return
    echo_lines(f"{each.name}  {each.taken}  {_described(each)}" for each in made)
    if not made:
        echo("no backups yet; make one with: shrag indexes backup")


def _folder_of_backups(settings: IndexerSettings, location: str) -> Path:
    folder = in_home(Path(location)) if location else settings.backups
    if folder is None:
        raise InvalidCall("no folder of backups is given", remedy=("--location FOLDER", "SHRAG_BACKUPS"))
    return folder


def _described(backup: "FolderBackup") -> str:
    missing = f", without {', '.join(backup.failed)}" if backup.failed else ""
    indices = "1 index" if len(backup.indexes) == 1 else f"{len(backup.indexes):,} indices"
    return f"{indices}, {backup.bytes / 1e6:,.1f} MB{missing}"
