"""The caller of a request, found by its key or by the page's session.

| keys | without a key | with one |
|---|---|---|
| no key was ever made, or `--open` | reads | the role of the key |
| a key store exists | only the page's files and the liveness check | the role of the key |

If no key was ever made, a caller from this machine is the operator and may also administer. This does not
apply if a proxy or another name is set, as other callers then arrive through this machine, nor to HTTP/1.0
requests, which proxies send.
"""

import re
from dataclasses import dataclass

from starlette.types import Scope

from base.net.networks import is_loopback
from server.access.callers import Caller
from server.access.key_ring import KeyRing
from server.access.keys import PREFIX
from server.errors import BadRequest, Unauthorized
from server.settings import ServerSettings

HOST_COOKIE, PLAIN_COOKIE = "__Host-shrag", "shrag"  # the first with https: no other host can set it
FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
BEARER = re.compile(rb"bearer +([\x21-\x7e]+)\s*", re.IGNORECASE)
SESSION_ENDED = "the session has ended; give the key again"
WRONG_KEY = "the key is wrong, has expired or was revoked"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials in a request."""

    key: str | None = None
    session: str | None = None


def cookie_name(scope: Scope, settings: ServerSettings) -> str:
    """Return the name of the page's cookie, which depends on whether the browser uses https."""
    return HOST_COOKIE if scope["scheme"] == "https" or settings.behind_https else PLAIN_COOKIE


def credentials_of(headers: list[tuple[bytes, bytes]], cookie: str) -> Credentials:
    """Read `Authorization: Bearer`, `X-API-Key` and the named cookie; other schemes are ignored.

    Raises:
        BadRequest: the headers name several keys.
    """
    keys = set()
    session = None
    for name, value in headers:
        if name == b"authorization" and (found := BEARER.fullmatch(value.strip())):
            keys.add(found[1])
        elif name == b"x-api-key" and value.strip():
            keys.add(value.strip())
        elif name == b"cookie":
            session = _session_in(value, cookie) or session
    if len(keys) > 1:
        raise BadRequest("the headers name several keys", place="header")
    return Credentials(keys.pop().decode("latin-1") if keys else None, session)


def _session_in(cookies: bytes, name: str) -> str | None:
    given = dict(pair.strip().split(b"=", 1) for pair in cookies.split(b";") if b"=" in pair)
    token = given.get(name.encode())
    return token.decode("latin-1") if token else None


async def caller_of(scope: Scope, ring: KeyRing, settings: ServerSettings) -> Caller:
    """Return the caller of a request; it has no role if keys are needed and none was given.

    Raises:
        Unauthorized: the key or session is invalid.
        BadRequest: the headers name several keys.
        KeysUnreadable: the key cannot be checked.
    """
    address = (scope.get("client") or ("", 0))[0]
    credentials = credentials_of(scope["headers"], cookie_name(scope, settings))
    needed = await ring.are_needed()
    given = credentials.key
    if given is not None and settings.open and not given.startswith(PREFIX):
        given = None  # placeholder of a client that always sends a key
    if needed and given is not None:
        key = await ring.find(given)
        if key is None:
            raise Unauthorized(WRONG_KEY)
        return Caller.of(key, address)
    if needed and credentials.session is not None:
        key = await ring.find_session(credentials.session)
        if key is not None:
            return Caller.of(key, address, by_cookie=True)
        if not settings.open:
            raise Unauthorized(SESSION_ENDED)
    is_local = settings.only_local and is_loopback(address) and not _is_passed_on(scope)
    if settings.open:
        return Caller(address, "reader", is_local=is_local)
    if needed:
        return Caller(address, is_local=is_local)
    return Caller(address, "operator" if is_local else "reader", is_local=is_local)


def _is_passed_on(scope: Scope) -> bool:
    """Check whether a proxy forwarded the request: by its headers or, as some proxies speak it, HTTP/1.0."""
    return scope["http_version"] == "1.0" or any(name in FORWARDED for name, _ in scope["headers"])
