"""Keys of callers: 256 random bits; the server keeps their hash.

A key has the form `shrag_ID_SECRET`. It is found by its id, which is public and appears in lists and logs,
and compared as a whole. The stored hash is SHA-256: a slow hash protects guessable secrets, and 256 random
bits cannot be guessed; it would only slow down each request.
"""

import re
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from base.errors import InvalidCall
from server.roles import Role

PREFIX = "shrag_"
FORM = re.compile(r"shrag_([a-z2-7]{10})_([A-Za-z0-9_-]{43})")
ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
ID_LENGTH = 10
SECRET_BYTES = 32
LONGEST_LABEL = 100
LONGEST_LIFE_DAYS = 36_500
NOBODY = bytes(32)  # compared with keys whose id is unknown


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """Limits of one key. None: the server's settings apply. 0: no limit."""

    per_minute: int | None = None  # searches and questions, replaces the rates of both
    per_day: int | None = None  # searches and questions; the settings have no such limit
    connections: int | None = None  # calls open at once

    def __str__(self) -> str:
        """Format the limits as lists show them."""
        units = {"per_minute": "a minute", "per_day": "a day", "connections": "at once"}
        own = {unit: value for name, unit in units.items() if (value := getattr(self, name)) is not None}
        return ", ".join(
            f"{value:,} {unit}" if value else f"any number {unit}" for unit, value in own.items()
        )


NO_OWN_LIMITS = KeyLimits()


@dataclass(frozen=True, slots=True)
class Key:
    """The record of a key; times are in UTC. A key without indexes and sources allows all."""

    id: str
    digest: bytes  # SHA-256 of the whole key
    label: str
    role: Role
    indexes: tuple[str, ...]
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None
    last_used: date | None = None
    sources: tuple[str, ...] = ()
    limits: KeyLimits = NO_OWN_LIMITS

    def state(self, now: datetime) -> str:
        """Return the state: active, expired or revoked."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expires and self.expires <= now else "active"

    def as_record(self, now: datetime) -> dict[str, Any]:
        """Return the public fields of the record."""
        return {
            "id": self.id,
            "label": self.label,
            "role": self.role,
            "indexes": list(self.indexes),
            "sources": list(self.sources),
            **asdict(self.limits),
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
    limits: KeyLimits = NO_OWN_LIMITS,
    now: datetime | None = None,
) -> tuple[str, Key]:
    """Create a key; return its text, which cannot be recovered later, and its record.

    Raises:
        InvalidCall: the label is too long, or the expiry is in the past.
    """
    now = now or datetime.now(UTC)
    if len(label) > LONGEST_LABEL:
        raise InvalidCall(f"a label has at most {LONGEST_LABEL} characters")
    if expires and expires <= now:
        raise InvalidCall(f"the expiry {expires.isoformat()} is in the past")
    key_id = "".join(secrets.choice(ID_LETTERS) for _ in range(ID_LENGTH))
    key = f"{PREFIX}{key_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    return key, Key(
        key_id, digest_of(key), label, role, indexes, now, expires, sources=sources, limits=limits
    )


def id_of(key: str) -> str | None:
    """Return the id in a key, None if the key is malformed."""
    found = FORM.fullmatch(key)
    return found[1] if found else None


def opens(given: str, key: Key | None, now: datetime) -> bool:
    """Check whether a text is this key, and active; takes the same time if `key` is None."""
    same = compare_digest(digest_of(given), key.digest if key else NOBODY)
    return bool(same and key and key.state(now) == "active")


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
