"""Started sign-ins and sessions of persons: one SQLite file in the home folder, shared by processes.

Its path is HOME/.sign-in.sqlite, a name that no index can have, and only its owner can read it. It contains
hashes of cookies, pseudonyms, names to display and groups; no token of the provider is stored.
"""

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

from base.files.durable import cause_of
from base.files.sqlite_stores import changing, create_store, opened
from indexer.versions.server_files import SIGN_IN
from server.errors import SessionsUnreadable

FILE = SIGN_IN
FORMAT = 1
STARTED_S = 600.0  # time for entering a password at the provider
MOST_STARTED = 10_000
MOST_SESSIONS = 20  # of a person
SEEN_EVERY_S = 60.0  # interval in which the last call of a session is noted
MOVE_AWAY = "move it away: all persons then sign in again, under new pseudonyms"
WAIT_S = 5.0  # wait for a writing process
SECRET_BYTES = 32
TABLES = """
    CREATE TABLE secret (value BLOB NOT NULL) STRICT;
    CREATE TABLE started (
        state BLOB PRIMARY KEY, browser BLOB NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL,
        returns_to TEXT NOT NULL, expires REAL NOT NULL
    ) STRICT;
    CREATE TABLE sessions (
        digest BLOB PRIMARY KEY, person TEXT NOT NULL, name TEXT NOT NULL, groups TEXT NOT NULL,
        seen REAL NOT NULL, expires REAL NOT NULL
    ) STRICT;
"""


@dataclass(frozen=True, slots=True)
class Started:
    """A started sign-in: hashes of the state and of the browser's cookie; times in seconds since 1970."""

    state: bytes
    browser: bytes
    nonce: str
    verifier: str
    returns_to: str
    expires: float


@dataclass(frozen=True, slots=True)
class Session:
    """A session: hash of the cookie, pseudonym, name to display, groups as JSON; times as above."""

    digest: bytes
    person: str
    name: str
    groups: str
    seen: float
    expires: float


class SignInStore:
    """The store of a home folder; each call opens and closes the file.

    All methods raise SessionsUnreadable if the file cannot be used.
    """

    def __init__(self, home: Path) -> None:
        """`home`: the folder of the file, which is created on first use."""
        self.path = home / FILE

    def secret(self) -> bytes:
        """Return the random key of the pseudonyms."""
        with self._changing() as database:
            row = database.execute("SELECT value FROM secret").fetchone()
            if row is None:
                row = (secrets.token_bytes(SECRET_BYTES),)
                database.execute("INSERT INTO secret VALUES (?)", row)
        return bytes(row[0])

    def begin(self, started: Started, now: float) -> None:
        """Add a started sign-in; remove expired ones and the oldest above the limit."""
        with self._changing() as database:
            database.execute("DELETE FROM started WHERE expires <= ?", (now,))
            database.execute(
                "DELETE FROM started WHERE rowid NOT IN "
                "(SELECT rowid FROM started ORDER BY rowid DESC LIMIT ?)",
                (MOST_STARTED - 1,),
            )
            database.execute("INSERT INTO started VALUES (?, ?, ?, ?, ?, ?)", astuple(started))

    def take(self, state: bytes, now: float) -> Started | None:
        """Return a started sign-in and remove it: None if it is unknown or expired."""
        with self._changing() as database:
            row = database.execute("DELETE FROM started WHERE state = ? RETURNING *", (state,)).fetchone()
        return Started(*row) if row and row[-1] > now else None

    def add_session(self, session: Session, now: float, *, replaced: bytes | None = None) -> None:
        """Add a session, end the replaced one; remove ended sessions and the oldest above the limit."""
        with self._changing() as database:
            database.execute("DELETE FROM sessions WHERE expires <= ? OR digest = ?", (now, replaced))
            database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", astuple(session))
            database.execute(
                "DELETE FROM sessions WHERE person = ?1 AND rowid NOT IN "
                "(SELECT rowid FROM sessions WHERE person = ?1 ORDER BY rowid DESC LIMIT ?2)",
                (session.person, MOST_SESSIONS),
            )

    def session(self, digest: bytes, now: float, idle_s: float) -> Session | None:
        """Return a session, and note its use; None if it has ended or was idle for too long."""
        if not os.path.lexists(self.path):
            return None
        with self._opened() as database:
            row = database.execute("SELECT * FROM sessions WHERE digest = ?", (digest,)).fetchone()
        session = Session(*row) if row else None
        if session is None or session.expires <= now or session.seen + idle_s <= now:
            return None
        if session.seen + min(SEEN_EVERY_S, idle_s / 2) <= now:
            with self._changing() as database:
                database.execute("UPDATE sessions SET seen = ? WHERE digest = ?", (now, digest))
        return session

    def end_session(self, digest: bytes) -> None:
        """Remove a session."""
        with self._changing() as database:
            database.execute("DELETE FROM sessions WHERE digest = ?", (digest,))

    def sessions(self, now: float) -> list[Session]:
        """Return the sessions that have not expired, by person, the last used first."""
        if not os.path.lexists(self.path):
            return []
        with self._opened() as database:
            rows = database.execute(
                "SELECT * FROM sessions WHERE expires > ? ORDER BY person, seen DESC, digest", (now,)
            ).fetchall()
        return [Session(*row) for row in rows]

    def end_sessions(self, person: str, now: float) -> int:
        """Remove the sessions of a person; return the number of unexpired sessions."""
        with self._changing() as database:
            ended = database.execute("DELETE FROM sessions WHERE person = ? RETURNING expires", (person,))
            return sum(expires > now for (expires,) in ended)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as database, changing(database):
            yield database

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            if not os.path.lexists(self.path):
                create_store(self.path, TABLES.split(";")[:-1], FORMAT)
            if not stat.S_ISREG(self.path.lstat().st_mode):
                raise SessionsUnreadable(f"{self.path} is not a regular file", remedy=MOVE_AWAY)
            # Opening the file in another way, and closing it, would release SQLite's locks in other threads.
            with opened(self.path, WAIT_S) as database:
                if database.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                    raise sqlite3.DatabaseError(f"its format is not {FORMAT}")
                yield database
        except OSError as error:
            raise SessionsUnreadable(f"{self.path} cannot be used ({cause_of(error)})") from error
        except (sqlite3.Error, TypeError) as error:
            raise SessionsUnreadable(f"{self.path} cannot be used ({error})", remedy=MOVE_AWAY) from error
