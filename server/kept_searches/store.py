"""Searches for papers that are kept, so that they are gone on with after a stop, a kill or another day.

| below HOME/.find-papers/ | what |
|---|---|
| CALLER/ID.json | what was asked for, the state, the order of the papers, each a line (`search_file.py`) |
| CALLER/ID.lock | locked while the search is under way, by whichever process |

A file is replaced whole, so a kill leaves what was kept before. An id is 128 random bits, and a search is
there for the caller who began it alone. Where they are too many or too large, those not used for longest go.
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
from server.access.callers import Caller
from server.errors import SearchRunning, SearchUnusable, UnknownSearch
from server.kept_searches.file import SearchFile, search_file_of
from server.kept_searches.head import SearchHead, head_of
from server.settings import ServerSettings

FOLDER = ".find-papers"  # a name that no index can have
ID = re.compile(r"[0-9a-f]{32}")
LOCAL = "local"
MOST_BYTES = 16_000_000  # of one search: some ten thousand papers, which take seconds to read
MOST_HEAD_BYTES = 1_000_000
PATIENCE_S = 2.0  # for a search that is just ending
LOOKED_EVERY_S = 0.05
LEFT_BEHIND_S = 3_600  # after which what a killed process was writing is nobody's
UNKNOWN = "no search of that id is kept"
RUNNING = "the search is under way; end it first"

log = get_logger("server")


def folder_of(caller: Caller) -> str:
    """Name the folder of a caller's searches: a key's, of who works at this machine, or an address's."""
    if caller.key_id:
        return f"key-{caller.key_id}"
    if caller.is_local:
        return LOCAL
    return f"address-{blake2b(caller.counted_as.encode(), digest_size=16).hexdigest()}"


class LockedSearch:
    """A kept search that is under way here; nobody else goes on with it until it is released."""

    def __init__(self, path: Path, lock: int) -> None:
        """Take its file, and the lock that is held."""
        self.path, self._lock = path, lock

    @property
    def id(self) -> str:
        """Its id."""
        return self.path.stem

    def save(self, kept: SearchFile) -> None:
        """Replace what is kept; OSError where the system refuses, or it is too large."""
        content = kept.as_json()
        if len(content) > MOST_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MOST_BYTES:,} bytes")
        write_durably(self.path, content)

    def release(self) -> None:
        """Let others go on with it; does nothing the second time."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    __del__ = release  # where a call ended before it was taken up


class KeptSearches:
    """The searches of a home folder; processes share them. Its functions are called in threads."""

    def __init__(self, home: Path, limits: ServerSettings) -> None:
        """Name the folder, which is made with the first search."""
        self._root, self._limits = home / FOLDER, limits

    def begin(self, caller: Caller) -> LockedSearch:
        """Make room, and lock the file of a new search.

        Raises:
            OSError: the home folder cannot be written to.
        """
        folder = self._root / folder_of(caller)
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.make_room(caller, for_another=True)
        path = folder / f"{secrets.token_hex(16)}.json"
        folder.mkdir(mode=0o700, exist_ok=True)  # one that was empty may just have been removed
        lock = _locked(path)  # for a moment it may be held by who looks for what was left behind
        return LockedSearch(path, lock)

    def resume(self, caller: Caller, search_id: str) -> tuple[LockedSearch | None, SearchFile]:
        """Lock a search, where the home folder can be written to, and read it.

        Raises:
            UnknownSearch, SearchUnusable: as `read`.
            SearchRunning: it is under way.
        """
        path = self._path(caller, search_id)
        try:
            search = LockedSearch(path, _locked(path))
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
            UnknownSearch: the caller has none of that id.
            SearchUnusable: what is kept cannot be read.
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
        """Return a caller's searches, newest first, and whether each is under way; damaged ones left out.

        Behind one address may be several people, so without a key only who works at this machine has a list.
        """
        if not (caller.key_id or caller.is_local):
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
        """Tell whether a search is under way in any process."""
        with suppress(OSError, UnknownSearch):
            lock = _lock(self._path(caller, search_id), fcntl.LOCK_SH)
            if lock is None:
                return True
            os.close(lock)
        return False

    def delete(self, caller: Caller, search_id: str) -> None:
        """Remove a search, damaged ones too.

        Raises:
            UnknownSearch: the caller has none of that id.
            SearchRunning: it is under way.
            SearchUnusable: the system refuses.
        """
        path = self._path(caller, search_id)
        try:
            _remove(path, _locked(path))
        except OSError as error:
            raise SearchUnusable(f"the kept search was not deleted: {cause_of(error)}") from None

    def make_room(self, caller: Caller, *, for_another: bool = False) -> None:
        """Remove what is too old, too many or too large, those not used for longest first.

        What is under way stays.
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
        """Return the file of a search; UnknownSearch for what is no id, and where there is none."""
        path = self._root / folder_of(caller) / f"{search_id}.json"
        if not ID.fullmatch(search_id) or not os.path.lexists(path):
            raise UnknownSearch(UNKNOWN)
        return path


def _lock(path: Path, kind: int = fcntl.LOCK_EX) -> int | None:
    """Lock the file beside a search; None where it is locked."""
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
        os.close(lock)  # it was removed meanwhile, and says nothing


def _locked(path: Path) -> int:
    """Lock a search, which may be just ending; SearchRunning where it is not."""
    ends = time.monotonic() + PATIENCE_S
    while (lock := _lock(path)) is None:
        if time.monotonic() > ends:
            raise SearchRunning(RUNNING)
        time.sleep(LOOKED_EVERY_S)
    return lock


def _remove(path: Path, lock: int) -> None:
    """Remove a search that is locked, and its folder where that is the last of it; the lock is given back."""
    try:
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()
    finally:
        os.close(lock)


def _remove_unused(path: Path, *, only_lock: bool = False) -> None:
    """Remove a search that is not under way; what the system refuses stays."""
    with suppress(OSError):
        if (lock := _lock(path)) is None:
            return
        if only_lock and os.path.lexists(path):
            os.close(lock)
        else:
            _remove(path, lock)


def _remove_left_behind(folder: Path) -> None:
    """Remove what a process that was killed was writing, and locks of searches that are gone."""
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
    """Return what lies in a folder by the end of its name; nothing where there is no folder."""
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.name.endswith(suffix)]
    return []
