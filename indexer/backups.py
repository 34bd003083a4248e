"""Backups of embedded indexes: dated folders, each of which can be used as SHRAG_HOME.

| path in the folder of backups | content |
|---|---|
| NAME/backup.json | time, indexes, and bytes of the backup |
| NAME/INDEX/ | the current version of an index, and the pointer to it |
| NAME/.server.sqlite | data of the server |
| .NAME.partial | a backup that is being made, or was interrupted |

Files of a version that the previous backup also has are hard links to it. Every file is compared with its
checksum before a backup counts. What cannot be copied, such as a damaged index or one of an older format, is
left out and named in backup.json.
"""

import errno
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import click
from pydantic import TypeAdapter

from base.errors import InvalidCall, Remedy, ResourceError
from base.files.base_directories import in_home
from base.files.durable import SHORTAGES, cause_of, describe_error, disk_of, sync, write_durably
from base.files.locks import lock_file
from base.progress import Progress, no_progress
from base.terminal.output import echo, echo_json, echo_lines
from base.terminal.progress_bar import progress_bar
from indexer.errors import IndexBusy, IndexDamaged, IndexNotWritten, UnknownIndex
from indexer.files.parts import try_link
from indexer.files.sums import FileSum, sum_file
from indexer.options import json_option
from indexer.settings import IndexerSettings
from indexer.versions.manifest import MANIFEST
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.build_folder import NAME
from indexer.versions.store.engines import index_names
from indexer.versions.store.folder import FolderStore

# The file in the home folder with the keys, sessions, kept searches, feeds, judgements and statistics of the
# server (`server/store.py`). No index can have this name.
SERVER_STORE = ".server.sqlite"
BACKUP = "backup.json"
PARTIAL = ".partial"
LOCK = ".lock"
OWN_FOLDER, OWN_FILE = 0o700, 0o600  # the keys are in it
ENDS_BACKUP = SHORTAGES | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}  # unrelated to one index
IN_A_CLUSTER = (
    "the indexes of a cluster are not in this backup: Elasticsearch saves them to its own snapshots "
    "(docs/how-to/cluster.md#backup-and-restore)"
)


@dataclass(frozen=True, slots=True)
class FolderBackup:
    """A backup; `bytes` counts files of indexes, `copied` files that were not linked.

    `home` is the SHRAG_HOME that was backed up; `keep` counts and removes only its backups. `failed` has the
    reason for each index, and the server's file, that is not in the backup.
    """

    name: str
    taken: str
    indexes: tuple[str, ...] = ()
    bytes: int = 0
    copied: int = 0
    home: str = ""
    failed: dict[str, str] = field(default_factory=dict)


def back_up(
    settings: IndexerSettings,
    folder: Path,
    name: str = "",
    *,
    keep: int = 0,
    progress: Progress = no_progress,
) -> FolderBackup:
    """Copy the current version of all embedded indexes, and the server's data, to a new folder in `folder`.

    Builds may run in parallel. What cannot be copied is left out and named. With `keep`, older backups beyond
    this number are removed after a complete one.

    Raises:
        InvalidCall: an invalid or used name, or one of `folder` and SHRAG_HOME is inside the other.
        UnknownIndex: there is neither an index nor data of the server.
        IndexBusy: another backup to this folder is running.
        IndexNotWritten: disk full, no permission, or nothing could be copied.
    """
    taken = datetime.now(UTC)
    name = name or f"{taken:%Y%m%d-%H%M%S}"
    if not NAME.fullmatch(name):
        raise InvalidCall(f"{name!r} cannot name a backup")
    home, place = settings.home.resolve(), folder.resolve()
    if place.is_relative_to(home) or home.is_relative_to(place):  # a home may be a copy of a backup
        what = f"one of {folder} and {settings.home} is inside the other"
        raise InvalidCall(what, remedy="name another folder")
    names = index_names(settings) if settings.engine in LOCAL_ENGINES else []
    names += [SERVER_STORE] if (home / SERVER_STORE).exists() else []
    if not names:
        raise UnknownIndex(f"no index in {settings.home}: there is nothing to back up")
    busy = IndexBusy(f"another backup to {folder} is running", remedy="wait for it, then try again")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock_file(folder / LOCK, busy):
            if os.path.lexists(folder / name):
                raise InvalidCall(f"{folder / name} exists already", remedy="give another name, or none")
            for leftover in filter(_is_own_folder, folder.glob(f".*{PARTIAL}")):
                shutil.rmtree(leftover)
            before = list_backups(folder)
            partial = folder / f".{name}{PARTIAL}"
            partial.mkdir(mode=OWN_FOLDER)
            backup = FolderBackup(name, taken.isoformat(timespec="seconds"), home=str(home))
            previous = folder / before[-1].name if before else None
            for done, each in enumerate(names):
                progress("backing up", done, len(names))
                backup = _with_copy(backup, each, home, partial, previous)
            if len(backup.failed) == len(names):
                raise IndexNotWritten(f"nothing was backed up: {'; '.join(backup.failed.values())}")
            write_durably(partial / BACKUP, json.dumps(asdict(backup), ensure_ascii=False) + "\n")
            for path in (partial, *partial.rglob("*")):
                sync(path)
            partial.rename(folder / name)
            sync(folder)
            own = [each for each in before if each.home == str(home)]
            for older in own[: max(0, len(own) + 1 - keep)] if keep and not backup.failed else ():
                # A kill leaves no incomplete backup under its name.
                shutil.rmtree((folder / older.name).rename(folder / f".{older.name}{PARTIAL}"))
    except OSError as error:
        why = f"{error.filename}: {cause_of(error)}" if error.filename else cause_of(error)
        raise IndexNotWritten(
            f"the backup {name!r} was not made ({why}; {disk_of(folder)})",
            remedy="fix the cause and repeat the command",
        ) from error
    return backup


