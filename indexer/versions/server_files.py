"""The server's files in the home folder: their names, none of which an index can have, and their backup.

| name | content | in a backup |
|---|---|---|
| .keys.sqlite | keys of callers | yes |
| .sign-in.sqlite | sessions, and the secret of the pseudonyms | yes |
| .statistics.sqlite | statistics of searches | yes |
| .judgements/ | judgements of readers | yes |
| .feeds/ | feeds of searches | yes |
| .find-papers/ | kept searches | yes |

Other hidden files, such as snapshots of a file system, are not the program's and are not copied.
"""

import errno
import os
import shutil
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

from base.files.durable import TEMPORARY, sync
from base.files.regular_files import open_regular

KEYS = ".keys.sqlite"
SIGN_IN = ".sign-in.sqlite"
STATISTICS = ".statistics.sqlite"
JUDGEMENTS = ".judgements"
FEEDS = ".feeds"
KEPT_SEARCHES = ".find-papers"

DATABASES = (KEYS, SIGN_IN, STATISTICS)
FOLDERS = (JUDGEMENTS, FEEDS, KEPT_SEARCHES)


def server_files(home: Path) -> list[str]:
    """Return the names of the server's databases and folders that a backup contains."""
    return [name for name in (*DATABASES, *FOLDERS) if os.path.lexists(home / name)]


def copy_server_file(path: Path, target: Path) -> None:
    """Copy one of them while the server writes to it; files deleted in the meantime are left out.

    Raises OSError, with the name of a damaged database.
    """
    copy = _copy_database if path.name in DATABASES else _copy_folder
    copy(path, target)


def _copy_database(path: Path, target: Path) -> None:
    try:
        source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        with closing(source), closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except sqlite3.Error as error:
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error), str(path)) from error
    target.chmod(0o600)
    sync(target)


def _copy_folder(folder: Path, target: Path) -> None:
    """Copy the regular files of a folder, except locks and temporary files, with times and permissions."""
    for place, _, names in os.walk(folder, onerror=_raise_unless_deleted):
        copy = target / Path(place).relative_to(folder)
        copy.mkdir(mode=0o700)
        for name in names:
            if not name.endswith(".lock") and not TEMPORARY.fullmatch(name):
                with suppress(FileNotFoundError):
                    _copy_file(Path(place, name), copy / name)


def _copy_file(path: Path, target: Path) -> None:
    """Copy a regular file whose writers append to it or replace it; ignore others, such as links."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return
    with open_regular(path) as source, target.open("xb") as copy:
        shutil.copyfileobj(source, copy)
        found = os.fstat(source.fileno())
    target.chmod(stat.S_IMODE(found.st_mode))
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))  # kept searches are removed by their time
    sync(target)


def _raise_unless_deleted(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
