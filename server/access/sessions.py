"""Sessions of the page, started with a key or by a person who signed in.

The store contains hashes of the cookies, pseudonyms, names to display and groups. Times are in seconds since
1970.
"""

import time
from dataclasses import astuple, dataclass
from hashlib import sha256

from server.store import Store

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


COLUMNS = ", ".join(Session.__slots__)


def digest_of(text: str) -> bytes:
    """Return the hash under which a key or session is stored."""
    return sha256(text.encode()).digest()


def add_session(store: Store, session: Session, *, replaced: bytes | None = None) -> None:
    """Add a session, end the replaced one; remove ended sessions and the owner's oldest above the limit."""
    owner = (session.key_id, session.person)
    with store.changing() as database:
        database.execute("DELETE FROM sessions WHERE expires <= ? OR digest = ?", (session.seen, replaced))
        database.execute(f"INSERT INTO sessions ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", astuple(session))  # noqa: S608
        database.execute(
            f"DELETE FROM sessions WHERE {OWNED} AND rowid NOT IN "  # noqa: S608
            f"(SELECT rowid FROM sessions WHERE {OWNED} ORDER BY rowid DESC LIMIT ?)",
            (*owner, *owner, MOST_SESSIONS),
        )


def find_session(store: Store, token: str, *, idle_s: float) -> Session | None:
    """Return a session, and note its use; None if it has ended, or if its person was idle for too long."""
    now, digest = time.time(), digest_of(token)
    row = store.row(f"SELECT {COLUMNS} FROM sessions WHERE digest = ?", digest)  # noqa: S608
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
        f"SELECT {COLUMNS} FROM sessions WHERE person != '' AND expires > ? "  # noqa: S608
        "ORDER BY person, seen DESC, digest",
        time.time(),
    )
    return [Session(*row) for row in rows]


def end_sessions_of(store: Store, person: str) -> int:
    """Remove the sessions of a person; return the number of unexpired ones."""
    with store.changing() as database:
        ended = database.execute("DELETE FROM sessions WHERE person = ? RETURNING expires", (person,))
        return sum(expires > time.time() for (expires,) in ended)
