"""The caller of a request, found by its key or by the page's session.

| keys | without a key and a session | with a key, or a session |
|---|---|---|
| no key was ever made, or `--open` | reads | the role of the key or person |
| a key was made, or a sign-in | only the page's files and liveness | the role of the key or person |

The address alone gives no rights: a proxy on this machine may forward requests without a trace. With the
setting `local_operator`, and while no key was ever made, callers from this machine are the operator. Requests
with the marks of a proxy (a header, HTTP/1.0) remain readers.
"""

import math
import re

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from base.net.addresses import is_loopback
from server.access.callers import Caller
from server.access.keys import PREFIX, Keys, find_session
from server.access.sign_in.signing_in import SignIn
from server.errors import BadRequest, SessionEnded, Unauthorized
from server.settings import ServerSettings

HOST_COOKIE, PLAIN_COOKIE = "__Host-shrag", "shrag"  # the first with https: no other host can set it
FORWARDED = frozenset({b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via"})
BEARER = re.compile(rb"bearer +([\x21-\x7e]+)\s*", re.IGNORECASE)
SESSION_ENDED = "the session has ended; sign in, or give the key, again"
WRONG_KEY = "the key is wrong, has expired or was revoked"


def cookie_name(scope: Scope, settings: ServerSettings) -> str:
    """Return the name of the page's cookie, which depends on whether the browser uses https."""
    return HOST_COOKIE if scope["scheme"] == "https" or settings.behind_https else PLAIN_COOKIE


def cookie_in(scope: Scope, name: str) -> str | None:
    """Return the value of a cookie, None if it was not sent."""
    return Request(scope).cookies.get(name) or None


def set_cookie(response: Response, name: str, value: str = "", seconds: int = 0, suffix: str = "") -> None:
    """Set a cookie that no script reads, by default delete it.

    Lax: a browser that follows a link from another site, like the provider's, has to send it.
    """
    response.set_cookie(
        name + suffix,
        value,
        max_age=seconds,
        path="/",
        secure=name == HOST_COOKIE,
        httponly=True,
        samesite="lax",
    )


def deleted_cookie(name: str) -> tuple[bytes, bytes]:
    """Return the header that deletes the page's cookie."""
    response = Response()
    set_cookie(response, name)
    return response.raw_headers[-1]


def _key_in(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Read `Authorization: Bearer` and `X-API-Key`; other schemes are ignored.

    Raises:
        BadRequest: the headers name several keys.
    """
    keys = {value.strip() for name, value in headers if name == b"x-api-key"} - {b""}
    authorizations = (value for name, value in headers if name == b"authorization")
    keys |= {found[1] for value in authorizations if (found := BEARER.fullmatch(value.strip()))}
    if len(keys) > 1:
        raise BadRequest("the headers name several keys", place="header")
    return keys.pop().decode("latin-1") if keys else None


def caller_of(scope: Scope, keys: Keys, settings: ServerSettings, sign_in: SignIn | None = None) -> Caller:
    """Return the caller of a request; it has no role if keys are needed and none was given.

    Raises:
        SessionEnded: the cookie is of a session that has ended.
        Unauthorized: the key is invalid.
        Forbidden: another address than the proxy's names a person.
        BadRequest: the headers name several keys, or are unreadable.
        StoreUnusable: the key or session cannot be checked.
    """
    address = (scope.get("client") or ("", 0))[0]
    given, session = _key_in(scope["headers"]), cookie_in(scope, cookie_name(scope, settings))
    if given is not None and settings.open and not given.startswith(PREFIX):
        given = None  # placeholder of a client that always sends a key
    # An open server answers callers without a key even if no key can be checked.
    needed = sign_in is not None or ((not settings.open or bool(given or session)) and keys.are_needed())
    by_proxy = sign_in and sign_in.find_in_headers(scope, address)
    if needed and given is not None:
        key = keys.find(given)
        if key is None:
            raise Unauthorized(WRONG_KEY)
        return Caller.of(key, address)
    if by_proxy:
        return by_proxy
    if needed and session is not None:
        found = _caller_of_session(session, address, keys, sign_in)
        if found is not None:
            return found
        if not settings.open:
            raise SessionEnded(SESSION_ENDED)
    may_be_local = settings.local_operator and settings.only_local
    # By their headers or, as some proxies speak it, HTTP/1.0.
    is_forwarded = scope["http_version"] == "1.0" or any(name in FORWARDED for name, _ in scope["headers"])
    is_local = may_be_local and is_loopback(address) and not is_forwarded
    if settings.open:
        return Caller(address, "reader", is_local=is_local)
    if needed:
        return Caller(address, is_local=is_local)
    return Caller(address, "operator" if is_local else "reader", is_local=is_local)


def _caller_of_session(session: str, address: str, keys: Keys, sign_in: SignIn | None) -> Caller | None:
    """Return the caller of the page's cookie; None if the session has ended."""
    found = find_session(keys.store, session, idle_s=sign_in.idle_s if sign_in else math.inf)
    if found is None:
        return None
    if found.person:
        return sign_in.caller(found, address) if sign_in else None
    key = keys.active(found.key_id)
    return Caller.of(key, address, by_cookie=True) if key else None
