"""The mirror of a repository: its records as harvested, and the state of the list, in one SQLite file.

A page and the token of the next one are stored in one transaction, so a process that is killed at any point
continues with the page after the last stored one. A record is stored once, by its identifier.

Each record has the number of the generation in which it last changed. The manifest of a version names the
generation that it contains, so the changes to index are the records with a later one. This also holds after
a kill between indexing and the next harvest, and after a rollback.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from indexer.errors import IndexDamaged
from indexer.harvesting.answer_parser import ListedRecord
from indexer.harvesting.answers import Page
from indexer.harvesting.repository import Repository

FORMAT = 1  # PRAGMA user_version
SCHEMA = f"""
CREATE TABLE records (
    identifier TEXT NOT NULL UNIQUE,
    datestamp TEXT NOT NULL,
    deleted INTEGER NOT NULL,
    digest BLOB NOT NULL,
    metadata BLOB,      -- XML, compressed
    problem TEXT NOT NULL,
    pass INTEGER NOT NULL,     -- the last pass through a list that contained the record
    generation INTEGER NOT NULL -- in which its content last changed
);
CREATE INDEX by_generation ON records (generation);
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
UPSERT = """
INSERT INTO records
VALUES (:identifier, :datestamp, :deleted, :digest, :metadata, :problem, :pass, :generation)
ON CONFLICT (identifier) DO UPDATE SET
    datestamp = excluded.datestamp, deleted = excluded.deleted, digest = excluded.digest,
    metadata = excluded.metadata, problem = excluded.problem, pass = excluded.pass,
    generation = CASE WHEN digest = excluded.digest AND deleted = excluded.deleted
                      THEN generation ELSE excluded.generation END
"""
PASSED = "UPDATE records SET pass = ? WHERE identifier = ?"
LIVE = "deleted = 0 AND problem = ''"


