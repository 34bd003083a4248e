"""SQLite file of recorded calls, one row per call, written atomically.

Several processes may write concurrently; a killed process loses no completed write.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from generator.errors import CacheUnusable

APPLICATION = 0x53485247  # "SHRG", in the file's header
VERSION = 1
MOST_CHARACTERS = 64_000_000  # limit when reading an outcome; valid ones are far smaller
SELECT = "SELECT CASE WHEN length(outcome) <= ? THEN outcome END FROM calls WHERE key = ?"
USE_ANOTHER = "Set SHRAG_CACHE__FILE to another file, or set SHRAG_CACHE__MODE=off."
MOVE_AWAY = "Move it away, or set SHRAG_CACHE__FILE to another file."
WAIT_S = 30.0  # for the write lock of another process
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS calls "
    "(key TEXT PRIMARY KEY, request TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID"
)
KEEP_FIRST = (
    "INSERT INTO calls VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET outcome = excluded.outcome "
    "WHERE json_type(calls.outcome, '$.error') IS NOT NULL"
)


class CallStore:
    """JSON requests and outcomes by key; thread-safe."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file; with `create`, make it if it is missing.

        Raises:
            CacheUnusable: it is missing, damaged, of another format, or cannot be read or written.
        """
        self._path = path
        self._lock = threading.Lock()
        if not create and not path.is_file():
            raise CacheUnusable(
                f"there is no recording {path}. Set SHRAG_CACHE__FILE to an existing recording, or make one "
                "with SHRAG_CACHE__MODE=record."
            )
        with self._using_the_file(), ExitStack() as opening:
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            opening.callback(self._connection.close)
            self._prepare(create=create)
            opening.pop_all()

    def _prepare(self, *, create: bool) -> None:
        if create:
            with self._transaction():
                if not self._number("schema_version"):
                    self._connection.execute(SCHEMA)
                    self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    self._connection.execute(f"PRAGMA user_version = {VERSION}")
        found = self._number("application_id"), self._number("user_version")
        if found != (APPLICATION, VERSION):
            raise CacheUnusable(
                f"{self._path} contains no recorded calls of this version ({VERSION}). Set "
                "SHRAG_CACHE__FILE to another file."
            )
        self._connection.execute("PRAGMA synchronous = FULL")

    def get(self, key: str) -> str | None:
        """Return the outcome of a call, None if it is not recorded."""
        with self._using_the_file():
            return self._outcome(key)

    def put(self, key: str, request: str, outcome: str) -> None:
        """Store the outcome of a call durably, replacing an earlier one."""
        with self._using_the_file():
            self._connection.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", (key, request, outcome))

    def put_first(self, key: str, request: str, outcome: str) -> str:
        """Store the outcome of a call unless a successful one is stored; return the stored outcome."""
        with self._using_the_file(), self._transaction():
            self._connection.execute(KEEP_FIRST, (key, request, outcome))
            return self._outcome(key) or outcome

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _outcome(self, key: str) -> str | None:
        row = self._connection.execute(SELECT, (MOST_CHARACTERS, key)).fetchone()
        if row and row[0] is None:
            raise sqlite3.DatabaseError(f"the outcome of a call has more than {MOST_CHARACTERS:,} characters")
        return str(row[0]) if row else None

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _using_the_file(self) -> Iterator[None]:
        """Lock the file for one thread, and convert errors to CacheUnusable with the next step."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            passing = isinstance(
                error, (sqlite3.OperationalError, OSError)
            )  # locked, disk full, no permission
            raise CacheUnusable(
                f"the file of recorded calls {self._path} {'cannot be used' if passing else 'is damaged'}: "
                f"{error}. {USE_ANOTHER if passing else MOVE_AWAY}"
            ) from error
