"""The file in the home folder in which the server keeps its data, as other packages read it.

Its name is one that no index can have. It contains keys, sessions, kept searches, feeds, judgements and
statistics (`server/store.py`).
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from base.files.durable import sync

SERVER_STORE = ".server.sqlite"


@contextmanager
def open_server_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for reading; raise sqlite3.Error if it is missing or damaged."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        yield database


def copy_server_store(path: Path, target: Path) -> None:
    """Copy the file while the server writes to it.

    Raises OSError, with the name of a damaged file.
    """
    try:
        with open_server_store(path) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except sqlite3.Error as error:
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        raise OSError(errno.ENOSPC if full else errno.EIO, str(error), str(path)) from error
    target.chmod(0o600)
    sync(target)
