"""Backups of embedded indexes: dated folders, each of which can be used as SHRAG_HOME.

| path in the folder of backups | content |
|---|---|
| NAME/backup.json | time, indexes, and bytes of the backup |
| NAME/INDEX/ | the current version of an index, and the pointer to it |
| NAME/.server.sqlite | data of the server (`server_store.py`) |
| .NAME.partial | a backup that is being made, or was interrupted |

Files of a version that the previous backup also has are hard links to it. Every file is compared with its
checksum before a backup counts. What cannot be copied, such as a damaged index or one of an older format, is
left out and named in backup.json.
"""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from base.errors import InvalidCall, Remedy, ResourceError
from base.files.durable import SHORTAGES, cause_of, disk_of, sync, write_durably
from base.files.locks import lock_file
from base.files.regular_files import read_regular
from base.progress import Progress, no_progress
from base.remedies import describe_error
from indexer.errors import IndexBusy, IndexDamaged, IndexNotWritten, UnknownIndex
from indexer.files.parts import try_link
from indexer.settings import IndexerSettings
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.server_store import SERVER_STORE, copy_server_store
from indexer.versions.store import LOCAL_ENGINES
from indexer.versions.store.build_folder import NAME
from indexer.versions.store.folder import FolderStore, index_names

BACKUP = "backup.json"
PARTIAL = ".partial"
LOCK = ".lock"
OWN_FOLDER = 0o700  # the keys are in it
MOST_BYTES = 1_000_000  # of backup.json
ENDS_BACKUP = SHORTAGES | {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}  # unrelated to one index


@dataclass(frozen=True, slots=True)
class FolderBackup:
    """A backup; `bytes` counts files of indexes, `copied` files that were not linked.

    `home` is the SHRAG_HOME that was backed up; `keep` counts and removes only its backups. `failed` has the
    reason for each index, and the server's file, that is not in the backup.
    """

    name: str
    taken: str
    indexes: tuple[str, ...]
    bytes: int
    copied: int
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
        raise InvalidCall(
            f"one of {folder} and {settings.home} is inside the other", remedy="name another folder"
        )
    indexes = index_names(settings) if settings.engine in LOCAL_ENGINES else []
    names = [*indexes, *([SERVER_STORE] if os.path.lexists(home / SERVER_STORE) else [])]
    if not names:
        raise UnknownIndex(f"no index in {settings.home}: there is nothing to back up")
    try:
        with _locked(folder):
            if os.path.lexists(folder / name):
                raise InvalidCall(f"{folder / name} exists already", remedy="give another name, or none")
            for leftover in folder.glob(f".*{PARTIAL}"):
                if NAME.fullmatch(leftover.name[1 : -len(PARTIAL)]) and _is_own_folder(leftover):
                    shutil.rmtree(leftover)
            before = list_backups(folder)
            previous = folder / before[-1].name if before else None
            partial = folder / f".{name}{PARTIAL}"
            partial.mkdir(mode=OWN_FOLDER)
            sizes, failed = _copy_all(home, names, partial, previous, progress)
            if len(failed) == len(names):
                raise IndexNotWritten(f"nothing was backed up: {'; '.join(failed.values())}")
            when = taken.isoformat(timespec="seconds")
            size, new = (sum(each[place] for each in sizes.values()) for place in (0, 1))
            backup = FolderBackup(name, when, tuple(sizes), size, new, str(home), failed)
            write_durably(partial / BACKUP, json.dumps(asdict(backup), ensure_ascii=False) + "\n")
            for path in (partial, *filter(Path.is_dir, partial.rglob("*"))):
                sync(path)
            partial.rename(folder / name)
            sync(folder)
            own = [each for each in before if each.home == str(home)]
            for older in own[: max(0, len(own) + 1 - keep)] if keep and not failed else ():
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
    for path in folder.glob(f"*/{BACKUP}"):
        with suppress(OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            record = json.loads(read_regular(path, MOST_BYTES))
            if record["name"] != path.parent.name or not _is_own_folder(path.parent):
                continue
            datetime.fromisoformat(record["taken"])
            found.append(record_type.validate_python(record))
    return sorted(found, key=lambda backup: (backup.taken, backup.name))


def _is_own_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    busy = IndexBusy(f"another backup to {folder} is running", remedy="wait for it, then try again")
    with lock_file(folder / LOCK, busy):
        yield


def _copy_all(
    home: Path, names: list[str], target: Path, previous: Path | None, progress: Progress
) -> tuple[dict[str, tuple[int, int]], dict[str, str]]:
    """Copy indexes and the server's data; return bytes and copied bytes, and the reasons of failures."""
    sizes: dict[str, tuple[int, int]] = {}
    failed: dict[str, str] = {}
    for place, name in enumerate(names):
        progress("backing up", place, len(names))
        try:
            if NAME.fullmatch(name):
                store = FolderStore(home, name)
                with ExitStack() as held:
                    manifest = _hold_current(store, held)
                    sizes[name] = _copy_version(store, manifest, FolderStore(target, name), previous)
            else:
                copy_server_store(home / name, target / name)
        except (OSError, ResourceError) as error:
            if isinstance(error, OSError) and error.errno in ENDS_BACKUP:
                raise
            failed[name] = describe_error(error)
            shutil.rmtree(target / name, ignore_errors=True)
            (target / name).unlink(missing_ok=True)
    return sizes, failed


def _hold_current(store: FolderStore, held: ExitStack) -> Manifest:
    """Return the current version, which is not pruned until `held` ends."""
    while True:
        manifest = store.manifest()
        with suppress(FileNotFoundError):  # a build published another one, and this one was pruned
            held.enter_context(store.holding(manifest.version))
            return manifest


def _copy_version(
    store: FolderStore, manifest: Manifest, copy: FolderStore, previous: Path | None
) -> tuple[int, int]:
    """Copy a version and verify the copy; return its bytes, and the bytes that were not linked."""
    source, target = store.version_path(manifest.version), copy.version_path(manifest.version)
    text = manifest.to_text()
    earlier = FolderStore(previous, store.name).version_path(manifest.version) if previous else None
    same = earlier is not None and _content(earlier / MANIFEST) == text.encode()
    size = copied = 0
    for name, file in manifest.files.items():
        size += file.bytes
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        linked = bool(same and earlier and try_link(earlier / name, target / name))
        if not linked:
            copied += file.bytes
            shutil.copyfile(source / name, target / name)
            sync(target / name)
    write_durably(target / MANIFEST, text)
    if differences := copy.verify_files(manifest.version):
        if same:  # the earlier backup may be the damaged one
            shutil.rmtree(target)
            return _copy_version(store, manifest, copy, None)
        raise IndexDamaged(
            f"index {store.name!r}, version {manifest.version}: its backup differs ({differences[0]})",
            remedy=Remedy.VERIFY,
            index=store.name,
        )
    copy.point_to(manifest.version)
    return size, copied


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
