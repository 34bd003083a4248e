"""The key store: one SQLite file in the home folder, shared by processes.

Its path is HOME/.keys.sqlite, a name that no index can have, and only its owner can read it. It contains
hashes of keys and of the page's sessions, never the keys themselves. Changes are transactions, so a kill
leaves the old state or the new one; the next reader rolls back a leftover journal.
"""

import errno
import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, field, fields
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path

from base.files.durable import cause_of, create_durably, disk_of
from base.files.sqlite_stores import changing, opened
from indexer.versions.server_files import KEYS
from server.access.keys import Key, KeyLimits
from server.errors import KeysEmpty, KeysUnreadable, UnknownKey
from server.roles import Role
from server.source_names import as_index, sources_named

FILE = KEYS
FORMAT = 2
WITHOUT_LIMITS = 1  # the format before keys had limits; readable, upgraded with the next key
MOST_SESSIONS = 20  # of a key
WAIT_S = 5.0  # wait for a writing process
TABLES = """
    CREATE TABLE keys (
        id TEXT PRIMARY KEY, digest BLOB NOT NULL, label TEXT NOT NULL, scope TEXT NOT NULL,
        indexes TEXT NOT NULL, created TEXT NOT NULL, expires TEXT, revoked TEXT, last_used TEXT,
        per_minute INTEGER, per_day INTEGER, connections INTEGER
    ) STRICT;
    CREATE TABLE sessions (
        digest BLOB PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), expires TEXT NOT NULL
    ) STRICT;
"""
# Values of the column `scope`, of which earlier versions know two.
ROLE_OF: Mapping[str, Role] = {"read": "reader", "librarian": "librarian", "admin": "operator"}
STORED = {role: scope for scope, role in ROLE_OF.items()}
LIMITS = tuple(limit.name for limit in fields(KeyLimits))
COLUMNS = ("id", "digest", "label", "scope", "indexes", "created", "expires", *LIMITS)
ADD_KEY = f"INSERT INTO keys ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
WRITE_ERRORS = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_DIR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
)
EMPTY = "create a key: shrag keys create"
DAMAGED = "restore it from a copy, or move it away and create new keys"


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the page, started with a key."""

    key_id: str
    expires: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """The content of the store at one moment: keys by id, sessions by hash."""

    keys: Mapping[str, Key] = field(default_factory=dict)
    sessions: Mapping[bytes, Session] = field(default_factory=dict)


class KeyStore:
    """The keys of a home folder; each call opens and closes the file."""

    def __init__(self, home: Path) -> None:
        """`home`: the folder of the file, which is created with the first key."""
        self.path = home / FILE

    def read(self) -> Kept:
        """Read all keys and sessions; none if there is no store.

        Raises:
            KeysUnreadable: it is damaged, locked for too long, or not readable.
        """
        if not os.path.lexists(self.path):
            return Kept()
        with self._opened() as database:
            keys = [_key(row) for row in database.execute("SELECT * FROM keys ORDER BY created, id")]
            sessions = {
                digest: Session(key_id, datetime.fromisoformat(expires))
                for digest, key_id, expires in database.execute(
                    "SELECT digest, key_id, expires FROM sessions"
                )
            }
        return Kept({key.id: key for key in keys}, sessions)

    def add(self, key: Key) -> None:
        """Add a key. Raises as `read`, but fills an empty file."""
        row = (
            *(
                key.id,
                key.digest,
                key.label,
                STORED[key.role],
                json.dumps(_opened_by(key), ensure_ascii=False),
            ),
            *(key.created.isoformat(), key.expires and key.expires.isoformat()),
            *astuple(key.limits),
        )
        if not os.path.lexists(self.path):
            with self._naming_the_file(), suppress(FileExistsError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                create_durably(self.path, _new_store(row), mode=0o600)
                return
        with self._changing(may_be_empty=True) as database:
            if self._format(database) == WITHOUT_LIMITS:
                for limit in LIMITS:
                    database.execute(f"ALTER TABLE keys ADD COLUMN {limit} INTEGER")
                database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute(ADD_KEY, row)

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Revoke a key and end its sessions; a revoked key stays revoked.

        Raises:
            UnknownKey: no key has that id.
        """
        key = self.read().keys.get(key_id)
        if key is None:
            raise UnknownKey(f"no key has the id {key_id!r}", remedy="list the keys: shrag keys list")
        with self._changing() as database:
            database.execute(
                "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (now.isoformat(), key_id)
            )
            database.execute("DELETE FROM sessions WHERE key_id = ?", (key_id,))
        return self.read().keys[key_id]

    def note_use(self, key_id: str, day: date) -> None:
        """Record the day of a key's last use."""
        with self._changing() as database:
            database.execute("UPDATE keys SET last_used = ? WHERE id = ?", (day.isoformat(), key_id))

    def begin_session(self, digest: bytes, session: Session) -> None:
        """Add a session; remove ended sessions and the oldest ones above the key's limit."""
        now = datetime.now(UTC).isoformat()
        with self._changing() as database:
            database.execute("DELETE FROM sessions WHERE expires < ?", (now,))
            database.execute(
                "INSERT INTO sessions VALUES (?, ?, ?)", (digest, session.key_id, session.expires.isoformat())
            )
            database.execute(
                "DELETE FROM sessions WHERE key_id = ?1 AND rowid NOT IN "
                "(SELECT rowid FROM sessions WHERE key_id = ?1 ORDER BY rowid DESC LIMIT ?2)",
                (session.key_id, MOST_SESSIONS),
            )

    def end_session(self, digest: bytes) -> None:
        """Remove a session."""
        with self._changing() as database:
            database.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    @contextmanager
    def _changing(self, *, may_be_empty: bool = False) -> Iterator[sqlite3.Connection]:
        with self._opened(may_be_empty=may_be_empty) as database, changing(database):
            yield database

    @contextmanager
    def _opened(self, *, may_be_empty: bool = False) -> Iterator[sqlite3.Connection]:
        with self._naming_the_file():
            found = self.path.lstat()
            if not stat.S_ISREG(found.st_mode):
                raise KeysUnreadable(f"{self.path} is not a regular file", remedy=DAMAGED)
            if not found.st_size and not may_be_empty:
                raise KeysEmpty(f"{self.path} is empty, so no key is valid", remedy=EMPTY)
            with opened(self.path, WAIT_S) as database:
                database.execute("PRAGMA synchronous = FULL")
                self._prepare(database)
                yield database

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Create the tables of a new file; refuse those of another version."""
        if self._format(database) in {FORMAT, WITHOUT_LIMITS}:
            return
        database.execute("BEGIN IMMEDIATE")
        found = self._format(database)
        if found == 0 and not database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            _make_tables(database)
        elif found not in {FORMAT, WITHOUT_LIMITS}:
            raise KeysUnreadable(
                f"{self.path} has the format {found}, this version reads {FORMAT}", remedy=DAMAGED
            )
        database.commit()

    @staticmethod
    def _format(database: sqlite3.Connection) -> int:
        return int(database.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        """Add the file and the remedy to errors."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise KeysUnreadable(
                    f"{self.path} is being written to by another process", remedy="try again", passing=True
                ) from error
            if error.sqlite_errorcode in WRITE_ERRORS:
                raise self._not_written(str(error)) from error
            raise KeysUnreadable(f"{self.path} cannot be used ({error})", remedy=DAMAGED) from error
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise KeysUnreadable(f"{self.path} is damaged ({error})", remedy=DAMAGED) from error
        except OSError as error:
            if error.errno in NO_ROOM:
                raise self._not_written(cause_of(error)) from error
            raise KeysUnreadable(f"{self.path} cannot be used ({cause_of(error)})") from error

    def _not_written(self, cause: str) -> KeysUnreadable:
        return KeysUnreadable(
            f"{self.path} was not written: {cause} (disk {disk_of(self.path)})",
            remedy="free space on this disk, then try again",
        )


