"""The mirror of a repository: its records as harvested, and the state of the list, in one SQLite file.

A page and the token of the next one are stored in one transaction, so a process that is killed at any point
continues with the page after the last stored one. A record is stored once, by its identifier.

Each record has the number of the generation in which it last changed. The manifest of a version names the
generation that it contains, so the changes to index are the records with a later one. This also holds after
a kill between indexing and the next harvest, and after a rollback.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from base.files.locks import lock_file
from base.records import adapter
from indexer.errors import IndexBusy, IndexDamaged, IndexNotWritten
from indexer.harvesting.protocol import ListedRecord, Repository

ENDING = ".sqlite"
LOCK = "harvest.lock"
SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    identifier TEXT NOT NULL UNIQUE,
    deleted INTEGER NOT NULL,
    metadata BLOB,      -- XML, compressed
    problem TEXT NOT NULL,
    list INTEGER NOT NULL,     -- the last list that contained the record
    generation INTEGER NOT NULL -- in which its content last changed
);
CREATE INDEX IF NOT EXISTS by_generation ON records (generation);
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
UPSERT = """
INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (identifier) DO UPDATE SET
    deleted = excluded.deleted, metadata = excluded.metadata, problem = excluded.problem,
    list = excluded.list,
    generation = CASE WHEN metadata IS excluded.metadata AND problem = excluded.problem
                      AND deleted = excluded.deleted
                      THEN generation ELSE excluded.generation END
