"""SQLite files that several processes change: their creation, and transactions."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from base.files.durable import create_durably

OWN_FILE = 0o600


@contextmanager
def changing(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Hold the write lock of a connection in autocommit mode; commit at the end, roll back after an error."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
    except BaseException:
        database.rollback()
        raise
    database.commit()


@contextmanager
def opened(path: Path, wait_s: float) -> Iterator[sqlite3.Connection]:
    """Open an existing file in autocommit mode; statements wait `wait_s` seconds for locks.

    Raises sqlite3.Error if the file is missing or is not a database.
    """
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=wait_s, isolation_level=None)) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        yield database


def create_store(path: Path, statements: Iterable[str], version: int) -> None:
    """Create a file for its owner only, unless another process creates it first; `version` is `user_version`.

    Raises OSError if the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {version}")
        content = database.serialize()
    with suppress(FileExistsError):
        create_durably(path, content, mode=OWN_FILE)
