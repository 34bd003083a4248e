"""The age of the last backup: a file or folder from a setting, or a snapshot of a cluster."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from base.errors import ResourceError
from indexer.errors import EngineRefused
from indexer.settings import ElasticsearchSettings
from indexer.versions.folder_backups import list_backups
from stack.doctor.findings import Examined, Finding, failed, without_engine

SUBJECT = "last backup"
LATE_DAYS = 8  # a weekly backup and a day
CLOCKS_DIFFER = timedelta(hours=1)  # of this machine and of the disk or cluster that backups are on


def check_backup(examined: Examined) -> Iterator[Finding]:
    """Report the time of the last backup, with a warning if it is old or missing."""
    settings = examined.settings.indexer
    if settings.backups:
        yield from _of_files(settings.backups)
    if settings.engine == "elasticsearch":
        answers = examined.engine_answers
        yield _of_cluster(settings.elasticsearch) if answers else without_engine(SUBJECT)
    elif not settings.backups:
        yield Finding(
            SUBJECT,
            "not configured",
            "no location of index backups is set",
            mend="back up SHRAG_HOME (docs/how-to/deploying.md); SHRAG_BACKUPS = folder of the backups",
        )


def _of_files(place: Path) -> Iterator[Finding]:
    """Check the newest entry of a folder, or one file."""
    try:
        entries = _visible(place) if place.is_dir() else [place]
        found = _read_status(entries)
    except OSError as error:
        mend = "make a backup there, or set SHRAG_BACKUPS to the folder of the backups"
        yield failed(SUBJECT, error, str(place), mend)
        return
    newest = max((status.st_mtime for status in found.values()), default=None)
    yield _judged(None if newest is None else datetime.fromtimestamp(newest, UTC), str(place))
    if (made := list_backups(place)) and made[-1].failed:
        text = f"it is without {', '.join(made[-1].failed)}"
        yield Finding("incomplete backup", "warning", text, str(place), "run shrag indexes backup")
    empty = [
        entry.name for entry, status in found.items() if stat.S_ISREG(status.st_mode) and not status.st_size
    ]
    if empty:
        text = f"an empty file is not a backup: {min(empty)}"
        yield Finding("empty backup", "warning", text, str(place), "make the backup again")


def _visible(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if not entry.name.startswith(".")]


def _read_status(entries: Iterable[Path]) -> dict[Path, os.stat_result]:
    """Return the status of entries, without unreadable ones such as dangling links.

    Raises:
        OSError: all entries are unreadable.
    """
    found: dict[Path, os.stat_result] = {}
    why: OSError | None = None
    for entry in entries:
        try:
            found[entry] = entry.stat()
        except OSError as error:
            why = error
    if why is not None and not found:
        raise why
    return found


def _of_cluster(settings: ElasticsearchSettings) -> Finding:
    """Check the newest complete snapshot, of any repository, with an index of the prefix."""
    from indexer.versions.cluster.connection import connect

    try:
        with connect(settings) as client:
            found = client.snapshot.get(repository="_all", snapshot="*").get("snapshots", [])
    except EngineRefused as error:  # the key may not list snapshots
        return replace(failed(SUBJECT, error), status="warning")
    except ResourceError as error:
        return failed(SUBJECT, error)
    taken = [
        datetime.fromisoformat(snapshot["start_time"])
        for snapshot in found
        if snapshot["state"] == "SUCCESS"
        and any(index.startswith(f"{settings.prefix}-") for index in snapshot["indices"])
    ]
    return _judged(max(taken, default=None), "snapshots of the cluster")


def _judged(made: datetime | None, where: str) -> Finding:
    if made is None:
        return Finding(SUBJECT, "warning", "there is none", where, "make one (docs/how-to/deploying.md)")
    time = made.isoformat(timespec="minutes")
    age = datetime.now(UTC) - made
    if age < -CLOCKS_DIFFER:
        found = f"{time}, which is in the future: its age is unknown"
        return Finding(SUBJECT, "warning", found, where, "correct the clock, or make a new backup")
    days = max(0.0, age / timedelta(days=1))
    found = f"{time}, {days:.1f} days ago"
    if days > LATE_DAYS:
        return Finding(SUBJECT, "warning", found, where, "make one, and find out why none was made since")
    return Finding(SUBJECT, "ok", found, where)
