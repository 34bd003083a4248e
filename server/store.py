"""The data that the server keeps: one SQLite file in the home folder, shared by processes.

Its path is HOME/.server.sqlite, a name that no index can have, and only its owner can read it. It contains
hashes of keys, cookies and addresses of feeds, never these themselves.

Reads are single statements on one connection of the process: each sees the changes of all processes at once.
Changes are transactions on connections of their own. They are on disk when they return, so a kill leaves the
old state or the new one, and the log beside the file (`-wal`) is emptied after each of them: between two
changes the file alone is the whole store.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from base.files.durable import cause_of, create_durably, disk_of
from base.logs import get_logger
from indexer.backups import SERVER_STORE
from server.errors import StoreUnusable

FILE = SERVER_STORE
FORMAT = 2
WAIT_S = 5.0  # wait for a writing process
SECRET_BYTES = 32
MUST_EXIST = "_SHRAG_SERVER_STORE"  # environment variable of a server that has made the file
TABLES = """
    CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
    CREATE TABLE keys (
        id TEXT PRIMARY KEY, digest BLOB NOT NULL, label TEXT NOT NULL, role TEXT NOT NULL,
        indexes TEXT NOT NULL, sources TEXT NOT NULL, created TEXT NOT NULL, expires TEXT, revoked TEXT,
        last_used TEXT, per_minute INTEGER, per_day INTEGER
    ) STRICT;
    CREATE TABLE sessions (
        digest BLOB PRIMARY KEY, key_id TEXT NOT NULL, person TEXT NOT NULL, name TEXT NOT NULL,
        groups TEXT NOT NULL, seen REAL NOT NULL, expires REAL NOT NULL
    ) STRICT;
    CREATE INDEX sessions_of ON sessions (key_id, person);
    CREATE TABLE searches (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, updated TEXT NOT NULL, running_until REAL NOT NULL,
        head BLOB NOT NULL, state BLOB NOT NULL, result BLOB NOT NULL
    ) STRICT;
    CREATE INDEX searches_of ON searches (owner, updated);
    CREATE TABLE feeds (
        id TEXT PRIMARY KEY, digest BLOB NOT NULL UNIQUE, owner TEXT NOT NULL, key_id TEXT NOT NULL,
        person TEXT NOT NULL, indexes TEXT NOT NULL, sources TEXT NOT NULL, call TEXT NOT NULL,
        searched TEXT NOT NULL, version TEXT NOT NULL, created TEXT NOT NULL, confirmed TEXT NOT NULL
    ) STRICT;
    CREATE INDEX feeds_of ON feeds (owner, created);
    CREATE TABLE feed_papers (
        feed TEXT NOT NULL REFERENCES feeds ON DELETE CASCADE, paper TEXT NOT NULL, found TEXT NOT NULL,
        UNIQUE (feed, paper)
    ) STRICT;
    CREATE TABLE judgements (id INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;
    CREATE TABLE statistics (
        day TEXT, source TEXT, words INTEGER, number INTEGER NOT NULL, PRIMARY KEY (day, source, words)
    ) STRICT;
    CREATE TABLE unanswered (
        day TEXT, source TEXT, question TEXT, number INTEGER NOT NULL, PRIMARY KEY (day, source, question)
    ) STRICT;
    CREATE TABLE waiting (
        question BLOB, caller BLOB, day TEXT NOT NULL, PRIMARY KEY (question, caller)
    ) STRICT;
"""
DAMAGED = "stop the server, and restore the file from a backup, or move it away and create new keys"
UNUSABLE = "free space on this disk, let this user write to it, or try again if another process is writing"

log = get_logger("server")


class Store:
    """The store of a home folder, for all threads of a process.

    All methods raise StoreUnusable if the file is damaged, locked for too long or not writable, and if it has
    vanished after it was there: a missing file must not admit everybody.
    """

    def __init__(self, home: Path) -> None:
        """`home`: the folder of the file, which is created with the first change."""
        self.path = home / FILE
        self._was_there = MUST_EXIST in os.environ  # a missing file has vanished
        self._reader: sqlite3.Connection | None = None
        self._seen: tuple[int, ...] = ()  # identity of the file that the reader has open
        self._reading = Lock()
        self._background = ThreadPoolExecutor(1, "store")
        self._queued: set[tuple[Any, ...]] = set()

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if there is no store yet."""
        with self._explaining(), self._reading:
            reader = self._current()
            return reader.execute(statement, values).fetchall() if reader else []

    def row(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Return the first row of a query, None without one."""
        return next(iter(self.rows(statement, *values)), None)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock and make the file; commit at the end, roll back after an error."""
        with self._explaining():
            self.create()
            with closing(_connect(self.path, "mode=rw")) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                try:
                    self._check(database)
                    yield database
                except BaseException:
                    database.rollback()
                    raise
                database.commit()
                with suppress(sqlite3.Error):  # the change is on disk already
                    database.execute("PRAGMA journal_mode = WAL")  # of a new file
                    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def change(self, statement: str, *values: object) -> int:
        """Change rows by one statement; return their number."""
        with self.changing() as database:
            return database.execute(statement, values).rowcount

    def change_soon(self, statement: str, *values: object) -> None:
        """Change a row in the background; a failure is logged. The last value names the row."""
        row = (statement, values[-1])
        if row in self._queued:
            return

        def change() -> None:
            try:
                self.change(statement, *values)
            except StoreUnusable as error:
                log.warning("not noted", error=str(error))
            finally:
                self._queued.discard(row)

        self._queued.add(row)
        self._background.submit(change)

    def secret(self, name: str) -> bytes:
        """Return the random secret with a name, which is made on first use."""
        if found := self.row("SELECT value FROM secrets WHERE name = ?", name):
            return bytes(found[0])
        with self.changing() as database:
            made = secrets.token_bytes(SECRET_BYTES)
            database.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, made))
            return bytes(database.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()[0])

    def create(self) -> None:
        """Create the file, unless it is there."""
        if os.path.lexists(self.path):
            return
        if self._was_there:
            raise StoreUnusable(f"{self.path} has vanished", remedy=DAMAGED)
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
            database.executescript(f"{TABLES}PRAGMA user_version = {FORMAT};")
            content = database.serialize()
        with self._explaining(), suppress(FileExistsError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            create_durably(self.path, content, mode=0o600)

    def damaged(self, reason: object) -> StoreUnusable:
        """Return the error of a row that cannot be read."""
        return StoreUnusable(f"{self.path} is damaged ({reason})", remedy=DAMAGED)

    def close(self) -> None:
        """Wait for changes in the background, and close the connection."""
        self._background.shutdown()
        with self._reading:
            if self._reader:
                self._reader.close()
            self._reader, self._seen = None, ()

    def _current(self) -> sqlite3.Connection | None:
        """Return the connection for reading, opened again if the file was replaced or changed."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - no object is made for it on every read
        except FileNotFoundError:
            if self._was_there:
                raise
            return None
        seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if seen != self._seen or self._reader is None:
            if self._reader:
                self._reader.close()
                self._reader = None
            self._seen, self._was_there = seen, True
            writable = os.access(self.path.parent, os.W_OK)
            reader = _connect(self.path, "mode=rw" if writable else "mode=ro&immutable=1")
            try:
                self._check(reader)
            except BaseException:
                reader.close()
                raise
            self._reader = reader
        return self._reader

    def _check(self, database: sqlite3.Connection) -> None:
        """Refuse another format, also an empty file: a store without keys would admit everybody."""
        (found,) = database.execute("PRAGMA user_version").fetchone()
        if found != FORMAT:
            raise StoreUnusable(
                f"{self.path} has the format {found}, this version reads {FORMAT}", remedy=DAMAGED
            )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Add the file, its disk and the remedy to errors."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            is_damage = isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.OperationalError)
            cause = cause_of(error) if isinstance(error, OSError) else str(error)
            raise StoreUnusable(
                f"{self.path} cannot be used: {cause} (disk {disk_of(self.path)})",
                remedy=DAMAGED if is_damage else UNUSABLE,
            ) from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    """Open an existing file in autocommit mode; raise sqlite3.Error if it is missing or no database."""
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=WAIT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA foreign_keys = ON")
    return database
