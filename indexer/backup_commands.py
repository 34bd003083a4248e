"""The commands `indexes backup`, `indexes backups`, and for clusters `indexes restore`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from base.amounts import counted
from base.errors import InvalidCall, ResourceError
from base.files.base_directories import in_home
from base.remedies import describe_error
from base.terminal.output import echo, echo_json, echo_lines, visible
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.versions.store import CAPABILITIES

if TYPE_CHECKING:
    from indexer.versions.cluster.connection import Cluster
    from indexer.versions.folder_backups import FolderBackup

location_option = click.option(
    "--location",
    default="",
    metavar="FOLDER",
    help="Folder of the backups. Default: SHRAG_BACKUPS. In a cluster it is below the servers' path.repo; "
    "default: the last location, initially the prefix.",
)


@click.command()
@click.argument("snapshot", default="", metavar="[SNAPSHOT]")
@location_option
@click.option(
    "--keep",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Remove all but the newest N folders after a complete backup; snapshots of a cluster stay.",
)
@json_option
def backup(snapshot: str, location: str, keep: int | None, as_json: bool) -> None:
    """Back up all indexes, to a snapshot named SNAPSHOT or after the date and time.

    Builds and the server may run in parallel. Embedded indexes, and the server's keys, sign-ins,
    statistics, judgements, feeds and kept searches are copied to a folder that can be used as SHRAG_HOME;
    files of indexes that the previous backup also has are links to it. In a cluster the indexes go to the
    snapshot, and the server's data to the folder SHRAG_BACKUPS. What could not be backed up is named; the
    exit code is then 1.
    """
    settings = IndexerSettings()
    back_up = _back_up_cluster if CAPABILITIES[settings.engine].snapshots else _back_up_folders
    record, line = back_up(settings, snapshot, location, keep or 0)
    echo_json(record) if as_json else echo(line)
    for name, reason in record["failed"].items():
        echo(f"not backed up: {name}: {reason}", err=True)
    if record["failed"]:
        raise SystemExit(1)


def _back_up_cluster(
    settings: IndexerSettings, name: str, location: str, keep: int
) -> tuple[dict[str, Any], str]:
    """Back up the server's data and take a snapshot, each even if the other one fails."""
    from base.terminal.progress_bar import progress_bar
    from indexer.versions.cluster.snapshots import backup as take
    from indexer.versions.server_store import SERVER_STORE

    failed: dict[str, str] = {}
    if (settings.home / SERVER_STORE).exists():
        try:
            failed = _back_up_folders(settings, name, "", keep)[0]["failed"]
        except ResourceError as error:
            failed = {SERVER_STORE: describe_error(error)}
    with _cluster() as cluster, progress_bar() as progress:
        taken = take(cluster, cluster.settings.prefix, name, location=location, progress=progress)
    size = f"{_indices(taken.indices)} in {counted(taken.shards, 'shard')}"
    return asdict(taken) | {"failed": failed}, f"snapshot {taken.name!r}: {size}, {taken.seconds:.1f} s"


def _back_up_folders(
    settings: IndexerSettings, name: str, location: str, keep: int
) -> tuple[dict[str, Any], str]:
    from base.terminal.progress_bar import progress_bar
    from indexer.versions.folder_backups import back_up

    folder = _folder_of_backups(settings, location)
    with progress_bar() as progress:
        made = back_up(settings, folder, name, keep=keep, progress=progress)
    new = f"{made.copied / 1e6:,.1f} MB of them new"
    return asdict(made), f"backup {str(folder / made.name)!r}: {_described(made)}, {new}"


def _folder_of_backups(settings: IndexerSettings, location: str) -> Path:
    folder = in_home(Path(location)) if location else settings.backups
    if folder is None:
        raise InvalidCall("no folder of backups is given", remedy=("--location FOLDER", "SHRAG_BACKUPS"))
    return folder


def _described(backup: "FolderBackup") -> str:
    missing = f", without {', '.join(backup.failed)}" if backup.failed else ""
    return f"{_indices(backup.indexes)}, {backup.bytes / 1e6:,.1f} MB{missing}"


@click.command()
@location_option
@json_option
def backups(location: str, as_json: bool) -> None:
    """List the backups, oldest first."""
    settings = IndexerSettings()
    if not CAPABILITIES[settings.engine].snapshots:
        from indexer.versions.folder_backups import list_backups

        made = list_backups(_folder_of_backups(settings, location))
        if as_json:
            echo_json({"backups": [asdict(each) for each in made]})
            return
        echo_lines(f"{each.name}  {each.taken}  {_described(each)}" for each in made)
        if not made:
            echo("no backups yet; make one with: shrag indexes backup")
        return
    from indexer.versions.cluster.snapshots import list_snapshots

    with _cluster() as cluster:
        found = list_snapshots(cluster, cluster.settings.prefix, location=location)
    if as_json:
        echo_json({"backups": [asdict(snapshot) for snapshot in found]})
        return
    if not found:
        echo("no snapshots yet; create one with: shrag indexes backup")
    for snapshot in found:
        size = _indices(snapshot.indices)
        echo(f"{snapshot.name}  {snapshot.taken}  {snapshot.state.lower()}  {size}")


@click.command()
@click.argument("snapshot")
@location_option
@click.option("--yes", is_flag=True, help="Delete the current indexes without asking.")
@json_option
def restore(snapshot: str, location: str, yes: bool, as_json: bool) -> None:
    """Restore all indexes of a cluster from SNAPSHOT; the current indexes are deleted."""
    from base.terminal.progress_bar import progress_bar
    from indexer.versions.cluster import snapshots

    with _cluster() as cluster:
        prefix = cluster.settings.prefix
        found = snapshots.find_snapshot(cluster, prefix, snapshot, location=location)
        there = snapshots.present(cluster, prefix)
        if there and not yes:
            lost = [index for index in there if index not in found.indices]
            echo(f"{_indices(there)} will be deleted: {', '.join(there)}", err=True)
            if lost:
                echo(f"not in the snapshot: {', '.join(lost)}", err=True)
            click.confirm(visible(f"restore {snapshot!r} of {found.taken}?"), abort=True, err=True)
        with progress_bar() as progress:
            snapshots.restore(cluster, prefix, found, there, progress)
    if as_json:
        echo_json(asdict(found) | {"deleted": there})
        return
    echo(f"snapshot {snapshot!r} is restored: {_indices(found.indices)}")


def _indices(names: tuple[str, ...] | list[str]) -> str:
    return "1 index" if len(names) == 1 else f"{len(names):,} indices"


@contextmanager
def _cluster() -> Iterator["Cluster"]:
    settings = IndexerSettings()
    if not CAPABILITIES[settings.engine].snapshots:
        raise InvalidCall(
            f"the indexes of the engine {settings.engine} are folders: stop the server, and copy the backup "
            f"to {settings.home} (docs/how-to/deploying.md); this command is for SHRAG_ENGINE=elasticsearch"
        )
    from indexer.versions.cluster.connection import Cluster

    with Cluster(settings.elasticsearch) as cluster:
        yield cluster
