"""A file of recorded calls: SQLite, one row a call, written whole or not at all.

Several processes may write at a time; one that is killed loses nothing that was kept before.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from generator.errors import CacheUnusable

APPLICATION = 0x53485247  # "SHRG", in the file's header
VERSION = 1
MOST_CHARACTERS = 64_000_000  # of an outcome that is read; none that is written comes near it
SELECT = "SELECT CASE WHEN length(outcome) <= ? THEN outcome END FROM calls WHERE key = ?"
MEND = "Take another file in SHRAG_CACHE__FILE, or set SHRAG_CACHE__MODE=off."
MOVE_AWAY = "Move it away, or take another file in SHRAG_CACHE__FILE."
WAIT_S = 30.0  # for another process that writes
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS calls "
    "(key TEXT PRIMARY KEY, request TEXT NOT NULL, outcome TEXT NOT NULL) WITHOUT ROWID"
)
KEEP_FIRST = (
    "INSERT INTO calls VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET outcome = excluded.outcome "
    "WHERE json_type(calls.outcome, '$.error') IS NOT NULL"
)


class CallStore:
    """Requests and outcomes, JSON both, by key; used from any thread."""

    def __init__(self, path: Path, *, create: bool) -> None:
        """Open the file; `create` makes one where there is none.

        Raises:
            CacheUnusable: it is not there, is damaged, is no such file, or cannot be read or written.
        """
        self._path = path
        self._one_at_a_time = threading.Lock()
        if not create and not path.is_file():
            raise CacheUnusable(
                f"there is no recording {path}. Set SHRAG_CACHE__FILE to one, or make it with "
                "SHRAG_CACHE__MODE=record."
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
                f"{self._path} holds no recorded calls of this version ({VERSION}). Name another file in "
                "SHRAG_CACHE__FILE."
            )
        self._connection.execute("PRAGMA synchronous = FULL")

    def get(self, key: str) -> str | None:
        """Return the outcome of a call, None where it is not recorded."""
        with self._using_the_file():
            return self._outcome(key)

    def put(self, key: str, request: str, outcome: str) -> None:
        """Keep the outcome of a call, in place of an earlier one; it is on disk when this returns."""
        with self._using_the_file():
            self._connection.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", (key, request, outcome))

    def put_first(self, key: str, request: str, outcome: str) -> str:
        """Keep the outcome of a call where none but a failure is kept; return the one that is there now."""
        with self._using_the_file(), self._transaction():
            self._connection.execute(KEEP_FIRST, (key, request, outcome))
            return self._outcome(key) or outcome

    def close(self) -> None:
        """Close the file."""
        with self._one_at_a_time:
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
        """Let one thread at a time through, and turn what goes wrong into one line with the next step."""
        try:
            with self._one_at_a_time:
                yield
        except (sqlite3.Error, OSError) as error:
            passing = isinstance(error, (sqlite3.OperationalError, OSError))  # locked, full, not allowed
            raise CacheUnusable(
                f"the file of recorded calls {self._path} {'cannot be used' if passing else 'is damaged'}: "
                f"{error}. {MEND if passing else MOVE_AWAY}"
            ) from error
