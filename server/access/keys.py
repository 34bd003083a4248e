"""Keys of callers: 256 random bits, of which the server keeps the hash; and the page's sessions.

A key has the form `shrag_ID_SECRET`. It is found by its id, which is public and appears in lists and logs,
and compared as a whole. The stored hash is SHA-256: a slow hash protects guessable secrets, and 256 random
bits cannot be guessed; it would only slow down each request. Every check reads the store, so a revoked key is
refused at once in all processes.
"""

import json
import re
import secrets
from dataclasses import astuple, dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Annotated, Any

from pydantic import Field

from base.calls import Call, Flag
from base.errors import InvalidCall
from base.records import adapter
from indexer.versions.store.build_folder import NAME as INDEX_NAME
from retriever.sources.configuration import NAME as SOURCE_NAME
from server.errors import StoreUnusable, UnknownKey
from server.settings import Role
from server.store import Store

PREFIX = "shrag_"
FORM = re.compile(r"shrag_([a-z2-7]{10})_([A-Za-z0-9_-]{43})")
ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
ID_LENGTH = 10
SECRET_BYTES = 32
LONGEST_LABEL = 100
LONGEST_LIFE_DAYS = 36_500
SESSION_LIFE = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The record of a key; times are in UTC. A key without indexes and sources allows all.

    Its own limits replace those of the settings; 0 is no limit.
    """

    id: str
    digest: bytes  # SHA-256 of the whole key
    label: str
    role: Role
    indexes: tuple[str, ...]
    sources: tuple[str, ...]
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None
    last_used: date | None = None
    per_minute: int | None = None  # searches and questions, replaces the rates of both
    per_day: int | None = None  # searches and questions; the settings have no such limit

    def state(self, now: datetime) -> str:
        """Return the state: active, expired or revoked."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and self.expires <= now else "active"

    @property
    def limits(self) -> str:
        """The limits as lists show them."""
        own = {"a minute": self.per_minute, "a day": self.per_day}
        return ", ".join(
            f"{number:,} {unit}" if number else f"any number {unit}"
            for unit, number in own.items()
            if number is not None
        )

    def audited(self) -> dict[str, Any]:
        """Return the facts of a new key for the audit log."""
        return {"key": self.id, "role": self.role, "indexes": self.indexes, "sources": self.sources}

    def as_record(self, now: datetime) -> dict[str, Any]:
        """Return the public fields of the record."""
        return {
            "id": self.id,
            "label": self.label,
            "role": self.role,
            "indexes": list(self.indexes),
            "sources": list(self.sources),
            "per_minute": self.per_minute,
            "per_day": self.per_day,
            "created": self.created.isoformat(timespec="seconds"),
            "expires": self.expires and self.expires.isoformat(timespec="seconds"),
            "revoked": self.revoked and self.revoked.isoformat(timespec="seconds"),
            "last_used": self.last_used and self.last_used.isoformat(),
            "state": self.state(now),
        }


def digest_of(text: str) -> bytes:
    """Return the hash under which a key or session is stored."""
    return sha256(text.encode()).digest()


def make_key(
    label: str = "",
    role: Role = "reader",
    indexes: tuple[str, ...] = (),
    expires: datetime | None = None,
    *,
    sources: tuple[str, ...] = (),
    per_minute: int | None = None,
    per_day: int | None = None,
    now: datetime | None = None,
) -> tuple[str, Key]:
    """Create a key; return its text, which cannot be recovered later, and its record.

    Raises:
        InvalidCall: a name is invalid, the expiry is past, or an operator's key is limited.
    """
    now = now or datetime.now(UTC)
    for names, form, kind in ((indexes, INDEX_NAME, "an index"), (sources, SOURCE_NAME, "a source")):
        if wrong := [name for name in names if not form.fullmatch(name)]:
            raise InvalidCall(f"{wrong[0]!r} cannot name {kind}")
    if role == "operator" and (indexes or sources):
        raise InvalidCall(
            "a key of the role operator allows every index and source", remedy="omit the indexes and sources"
        )
    if expires and expires <= now:
        raise InvalidCall(f"the expiry {expires.isoformat()} is in the past")
    key_id = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
    text = f"{PREFIX}{key_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    return text, Key(
        id=key_id,
        digest=digest_of(text),
        label=label,
        role=role,
        indexes=tuple(dict.fromkeys(indexes)),
        sources=tuple(dict.fromkeys(sources)),
        created=now,
        expires=expires,
        per_minute=per_minute,
        per_day=per_day,
    )


