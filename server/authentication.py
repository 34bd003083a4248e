"""Which caller a request is of: by its key, or by the page's session.

| keys | without a key | with one |
|---|---|---|
| none were ever made, or `--open` | reads | what the key allows |
| there is a store of them | nothing but the page's files and whether the server lives | what the key allows |

Where none were ever made, who asks from this machine is its operator, and may also administer.
"""

import re
from dataclasses import dataclass

from starlette.types import Scope

from server.callers import Caller
from server.errors import BadRequest, Unauthorized
from server.key_ring import KeyRing
from server.keys import PREFIX, SCOPES
from server.networks import is_loopback

COOKIES = (
    "__Host-shrag",
    "shrag",
)  # behind https, where a browser gives the first none but this host's own; else
FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
BEARER = re.compile(rb"bearer +([\x21-\x7e]+)\s*", re.IGNORECASE)
WRONG_KEY = "the key is wrong, has expired or was revoked"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request brings to say who asks."""

    key: str | None = None
    session: str | None = None


def credentials_of(headers: list[tuple[bytes, bytes]]) -> Credentials:
    """Read `Authorization: Bearer`, `X-API-Key` and the cookie; other schemes are somebody else's.

    Raises:
        BadRequest: they name several keys.
    """
    keys = set()
    session = None
    for name, value in headers:
        if name == b"authorization" and (found := BEARER.fullmatch(value.strip())):
            keys.add(found[1])
        elif name == b"x-api-key" and value.strip():
            keys.add(value.strip())
        elif name == b"cookie":
            session = _session_in(value) or session
    if len(keys) > 1:
        raise BadRequest("the headers name several keys", place="header")
    return Credentials(keys.pop().decode("latin-1") if keys else None, session)


def _session_in(cookies: bytes) -> str | None:
    given = dict(pair.strip().split(b"=", 1) for pair in cookies.split(b";") if b"=" in pair)
    for name in COOKIES:
        if token := given.get(name.encode()):
            return token.decode("latin-1")
    return None


async def caller_of(scope: Scope, ring: KeyRing, *, is_open: bool) -> Caller:
    """Return who asks; one without a scope where keys are needed and none was given.

    Raises:
        Unauthorized: a key that opens nothing.
        BadRequest: several keys.
        KeysUnreadable: nobody can say.
    """
    address = (scope.get("client") or ("", 0))[0]
    credentials = credentials_of(scope["headers"])
    needed = await ring.are_needed()
    given = credentials.key
    if given is not None and is_open and not given.startswith(PREFIX):
        given = None  # a placeholder of a program that always sends one
    if needed and given is not None:
        key = await ring.find(given)
        if key is None:
            raise Unauthorized(WRONG_KEY)
        return Caller.of(key, address)
    if needed and credentials.session is not None:
        key = await ring.find_session(credentials.session)
        if key is not None:
            return Caller.of(key, address, by_cookie=True)
    is_local = is_loopback(address) and not any(name in FORWARDED for name, _ in scope["headers"])
    if is_open:
        return Caller(address, ("read",), is_local=is_local)
    if needed:
        return Caller(address, is_local=is_local)
    return Caller(address, SCOPES if is_local else ("read",), is_local=is_local)