def list_backups(folder: Path) -> list[FolderBackup]:
    """Return the backups in a folder, oldest first.

    Other folders, links, and backups that were renamed or copied to another name are ignored.
    """
    found, record_type = [], TypeAdapter(FolderBackup)
    for path in filter(_is_own_folder, folder.glob("*")):
        with suppress(OSError, ValueError, RecursionError):
            backup = record_type.validate_json((path / BACKUP).read_bytes())
            datetime.fromisoformat(backup.taken)
            found += [backup] if backup.name == path.name else []
    return sorted(found, key=lambda backup: (backup.taken, backup.name))


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _with_copy(
    backup: FolderBackup, name: str, home: Path, target: Path, previous: Path | None
) -> FolderBackup:
    """Copy an index or the server's data; return the record of the backup with its outcome."""
    try:
        if name == SERVER_STORE:
            _copy_server_store(home / name, target / name)
            return backup
        size, copied = _copy_current(FolderStore(home, name), FolderStore(target, name), previous)
    except (OSError, ResourceError) as error:
        if isinstance(error, OSError) and error.errno in ENDS_BACKUP:
            raise
        shutil.rmtree(target / name, ignore_errors=True)
        (target / name).unlink(missing_ok=True)
        return replace(backup, failed=backup.failed | {name: describe_error(error)})
    return replace(
        backup,
        indexes=(*backup.indexes, name),
        bytes=backup.bytes + size,
        copied=backup.copied + copied,
    )


def _copy_current(store: FolderStore, copy: FolderStore, previous: Path | None) -> tuple[int, int]:
    """Copy the current version, with links to equal files of the previous backup, and verify it.

    Returns its bytes, and the bytes that were not linked.
    """
    with ExitStack() as held:
        while True:
            manifest = store.manifest()
            with suppress(FileNotFoundError):  # a build published another one, and this one was pruned
                held.enter_context(store.holding(manifest.version))
                break
        source, target = (each.version_path(manifest.version) for each in (store, copy))
        earlier = FolderStore(previous or target, store.name).version_path(manifest.version)
        copied = 0
        for name, file in manifest.files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if _holds(earlier / name, file) and try_link(earlier / name, target / name):
                continue
            copied += file.bytes
            shutil.copyfile(source / name, target / name)
            if not _holds(target / name, file):
                what = f"index {store.name!r}, version {manifest.version}: its backup differs ({name})"
                raise IndexDamaged(what, remedy=Remedy.VERIFY, index=store.name)
    write_durably(target / MANIFEST, manifest.to_text())
    copy.point_to(manifest.version)
    return sum(file.bytes for file in manifest.files.values()), copied


def _holds(path: Path, content: FileSum) -> bool:
    return path.is_file() and sum_file(path) == content


@contextmanager
def open_server_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the server's file for reading; raise sqlite3.Error if it is missing or damaged."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        yield database


def _copy_server_store(path: Path, target: Path) -> None:
    """Copy the file while the server writes to it; OSError, with the name of a damaged file."""
    try:
        with open_server_store(path) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except sqlite3.Error as error:
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error), str(path)) from error
    target.chmod(OWN_FILE)


location_option = click.option(
    "--location", default="", metavar="FOLDER", help="Folder of the backups. Default: SHRAG_BACKUPS."
)


@click.command("backup")
@click.argument("name", default="", metavar="[NAME]")
@location_option
@click.option(
    "--keep",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Remove all but the newest N folders after a complete backup.",
)
@json_option
def backup_command(name: str, location: str, keep: int | None, as_json: bool) -> None:
    """Back up all indexes to a folder called NAME or after the date and time.

    Builds and the server may run in parallel. Embedded indexes, and the server's keys, sign-ins,
    statistics, judgements, feeds and kept searches are copied to a folder that can be used as SHRAG_HOME;
    files of indexes that the previous backup also has are links to it. What could not be backed up is named;
    the exit code is then 1. With Elasticsearch only the server's files are copied; snapshots of the cluster
    save the indexes.
    """
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
    echo_lines((f"not backed up: {part}: {reason}" for part, reason in made.failed.items()), err=True)
    if made.failed:
        raise SystemExit(1)


@click.command("backups")
@location_option
@json_option
def backups_command(location: str, as_json: bool) -> None:
    """List the backups, oldest first."""
    made = list_backups(_folder_of_backups(IndexerSettings(), location))
    if as_json:
        echo_json({"backups": [asdict(each) for each in made]})
    elif made:
        echo_lines(f"{each.name}  {each.taken}  {_described(each)}" for each in made)
    else:
        echo("no backups yet; make one with: shrag indexes backup")


def _folder_of_backups(settings: IndexerSettings, location: str) -> Path:
    folder = in_home(Path(location)) if location else settings.backups
    if folder is None:
        raise InvalidCall("no folder of backups is given", remedy=("--location FOLDER", "SHRAG_BACKUPS"))
    return folder


def _described(backup: FolderBackup) -> str:
    missing = f", without {', '.join(backup.failed)}" if backup.failed else ""
    indices = "1 index" if len(backup.indexes) == 1 else f"{len(backup.indexes):,} indices"
    return f"{indices}, {backup.bytes / 1e6:,.1f} MB{missing}"