@dataclass(frozen=True, slots=True)
class ListState:
    """The list in progress. A *pass* reads it from its first page; a restart is another pass."""

    from_: str  # "" for a complete list
    first_pass: int
    pass_: int
    token: str = ""  # of the next page
    started: str = ""  # date of the first response, by the earlier of both clocks
    pages: int = 0  # of this pass
    size: int = 0  # as announced, 0 if it is not
    listed: int = 0  # records in all passes of this list, each once
    new_in_pass: int = 0  # records that no earlier pass of this list had
    checks: int = 0  # passes that look for skipped records

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
    passes: int = 0
    list: ListState | None = None  # the list in progress
    listed_at: str = ""  # start of the last list that was read to its end
    complete_at: str = ""  # start of the last complete list that was read to its end
    sizes_are_exact: bool = True  # announced sizes of lists have not been wrong

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
    """An open mirror, locked against other harvests of the index."""

    def __init__(self, connection: sqlite3.Connection, path: Path, state: MirrorState) -> None:
        self.path = path
        self.state = state
        self._connection = connection

    @classmethod
    def opened(cls, connection: sqlite3.Connection, path: Path, repository: Repository) -> Self:
        """Create the tables of a new file, or read the state of an existing one.

        With another metadata format, everything must be listed again.
        """
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in {0, FORMAT}:
            raise IndexDamaged(f"{path} has format {version}; this version of shrag reads {FORMAT}")
        if version == 0:
            connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
        stored = connection.execute("SELECT value FROM state WHERE name = 'state'").fetchone()
        state = state_from(stored[0]) if stored else MirrorState(repository, uuid4().hex)
        mirror = cls(connection, path, state)
        if not stored or state.repository != repository:
            mirror.save(replace(state, repository=repository, list=None, listed_at="", complete_at=""))
        return mirror

    def save(self, state: MirrorState) -> None:
        """Store the state."""
        with self._connection:
            self._write(state)
        self.state = state

    def _write(self, state: MirrorState) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO state VALUES ('state', ?)", [json.dumps(asdict(state))]
        )

    def store(self, page: Page, list_: ListState) -> int:
        """Store a page and the state of the list after it, in one transaction.

        Return the number of records that are new in this pass. A record that this list already contained
        with a later datestamp is kept, as the page is outdated.
        """
        new_in_pass = new_in_list = 0
        with self._connection:
            for record in page.records:
                known = self._connection.execute(
                    "SELECT pass, datestamp FROM records WHERE identifier = ?", [record.identifier]
                ).fetchone()
                last_pass, datestamp = known or (0, "")
                new_in_pass += last_pass < list_.pass_
                new_in_list += last_pass < list_.first_pass
                if last_pass < list_.first_pass or datestamp <= record.datestamp:
                    # A deletion of an unknown record is no change.
                    generation = self.state.generation if known or not record.deleted else 0
                    self._connection.execute(UPSERT, _row(record, list_.pass_, generation))
                else:
                    self._connection.execute(PASSED, [list_.pass_, record.identifier])
            list_ = replace(
                list_, listed=list_.listed + new_in_list, new_in_pass=list_.new_in_pass + new_in_list
            )
            state = replace(self.state, list=list_)
            self._write(state)
        self.state = state
        return new_in_pass

    def count(self, condition: str = "1", *values: int) -> int:
        """Return the number of records that satisfy a condition."""
        found = self._connection.execute(f"SELECT count(*) FROM records WHERE {condition}", values)  # noqa: S608 - constants
        return int(found.fetchone()[0])

    def delete_missing(self, list_: ListState) -> None:
        """Mark the records that a complete list does not contain as deleted."""
        with self._connection:
            self._connection.execute(
                "UPDATE records SET deleted = 1, digest = x'', metadata = NULL, problem = '', generation = ? "
                "WHERE deleted = 0 AND pass < ?",
                [self.state.generation, list_.first_pass],
            )

    def close_generation(self) -> int:
        """Return the last generation with a change; later changes belong to the next one."""
        last = int(self._connection.execute("SELECT max(generation) FROM records").fetchone()[0] or 0)
        if last == self.state.generation:
            self.save(replace(self.state, generation=last + 1))
        return last

    def changed(self, since: int) -> Iterator[tuple[str, bytes, int]]:
        """Yield identifier, metadata and stored bytes of the records changed after a generation."""
        found = self._connection.execute(
            f"SELECT identifier, metadata FROM records WHERE {LIVE} AND generation > ? ORDER BY identifier",  # noqa: S608
            [since],
        )
        for identifier, metadata in found:
            yield identifier, zlib.decompress(metadata), len(metadata)

    def problems(self, since: int) -> Iterator[tuple[str, str]]:
        """Yield identifier and problem of unusable records changed after a generation."""
        yield from self._connection.execute(
            "SELECT identifier, problem FROM records "
            "WHERE problem != '' AND generation > ? ORDER BY identifier",
            [since],
        )

    def bytes_changed(self, since: int) -> int:
        """Return the stored bytes of the metadata changed after a generation."""
        found = self._connection.execute(
            f"SELECT coalesce(sum(length(metadata)), 0) FROM records WHERE {LIVE} AND generation > ?",  # noqa: S608
            [since],
        )
        return int(found.fetchone()[0])

    def deleted(self, since: int) -> Iterator[str]:
        """Yield the identifiers of records deleted after a generation."""
        found = self._connection.execute(
            "SELECT identifier FROM records WHERE deleted = 1 AND generation > ? ORDER BY identifier", [since]
        )
        yield from (identifier for (identifier,) in found)

    def holds(self, identifier: str) -> bool:
        """Check whether a record exists and is not deleted."""
        found = self._connection.execute(
            "SELECT 1 FROM records WHERE identifier = ? AND deleted = 0", [identifier]
        )
        return found.fetchone() is not None


def _row(record: ListedRecord, pass_: int, generation: int) -> dict[str, Any]:
    content = record.metadata or record.problem.encode()
    return {
        "identifier": record.identifier,
        "datestamp": record.datestamp,
        "deleted": int(record.deleted),
        "digest": b"" if record.deleted else hashlib.sha256(content).digest(),
        "metadata": zlib.compress(record.metadata) if record.metadata else None,
        "problem": record.problem,
        "pass": pass_,
        "generation": generation,
    }


class DamagedState(ValueError):
    """The stored state of a mirror cannot be read."""


def state_from(text: str) -> MirrorState:
    """Parse a stored state. Raises `DamagedState`."""
    try:
        record = json.loads(text)
        list_ = record.pop("list")
        repository = Repository(**record.pop("repository"))
        return MirrorState(repository=repository, list=ListState(**list_) if list_ else None, **record)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise DamagedState(f"its state is damaged: {error}") from error
