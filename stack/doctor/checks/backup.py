"""The age of the last backup: a file or folder that a setting names, or a snapshot of a cluster."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from indexer.errors import EngineRefused, IndexerError
from indexer.settings import ElasticsearchSettings
from stack.doctor.findings import Examined, Finding, failed

SUBJECT = "last backup"
LATE_DAYS = 8  # a weekly backup and a day


def check_backup(examined: Examined) -> Iterator[Finding]:
    """Report when the last backup was made, with a warning if that was long ago or never."""
    settings = examined.settings.indexer
    if settings.backups:
        yield from _of_files(settings.backups)
    if settings.engine == "elasticsearch":
        yield _of_cluster(settings.elasticsearch)
    elif not settings.backups:
        yield Finding(
            SUBJECT,
            "not configured",
            "nothing says where backups of the indexes are",
            mend="back up SHRAG_HOME (docs/deploying.md), and set SHRAG_BACKUPS to the folder of the backups",
        )


def _of_files(place: Path) -> Iterator[Finding]:
    """Judge the newest file of a folder, or one file."""
    try:
        entries = list(place.iterdir()) if place.is_dir() else [place]
        made = max(
            (entry.stat().st_mtime for entry in entries if not entry.name.startswith(".")), default=None
        )
        empty = [entry.name for entry in entries if entry.is_file() and not entry.stat().st_size]
    except OSError as error:
        mend = "make a backup there, or set SHRAG_BACKUPS to where backups are"
        yield failed(SUBJECT, error, str(place), mend)
        return
    yield _judged(datetime.fromtimestamp(made, UTC) if made else None, str(place))
    if empty:
        found = f"an empty file is no backup: {min(empty)}"
        yield Finding("empty backup", "warning", found, str(place), "make the backup again")


def _of_cluster(settings: ElasticsearchSettings) -> Finding:
    from indexer.cluster.connection import Cluster
    from indexer.cluster.snapshots import last_snapshot

    try:
        with Cluster(settings) as cluster:
            found = last_snapshot(cluster, settings.prefix)
    except EngineRefused as error:  # the key may not list snapshots
        return replace(failed(SUBJECT, error), status="warning")
    except IndexerError as error:
        return failed(SUBJECT, error)
    taken = datetime.fromisoformat(found.taken) if found else None
    return _judged(taken, "shrag indexes backup")


def _judged(made: datetime | None, where: str) -> Finding:
    if made is None:
        return Finding(SUBJECT, "warning", "there is none", where, "make one (docs/deploying.md)")
    days = (datetime.now(UTC) - made).total_seconds() / 86_400
    found = f"{made.isoformat(timespec='minutes')}, {days:.1f} days ago"
    if days > LATE_DAYS:
        return Finding(SUBJECT, "warning", found, where, "make one, and see why none was made since")
    return Finding(SUBJECT, "ok", found, where)
