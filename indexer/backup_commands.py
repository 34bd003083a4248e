"""Commands for clusters only: `indexes backup`, `indexes backups` and `indexes restore`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from base.amounts import counted
from base.errors import InvalidCall
from base.terminal.output import echo, echo_json, visible
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.versions.store import CAPABILITIES

if TYPE_CHECKING:
    from indexer.versions.cluster.connection import Cluster

location_option = click.option(
    "--location",
    default="",
    metavar="FOLDER",
    help="Below the servers' path.repo. Default: the last location, initially the prefix.",
)


@click.command()
@click.argument("snapshot", default="", metavar="[SNAPSHOT]")
@location_option
@json_option
def backup(snapshot: str, location: str, as_json: bool) -> None:
    """Create a snapshot of all indexes, named SNAPSHOT or after the date and time."""
    from base.terminal.progress_bar import progress_bar
    from indexer.versions.cluster.snapshots import backup as take

    with _cluster() as cluster, progress_bar() as progress:
        taken = take(cluster, cluster.settings.prefix, snapshot, location=location, progress=progress)
    if as_json:
        echo_json(asdict(taken))
        return
    size = f"{_indices(taken.indices)} in {counted(taken.shards, 'shard')}"
    echo(f"snapshot {taken.name!r}: {size}, {taken.seconds:.1f} s")


@click.command()
@location_option
@json_option
def backups(location: str, as_json: bool) -> None:
    """List the snapshots, oldest first."""
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
    """Restore all indexes from SNAPSHOT; the current indexes are deleted."""
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
            f"the indexes of the engine {settings.engine} are folders: copy {settings.home} while nothing "
            "is being indexed, and restore the copy; this command is for SHRAG_ENGINE=elasticsearch"
        )
    from indexer.versions.cluster.connection import Cluster

    with Cluster(settings.elasticsearch) as cluster:
        yield cluster
