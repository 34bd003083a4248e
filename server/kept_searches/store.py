"""Kept searches for papers, which can be resumed after a stop, a kill or on another day.

| below HOME/.find-papers/ | content |
|---|---|
| CALLER/ID.json | request, state and order of the papers, one line each (`search_file.py`) |
| CALLER/ID.lock | locked while any process runs the search |

A file is replaced as a whole, so a kill leaves the previous version. An id is 128 random bits, and only the
caller who started a search can see it. Above the limits, the least recently used ones are removed.
"""

import errno
import fcntl
import os
import re
import secrets
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from base.files.durable import TEMPORARY, cause_of, write_durably
from base.files.regular_files import open_regular, read_regular
from base.logs import get_logger
from indexer.versions.server_files import KEPT_SEARCHES
from server.access.callers import Caller
from server.errors import SearchRunning, SearchUnusable, UnknownSearch
from server.kept_searches.file import SearchFile, SearchHead, head_of, search_file_of
from server.settings import ServerSettings

FOLDER = KEPT_SEARCHES
ID = re.compile(r"[0-9a-f]{32}")
LOCAL = "local"
MOST_BYTES = 16_000_000  # of one search: about ten thousand papers, which take seconds to read
MOST_HEAD_BYTES = 1_000_000
PATIENCE_S = 2.0  # wait for a search that is just ending
LOOKED_EVERY_S = 0.05
LEFT_BEHIND_S = 3_600  # age of partial files to remove after a killed process
UNKNOWN = "no kept search has that id"
RUNNING = "the search is running; stop it first"

log = get_logger("server")


def folder_of(caller: Caller) -> str:
    """Name the folder of a caller's searches: by key, person, local operator, or address."""
    if caller.key_id:
        return f"key-{caller.key_id}"
    if caller.person:
        return f"person-{caller.person}"
    if caller.is_local:
        return LOCAL
    return f"address-{blake2b(caller.counted_as.encode(), digest_size=16).hexdigest()}"


class LockedSearch:
    """A kept search that is running here; nobody else can resume it until it is released."""

    def __init__(self, path: Path, lock: int) -> None:
        """`lock`: file descriptor of the held lock."""
        self.path, self._lock = path, lock

    @property
    def id(self) -> str:
        """The id, the stem of its file name."""
        return self.path.stem

    def save(self, kept: SearchFile) -> None:
        """Replace the file; raise OSError if writing fails or the content is too large."""
        content = kept.as_json()
        if len(content) > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES:,} bytes")
        write_durably(self.path, content)

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    __del__ = release  # if the call ended before it was used