def end_of(given: str, now: datetime) -> datetime:
    """Parse an expiry: `90d`, or a date, whose whole day is included.

    Raises:
        InvalidCall: it is neither.
    """
    if found := re.fullmatch(r"([0-9]{1,6})d", given):
        if not 0 < int(found[1]) <= LONGEST_LIFE_DAYS:
            raise InvalidCall(f"{given}: between 1 and {LONGEST_LIFE_DAYS} days")
        return (now + timedelta(days=int(found[1]))).replace(microsecond=0)
    try:
        return datetime.combine(date.fromisoformat(given), time(23, 59, 59), UTC)
    except ValueError:
        raise InvalidCall(
            f"{given!r} is neither a number of days, like 90d, nor a date, like 2027-12-31"
        ) from None


class KeyCall(Call):
    """A key to create."""

    label: Annotated[
        str | None, Field(max_length=LONGEST_LABEL, description="The owner, as in lists and the audit log.")
    ] = None
    role: Annotated[
        Role,
        Field(
            description="A librarian also exports without a rate limit and sees statistics; an operator may "
            "do everything."
        ),
    ] = "reader"
    indexes: Annotated[
        tuple[str, ...],
        Flag("--index", metavar="NAME"),
        Field(max_length=100, description="Allow this index only."),
    ] = ()
    sources: Annotated[
        tuple[str, ...],
        Flag("--source", metavar="NAME"),
        Field(
            max_length=100,
            description="Allow this source; an index or a source excludes all other indexes and sources.",
        ),
    ] = ()
    per_minute: Annotated[
        int | None,
        Flag("--rate", metavar="N"),
        Field(
            ge=0,
            le=1_000_000,
            description="Searches and questions a minute; 0 = no limit. Default: the server's settings.",
        ),
    ] = None
    per_day: Annotated[
        int | None,
        Flag(metavar="N"),
        Field(ge=1, le=1_000_000_000, description="Searches and questions a day (UTC)."),
    ] = None
    expires: Annotated[
        str | None,
        Flag(metavar="90d|DATE"),
        Field(max_length=20, description="After a number of days, or at the end of a day (UTC)."),
    ] = None

    def key(self, now: datetime) -> tuple[str, Key]:
        """Create the key; returns and raises as `make_key` and `end_of`."""
        return make_key(
            *(self.label or "", self.role, self.indexes),
            end_of(self.expires, now) if self.expires else None,
            sources=self.sources,
            per_minute=self.per_minute,
            per_day=self.per_day,
            now=now,
        )


COLUMNS = tuple(column.name for column in fields(Key))
SELECT = f"SELECT {', '.join(COLUMNS)} FROM keys"  # noqa: S608
INSERT = f"INSERT INTO keys ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608


class Keys:
    """The keys of a store. All methods raise StoreUnusable if it cannot be read or written."""

    def __init__(self, store: Store) -> None:
        """Keep the store."""
        self.store = store
        self._needed = False

    def add(self, key: Key) -> None:
        """Add a key."""
        times = (key.created.isoformat(), key.expires and key.expires.isoformat(), None, None)
        opened = (json.dumps(names, ensure_ascii=False) for names in (key.indexes, key.sources))
        row = (key.id, key.digest, key.label, key.role, *opened, *times, key.per_minute, key.per_day)
        self.store.change(INSERT, *row)

    def all(self) -> dict[str, Key]:
        """Return all keys by id, the oldest first, with expired and revoked ones."""
        found = [self._key(row) for row in self.store.rows(f"{SELECT} ORDER BY created, id")]
        return {key.id: key for key in found}

    def revoke(self, key_id: str, now: datetime) -> Key:
        """Revoke a key and end its sessions; a revoked key stays revoked.

        Raises:
            UnknownKey: no key has that id.
        """
        if self._with_id(key_id) is None:
            raise UnknownKey(f"no key has the id {key_id!r}", remedy="list the keys: shrag keys list")
        with self.store.changing() as database:
            database.execute(
                "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (now.isoformat(), key_id)
            )
            database.execute("DELETE FROM sessions WHERE key_id = ?", (key_id,))
            return self._key(database.execute(f"{SELECT} WHERE id = ?", (key_id,)).fetchone())

    def find(self, given: str) -> Key | None:
        """Return the key that a caller gave, None if it is invalid; note the day of its use."""
        now = datetime.now(UTC)
        named = FORM.fullmatch(given)
        key = self.active(named[1]) if named else None
        if key is None or not compare_digest(digest_of(given), key.digest):
            return None
        if key.last_used != now.date():
            self.store.change_soon(
                "UPDATE keys SET last_used = ? WHERE id = ?", now.date().isoformat(), key.id
            )
        return key

    def active(self, key_id: str) -> Key | None:
        """Return the key with an id, None if it is unknown, has expired or was revoked."""
        key = self._with_id(key_id)
        return key if key and key.state(datetime.now(UTC)) == "active" else None

    def are_needed(self) -> bool:
        """Check whether a key was ever made: an expired or revoked one still requires a key."""
        self._needed = bool(self.store.rows("SELECT 1 FROM keys LIMIT 1")) or self._needed
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
        now = datetime.now(UTC).replace(microsecond=0)
        ends = min(now + SESSION_LIFE, key.expires or now + SESSION_LIFE)
        add_session(self.store, Session(digest_of(token), ends.timestamp(), now.timestamp(), key_id=key.id))
        return token, ends

    def _with_id(self, key_id: str) -> Key | None:
        row = self.store.row(f"{SELECT} WHERE id = ?", key_id)
        return self._key(row) if row else None

    def _key(self, row: tuple[Any, ...]) -> Key:
        """Create a key from a row; raise StoreUnusable if the row is invalid."""
        values = dict(zip(COLUMNS, row, strict=True))
        try:
            names = {name: json.loads(values[name]) for name in ("indexes", "sources")}
            key: Key = adapter(Key).validate_python(values | names)
        except ValueError as error:
            raise self.store.damaged(f"the row of key {values['id']}: {error}") from error
        return key


