"""The keys of the store, and the sessions that the page starts with them.

Every check reads the store, so a revoked key is refused at once in all processes.
"""

import json
import secrets
import time
from dataclasses import astuple, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

from server.access.keys import Key, KeyLimits, digest_of, id_of, opens
from server.access.sessions import Session, add_session, find_session
from server.errors import StoreUnusable, UnknownKey
from server.roles import ROLES
from server.store import Store

SESSION_LIFE = timedelta(days=7)
COLUMNS = (
    *("id", "digest", "label", "role", "indexes", "sources", "created", "expires", "revoked", "last_used"),
    *(limit.name for limit in fields(KeyLimits)),
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM keys"  # noqa: S608
INSERT = f"INSERT INTO keys ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


class Keys:
    """The keys of a store. All methods raise StoreUnusable if it cannot be read or written."""

    def __init__(self, store: Store) -> None:
        """Keep the store."""
        self._store = store
        self._needed = False

    def add(self, key: Key) -> None:
        """Add a key, also to an empty file."""
        times = (key.created.isoformat(), key.expires and key.expires.isoformat(), None, None)
        opened = (json.dumps(names, ensure_ascii=False) for names in (key.indexes, key.sources))
        row = (key.id, key.digest, key.label, key.role, *opened, *times, *astuple(key.limits))
        with self._store.changing(fills=True) as database:
            database.execute(INSERT, row)

    def all(self) -> dict[str, Key]:
        """Return all keys by id, the oldest first, with expired and revoked ones."""
        found = [self._key(row) for row in self._store.rows(f"{SELECT} ORDER BY created, id")]
        return {key.id: key for key in found}

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Revoke a key and end its sessions; a revoked key stays revoked.

        Raises:
            UnknownKey: no key has that id.
        """
        if self._with_id(key_id) is None:
            raise UnknownKey(f"no key has the id {key_id!r}", remedy="list the keys: shrag keys list")
        with self._store.changing() as database:
            database.execute(
                "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (now.isoformat(), key_id)
            )
            database.execute("DELETE FROM sessions WHERE key_id = ?", (key_id,))
            return self._key(database.execute(f"{SELECT} WHERE id = ?", (key_id,)).fetchone())

    def find(self, given: str) -> Key | None:
        """Return the key that a caller gave, None if it is invalid; note the day of its use."""
        now = datetime.now(UTC)
        key = self._with_id(id_of(given) or "")
        if not opens(given, key, now) or key is None:
            return None
        if key.last_used != now.date():
            self._store.change_soon(
                "UPDATE keys SET last_used = ? WHERE id = ?", now.date().isoformat(), key.id
            )
        return key

    def active(self, key_id: str) -> Key | None:
        """Return the key with an id, None if it is unknown, has expired or was revoked."""
        key = self._with_id(key_id)
        return key if key and key.state(datetime.now(UTC)) == "active" else None

    def are_needed(self) -> bool:
        """Check whether a key was ever made: an expired or revoked one still requires a key."""
        self._needed = bool(self._store.rows("SELECT 1 FROM keys LIMIT 1")) or self._needed
        return self._needed

    def trouble(self) -> StoreUnusable | None:
        """Return the error that prevents checks of keys, or None."""
        try:
            self.are_needed()
        except StoreUnusable as error:
            return error
        return None

    def begin_session(self, key: Key) -> tuple[str, datetime]:
        """Start a session; return its token and its end."""
        token = secrets.token_urlsafe(32)
        ends = datetime.now(UTC).replace(microsecond=0) + SESSION_LIFE
        ends = min(ends, key.expires) if key.expires else ends
        add_session(self._store, Session(digest_of(token), ends.timestamp(), time.time(), key_id=key.id))
        return token, ends

    def find_session(self, token: str) -> Key | None:
        """Return the key of a session, None if it has ended."""
        session = find_session(self._store, digest_of(token))
        return self.active(session.key_id) if session else None

    def _with_id(self, key_id: str) -> Key | None:
        row = self._store.row(f"{SELECT} WHERE id = ?", key_id)
        return self._key(row) if row else None

    def _key(self, row: tuple[Any, ...]) -> Key:
        """Create a key from a row; raise StoreUnusable if the row is invalid."""
        key_id, digest, label, role, indexes, sources, created, expires, revoked, last_used, *limits = row
        try:
            ROLES.index(role)
            return Key(
                *(key_id, digest, label, role, tuple(json.loads(indexes))),
                created=datetime.fromisoformat(created),
                expires=datetime.fromisoformat(expires) if expires else None,
                revoked=datetime.fromisoformat(revoked) if revoked else None,
                last_used=date.fromisoformat(last_used) if last_used else None,
                sources=tuple(json.loads(sources)),
                limits=KeyLimits(*limits),
            )
        except (ValueError, TypeError) as error:
            raise self._store.damaged(f"the row of key {key_id}: {error}") from error