def _new_store(key: tuple[object, ...]) -> bytes:
    """Return the content of a new file with one key."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        _make_tables(database)
        database.execute(ADD_KEY, key)
        return database.serialize()


def _make_tables(database: sqlite3.Connection) -> None:
    for statement in TABLES.split(";")[:-1]:
        database.execute(statement)
    database.execute(f"PRAGMA user_version = {FORMAT}")


def _opened_by(key: Key) -> list[str]:
    """Return the indexes and sources of a key, as stored in the column `indexes`.

    Sources are stored under names that no index can have, so an older version opens no index by them.
    """
    return [*key.indexes, *map(as_index, key.sources)]


def _key(row: tuple[object, ...]) -> Key:
    """Create a key from a row; raise ValueError or TypeError if the row is invalid."""
    key_id, digest, label, scope, indexes, created, expires, revoked, last_used, *limits = row
    opened = json.loads(str(indexes))
    if scope not in ROLE_OF or not isinstance(digest, bytes) or not isinstance(opened, list):
        raise ValueError(f"the row of key {key_id} is invalid")
    sources = {name: sources_named(name) for name in map(str, opened)}
    return Key(
        str(key_id),
        digest,
        str(label),
        ROLE_OF[str(scope)],
        tuple(name for name, named in sources.items() if not named),
        datetime.fromisoformat(str(created)),
        _time(expires),
        _time(revoked),
        date.fromisoformat(str(last_used)) if last_used else None,
        tuple(chain.from_iterable(sources.values())),
        KeyLimits(*(None if limit is None else int(str(limit)) for limit in limits)),
    )


def _time(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None