# Sessions of the page, started with a key or by a person who signed in; times are in seconds since 1970.

MOST_SESSIONS = 20  # of a key or a person
SEEN_EVERY_S = 60.0  # interval in which the last call of a session is noted
OWNED = "key_id = ? AND person = ?"


@dataclass(frozen=True, slots=True)
class Session:
    """A session: hash of the cookie, and its key or the person's pseudonym, name, and groups as JSON."""

    digest: bytes
    expires: float
    seen: float
    key_id: str = ""
    person: str = ""
    name: str = ""
    groups: str = "[]"


SESSION_COLUMNS = ", ".join(Session.__slots__)


def add_session(store: Store, session: Session, *, replaced: bytes | None = None) -> None:
    """Add a session, end the replaced one; remove ended sessions and the owner's oldest above the limit."""
    owner = (session.key_id, session.person)
    with store.changing() as database:
        database.execute("DELETE FROM sessions WHERE expires <= ? OR digest = ?", (session.seen, replaced))
        insert = f"INSERT INTO sessions ({SESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
        database.execute(insert, astuple(session))
        database.execute(
            f"DELETE FROM sessions WHERE {OWNED} AND rowid NOT IN "  # noqa: S608
            f"(SELECT rowid FROM sessions WHERE {OWNED} ORDER BY rowid DESC LIMIT ?)",
            (*owner, *owner, MOST_SESSIONS),
        )


def find_session(store: Store, token: str, *, idle_s: float) -> Session | None:
    """Return a session, and note its use; None if it has ended, or if its person was idle for too long."""
    now, digest = datetime.now(UTC).timestamp(), digest_of(token)
    row = store.row(f"SELECT {SESSION_COLUMNS} FROM sessions WHERE digest = ?", digest)  # noqa: S608
    session = Session(*row) if row else None
    if session is None or session.expires <= now or (session.person and session.seen + idle_s <= now):
        return None
    if session.seen + min(SEEN_EVERY_S, idle_s / 2) <= now:
        store.change_soon("UPDATE sessions SET seen = ? WHERE digest = ?", now, digest)
    return session


def end_session(store: Store, token: str) -> None:
    """Remove a session."""
    store.change("DELETE FROM sessions WHERE digest = ?", digest_of(token))


def persons_sessions(store: Store) -> list[Session]:
    """Return the sessions of persons that have not expired, by person, the last used first."""
    rows = store.rows(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE person != '' AND expires > ? "  # noqa: S608
        "ORDER BY person, seen DESC, digest",
        datetime.now(UTC).timestamp(),
    )
    return [Session(*row) for row in rows]


def end_sessions_of(store: Store, person: str) -> int:
    """Remove the sessions of a person; return the number of unexpired ones."""
    with store.changing() as database:
        ended = database.execute("DELETE FROM sessions WHERE person = ? RETURNING expires", (person,))
        return sum(expires > datetime.now(UTC).timestamp() for (expires,) in ended)