"""
MISSING = "deleted = 0 AND list < ?"


@dataclass(frozen=True, slots=True)
class ListState:
    """The list in progress; a list that is read again from its start has another number."""

    number: int
    from_: str  # "" for a complete list
    token: str = ""  # of the next page
    started: str = ""  # date of the first response, by the earlier of both clocks
    pages: int = 0
    size: int = 0  # as announced, 0 if it is not
    listed: int = 0  # records, each once

    @property
    def ended(self) -> bool:
        """Whether the last page is stored."""
        return self.pages > 0 and not self.token


@dataclass(frozen=True, slots=True)
class MirrorState:
    """The state of a mirror."""

    repository: Repository
    mirror_id: str  # differs for a mirror that is made again
    generation: int = 1  # of the next change
    lists: int = 0  # begun so far
    list: ListState | None = None  # the list in progress
    listed_at: str = ""  # start of the last list that was read to its end
    complete_at: str = ""  # start of the last complete list that was read to its end

    def as_record(self) -> dict[str, Any]:
        """Return the repository and the times of its lists as JSON."""
        times = {"listed_at": self.listed_at or None, "complete_at": self.complete_at or None}
        return self.repository.as_record() | times | {"unfinished": self.list is not None}

    @property
    def described(self) -> str:
        """The repository, and the time up to which it was harvested."""
        until = f"up to {self.listed_at}" if self.listed_at else "not completely harvested yet"
        unfinished = f"; a list is interrupted or running ({self.list.listed:,} records)" if self.list else ""
        return f"{self.repository.name}, {until}{unfinished}"


class Mirror:
    """An open mirror."""

    def __init__(self, connection: sqlite3.Connection, repository: Repository) -> None:
        """Create the tables of a new file, or read the state of an existing one.

        With another metadata format, everything must be listed again.
        """
        self._connection = connection
        connection.executescript(SCHEMA)
        self.state = _stored_state(connection) or MirrorState(repository, uuid4().hex)
        if self.state.repository != repository:
            self.state = replace(self.state, repository=repository, list=None, listed_at="", complete_at="")
        self.save()

    def save(self, **changes: Any) -> None:
        """Change values of the state, and store it."""
        state = replace(self.state, **changes)
        with self._connection as connection:
            connection.execute(
                "INSERT OR REPLACE INTO state VALUES ('state', ?)", [json.dumps(asdict(state))]
            )
        self.state = state

    def begin_list(self, from_: str) -> ListState:
        """Begin a list, also in place of one in progress."""
        list_ = ListState(self.state.lists + 1, from_)
        self.save(lists=list_.number, list=list_)
        return list_

    def store(self, records: Sequence[ListedRecord], list_: ListState) -> tuple[ListState, int]:
        """Store a page and the state of the list after it, in one transaction.

        Return the state and the number of records that are new in this list.
        """
        new = 0
        with self._connection as connection:
            for record in records:
                last_list = next(self._select("list", "identifier = ?", record.identifier), None)
                new += last_list is None or last_list[0] < list_.number
                # A deletion of an unknown record is no change.
                generation = 0 if last_list is None and record.deleted else self.state.generation
                metadata = zlib.compress(record.metadata) if record.metadata else None
                stored = (record.identifier, record.deleted, metadata, record.problem)
                connection.execute(UPSERT, [*stored, list_.number, generation])
            list_ = replace(list_, listed=list_.listed + new)
            self.save(list=list_)
        return list_, new

    def _select(self, what: str, condition: str, *values: int | str) -> Iterator[tuple[Any, ...]]:
        yield from self._connection.execute(
            f"SELECT {what} FROM records WHERE {condition} ORDER BY identifier",  # noqa: S608 - constants
            values,
        )

    def count(self, condition: str = "1", *values: int | str) -> int:
        """Return the number of records that satisfy a condition."""
        return int(next(self._select("count(*)", condition, *values))[0])

    @property
    def alive(self) -> int:
        """The number of records that are not deleted."""
        return self.count("deleted = 0")

    def missing(self, list_: ListState) -> int:
        """Return the number of known records that a complete list lacks."""
        return self.count(MISSING, list_.number)

    def delete_missing(self, list_: ListState) -> None:
        """Mark the records that a complete list lacks as deleted."""
        changes = "deleted = 1, metadata = NULL, problem = '', generation = ?"
        with self._connection as connection:
            connection.execute(
                f"UPDATE records SET {changes} WHERE {MISSING}",  # noqa: S608 - constants
                [self.state.generation, list_.number],
            )

    def close_generation(self) -> int:
        """Return the last generation with a change; later changes belong to the next one."""
        last = int(next(self._select("max(generation)", "1"))[0] or 0)
        self.save(generation=max(self.state.generation, last + 1))
        return last

    def changed(self, since: int) -> Iterator[tuple[str, bytes, str]]:
        """Yield identifier, compressed metadata and problem of the records changed after a generation."""
        what = "identifier, coalesce(metadata, x''), problem"
        yield from self._select(what, "deleted = 0 AND generation > ?", since)

    def deleted(self, since: int) -> list[str]:
        """Return the identifiers of records deleted after a generation."""
        return [row[0] for row in self._select("identifier", "deleted = 1 AND generation > ?", since)]

    def holds(self, identifier: str) -> bool:
        """Check whether a record exists and is not deleted."""
        return self.count("identifier = ? AND deleted = 0", identifier) > 0


def _stored_state(connection: sqlite3.Connection) -> MirrorState | None:
    stored = connection.execute("SELECT value FROM state WHERE name = 'state'").fetchone()
    return adapter(MirrorState).validate_json(stored[0]) if stored else None


@contextmanager
def harvest_lock(folder: Path, index: str) -> Iterator[None]:
    """Lock the mirrors of an index against other harvests; IndexBusy immediately if they are locked."""
    folder.mkdir(parents=True, exist_ok=True)
    busy = IndexBusy(f"another process is harvesting into index {index!r}", remedy="wait for it", index=index)
    with lock_file(folder / LOCK, busy):
        yield


@contextmanager
def open_mirror(folder: Path, repository: Repository, index: str) -> Iterator[Mirror]:
    """Open or create the mirror of a repository in the folder of an index's mirrors, until the block ends.

    Raises:
        IndexNotWritten: disk full, no permission.
        IndexDamaged: the file is damaged.
    """
    with _connected(folder / f"{repository.slug}{ENDING}", index) as connection:
        yield Mirror(connection, repository)


def states_in(folder: Path) -> list[MirrorState]:
    """Return the states of the mirrors in a folder, by name. Raises as `open_mirror`."""
    found = []
    for path in sorted(folder.glob(f"*{ENDING}")):
        with _connected(path, folder.parent.name) as connection:
            found.append(_stored_state(connection))
    return [state for state in found if state]


@contextmanager
def _connected(path: Path, index: str) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
            yield connection
    except sqlite3.OperationalError as error:
        raise IndexNotWritten(
            f"the harvested records {path} were not written ({error})",
            remedy="fix the cause and repeat the command, which continues",
            index=index,
        ) from error
    except (sqlite3.DatabaseError, zlib.error) as error:
        raise IndexDamaged(
            f"the harvested records {path} cannot be read ({error})",
            remedy="move that file elsewhere; the next call harvests everything again",
            index=index,
        ) from error