class KeptSearches:
    """The searches of a home folder, shared by processes. Its methods are called in threads."""

    def __init__(self, home: Path, limits: ServerSettings) -> None:
        """`home`: the parent of the folder, which is created with the first search."""
        self._root, self._limits = home / FOLDER, limits

    def begin(self, caller: Caller) -> LockedSearch:
        """Make room, and lock the file of a new search.

        Raises:
            OSError: the home folder is not writable.
        """
        folder = self._root / folder_of(caller)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.make_room(caller, for_another=True)
        path = folder / f"{secrets.token_hex(16)}.json"
        folder.mkdir(mode=0o700, exist_ok=True)  # an empty folder may just have been removed
        lock = locked(path)  # a cleanup may hold it for a moment
        return LockedSearch(path, lock)

    def resume(self, caller: Caller, search_id: str) -> tuple[LockedSearch | None, SearchFile]:
        """Lock a search, if the home folder is writable, and read it.

        Raises:
            UnknownSearch, SearchUnusable: as `read`.
            SearchRunning: it is running.
        """
        path = self._path(caller, search_id)
        try:
            search = LockedSearch(path, locked(path))
        except OSError:
            return None, self.read(caller, search_id)
        try:
            return search, self.read(caller, search_id)
        except BaseException:
            search.release()
            raise

    def read(self, caller: Caller, search_id: str) -> SearchFile:
        """Read a search.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchUnusable: the file cannot be read.
        """
        path = self._path(caller, search_id)
        try:
            return search_file_of(read_regular(path, MOST_BYTES), path)
        except FileNotFoundError:
            raise UnknownSearch(UNKNOWN) from None
        except (OSError, ValueError) as error:
            log.warning("search not read", file=str(path), reason=type(error).__name__)
            raise SearchUnusable(f"the kept search {search_id} cannot be read; it can be deleted") from None

    def heads(self, caller: Caller) -> list[tuple[SearchHead, bool]]:
        """Return a caller's searches, newest first, and whether each is running; damaged ones are left out.

        Several people may share an address, so without a key only a caller at this machine gets a list.
        """
        if not (caller.is_known or caller.is_local):
            return []
        found = []
        for path in _entries(self._root / folder_of(caller), ".json"):
            try:
                with open_regular(path) as file:
                    head = head_of(file.readline(MOST_HEAD_BYTES), path)
            except (OSError, ValueError) as error:
                log.warning("search not listed", file=str(path), reason=type(error).__name__)
            else:
                found.append((head, self.is_running(caller, head.id)))
        return sorted(found, key=lambda each: (each[0].updated, each[0].created, each[0].id), reverse=True)

    def is_running(self, caller: Caller, search_id: str) -> bool:
        """Check whether a search is running in any process."""
        with suppress(OSError, UnknownSearch):
            lock = _lock(self._path(caller, search_id), fcntl.LOCK_SH)
            if lock is None:
                return True
            os.close(lock)
        return False

    def delete(self, caller: Caller, search_id: str) -> None:
        """Remove a search, even a damaged one.

        Raises:
            UnknownSearch: the caller has no search with that id.
            SearchRunning: it is running.
            SearchUnusable: the file cannot be removed.
        """
        path = self._path(caller, search_id)
        try:
            remove(path, locked(path))
        except OSError as error:
            raise SearchUnusable(f"the kept search was not deleted: {cause_of(error)}") from None

    def make_room(self, caller: Caller, *, for_another: bool = False) -> None:
        """Remove searches beyond the limits of age, number and size, the least recently used first.

        Running searches are kept.
        """
        limits, own = self._limits, folder_of(caller)
        oldest = time.time() - limits.kept_searches_days * 86_400
        everything: list[tuple[float, int, Path]] = []
        for folder in _folders(self._root):
            _remove_left_behind(folder)
            for path in _entries(folder, ".json"):
                with suppress(OSError):
                    found = path.lstat()
                    everything.append((found.st_mtime, found.st_size, path))
        everything.sort(reverse=True)
        counts = {own: [int(for_another), 0], "": [int(for_another), 0]}
        bounds = {
            own: (limits.kept_searches, limits.kept_searches_mb),
            "": (limits.all_kept_searches, limits.all_kept_searches_mb),
        }
        for changed, size, path in everything:
            goes = changed < oldest
            for of in {path.parent.name, ""} & counts.keys():
                counts[of][0] += 1
                counts[of][1] += size
                most, most_mb = bounds[of]
                goes = goes or counts[of][0] > most or counts[of][1] > most_mb * 1_000_000
            if goes:
                _remove_unused(path)

    def _path(self, caller: Caller, search_id: str) -> Path:
        """Return the file of a search; raise UnknownSearch for an invalid or unknown id."""
        path = self._root / folder_of(caller) / f"{search_id}.json"
        if not ID.fullmatch(search_id) or not os.path.lexists(path):
            raise UnknownSearch(UNKNOWN)
        return path


def _lock(path: Path, kind: int = fcntl.LOCK_EX) -> int | None:
    """Lock the lock file of a search; return None if it is locked."""
    beside = path.with_suffix(".lock")
    while True:
        lock = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), beside.lstat()):
                return lock
        os.close(lock)  # it was removed in the meantime, so the lock is void


def locked(path: Path) -> int:
    """Lock a search, waiting for one that is just ending; raise SearchRunning after `PATIENCE_S`."""
    ends = time.monotonic() + PATIENCE_S
    while (lock := _lock(path)) is None:
        if time.monotonic() > ends:
            raise SearchRunning(RUNNING)
        time.sleep(LOOKED_EVERY_S)
    return lock


def remove(path: Path, lock: int, *, folder_too: bool = True) -> None:
    """Remove a locked search, and its folder if that is now empty; close the lock."""
    try:
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
        if folder_too:
            with suppress(OSError):
                path.parent.rmdir()
    finally:
        os.close(lock)


def _remove_unused(path: Path, *, only_lock: bool = False) -> None:
    """Remove a search that is not running; ignore errors of the system."""
    with suppress(OSError):
        if (lock := _lock(path)) is None:
            return
        if only_lock and os.path.lexists(path):
            os.close(lock)
        else:
            remove(path, lock)


def _remove_left_behind(folder: Path) -> None:
    """Remove partial files of killed processes, and locks of removed searches."""
    for path in _entries(folder, ".partial"):
        with suppress(OSError):
            if TEMPORARY.fullmatch(path.name) and time.time() - path.lstat().st_mtime > LEFT_BEHIND_S:
                path.unlink()
    for path in _entries(folder, ".lock"):
        search = path.with_suffix(".json")
        if ID.fullmatch(path.stem) and not os.path.lexists(search):
            _remove_unused(search, only_lock=True)


def _folders(root: Path) -> list[Path]:
    return [path for path in _entries(root, "") if path.is_dir() and not path.is_symlink()]


def _entries(folder: Path, suffix: str) -> list[Path]:
    """Return the entries of a folder with a suffix; none if the folder does not exist."""
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.name.endswith(suffix)]
    return []
