"""SQLite files of a version: written atomically, immutable, and read from several threads."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

from base.errors import Remedy
from base.files.durable import temporary_path
from indexer.errors import IndexClosed, IndexDamaged, IndexNotWritten


@contextmanager
def writing_sqlite(path: Path, what: str, schema: str) -> Iterator[sqlite3.Connection]:
    """Open a new file that replaces the one at `path` when the block ends without an error.

    The same statements produce the same bytes. `what` names the file in messages.

    Raises:
        IndexNotWritten: disk full, no permission.
    """
    passing = temporary_path(path)
    try:
        connection = sqlite3.connect(passing)
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # the file has no readers before it is renamed
            connection.executescript(schema)
            with connection:
                yield connection
        finally:
            connection.close()
        passing.replace(path)
    except (sqlite3.Error, OSError) as error:
        what = f"the {what} {path} was not written ({error})"
        raise IndexNotWritten(what, remedy="fix the cause and repeat the command") from error
    finally:
        passing.unlink(missing_ok=True)


class SQLiteFile:
    """A file opened for reading; one connection shared by threads; a context manager that closes it."""

    def __init__(self, path: Path, what: str, table: str) -> None:
        """Open a file that contains the table.

        Raises:
            FileNotFoundError: the file does not exist.
            IndexDamaged: the file is damaged.
        """
        self.path, self._what, self._lock = path, what, Lock()
        path.stat()
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        try:
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._damaged(error) from error
        try:
            self.select(f"SELECT * FROM {table} LIMIT 1")  # noqa: S608 - a constant name
        except IndexDamaged:
            self._connection.close()
            raise

    def select(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Return all rows; IndexClosed if the file is closed, IndexDamaged if it is damaged."""
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.ProgrammingError as error:  # the only possible cause with constant statements
            what = f"the {self._what} {self.path} is closed"
            raise IndexClosed(what, remedy="open the index again") from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; later calls raise IndexClosed."""
        with self._lock:
            self._connection.close()

    def _damaged(self, error: sqlite3.Error) -> IndexDamaged:
        what = f"the {self._what} {self.path} cannot be read ({error})"
        return IndexDamaged(what, remedy=(Remedy.REBUILD, Remedy.ROLL_BACK))
