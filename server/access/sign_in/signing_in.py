"""Sign-in of persons: at an OpenID Connect provider, or by the header of a trusted proxy; their rights.

A person is known by a pseudonym: a keyed hash of the provider and its name for the person. The key is random
and stored only in the home folder, so the pseudonym cannot be computed from a list of names.
"""

import asyncio
import hmac
import json
import re
import secrets
import time
from base64 import b32encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address, ip_network
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from base.logs import get_logger
from base.settings.fields import listed
from base.untrusted import one_line
from server.access.callers import Caller
from server.access.keys import Session, add_session, digest_of, end_sessions_of
from server.errors import BadRequest, Forbidden, ProviderFailed, SignInFailed
from server.settings import ROLES, GroupRights, ServerSettings, SignInSettings
from server.store import Store

if TYPE_CHECKING:
    from server.access.sign_in.provider import Provider

CALLBACK = "/sign-in/callback"
BACK_CHANNEL = "/sign-in/back-channel-logout"
PSEUDONYMS = "pseudonyms"  # the secret of their hashes
PSEUDONYM_BYTES = 10
EVERYBODY = "*"  # the group of everybody who signs in
MOST_GROUPS = 1_000  # of a person
LONGEST_NAME = 100
LONGEST_PATH = 2_000  # bytes; a browser keeps cookies of at most 4,096
SIGN_IN_S = 600.0  # time for entering a password at the provider
RESERVED = "/?#[]@!$&'()*+,;=:%-._~"  # not escaped in a path
PEER = "peer"  # of the scope's state: the address of the connection, before X-Forwarded-For
SEPARATORS = re.compile(r"[,;]")

log = get_logger("server")


class SignIn:
    """The sign-in of a server, for one event loop."""

    def __init__(self, settings: SignInSettings, server: ServerSettings, store: Store) -> None:
        """Open the sign-in of the settings.

        Raises:
            StoreUnusable: the store cannot be written.
            OSError, ValueError: the client's secret cannot be read.
        """
        self._settings, self._store = settings, store
        self._secret = store.secret(PSEUDONYMS)
        self._public_url = server.public_url
        self._provider: Provider | None = None
        if settings.issuer:
            from server.access.sign_in import provider

            self._provider = provider.Provider(settings, server.public_url + CALLBACK)

    @property
    def has_provider(self) -> bool:
        """Whether persons sign in at an OpenID Connect provider."""
        return self._provider is not None

    @property
    def provider(self) -> "Provider":
        """The provider; raises SignInFailed without one."""
        if self._provider is None:
            raise SignInFailed("this server has no sign-in; use a key", reason="provider")
        return self._provider

    async def begin(self, returns_to: str) -> tuple[str, str, str]:
        """Start a sign-in; return the address at the provider, its state, and the cookie of the browser.

        `returns_to` is an address within this server, others become the first page.

        Raises:
            ProviderFailed: the provider is not available.
        """
        begun = await self.provider.begin()
        started = [begun["state"], begun["nonce"], begun["code_verifier"], local_path(returns_to)]
        cookie = urlsafe_b64encode(json.dumps([time.time() + SIGN_IN_S, *started]).encode())
        return begun["url"], begun["state"], cookie.decode()

    async def finish(
        self, given: Mapping[str, str], cookie: str | None, *, address: str, replaced: str | None
    ) -> tuple[str, Caller, str]:
        """Take the provider's response to a sign-in that this browser started, and begin a session.

        Returns its token, which is always new, the caller, and the path to return to. `replaced` is the token
        of the browser's previous session, which ends.

        Raises:
            SignInFailed: the response or its ID token is invalid, or no group of the person has rights.
            ProviderFailed: the provider is not available.
            StoreUnusable: the store cannot be written.
        """
        settings, now = self._settings, time.time()
        state, nonce, verifier, returns_to = _started(cookie, now)
        if not compare_digest(state.encode(), given.get("state", "").encode()):
            raise SignInFailed("another browser started this sign-in; sign in again", reason="state")
        if "error" in given:
            log.warning("sign-in refused by the provider", error=one_line(given["error"])[:100])
            raise SignInFailed("the provider did not sign you in", reason="provider")
        claims = await self.provider.claims(given.get("code", ""), verifier, nonce, given.get("iss"))
        groups = _known_groups(claim_of(claims, settings.groups_claim), settings.groups)
        name = claim_of(claims, settings.name_claim)
        session = Session(
            digest_of(token := secrets.token_urlsafe(32)),
            now + settings.hours * 3_600,
            now,
            person=self._pseudonym(settings.issuer, claims["sub"]),
            name=name[:LONGEST_NAME] if isinstance(name, str) and name.isprintable() else "",
            groups=json.dumps(groups),
        )
        if (caller := self.caller(session, address)) is None:
            raise SignInFailed("no group of this account has rights here; ask the operator", reason="rights")
        before = digest_of(replaced) if replaced else None
        await asyncio.to_thread(add_session, self._store, session, replaced=before)
        return token, caller, returns_to

    @property
    def idle_s(self) -> float:
        """Seconds without a call after which a session ends."""
        return self._settings.idle_minutes * 60

    def caller(self, session: Session, address: str) -> Caller | None:
        """Return the person of a session, with the rights of the current settings; None without rights."""
        if self._provider is None:
            return None
        ends = datetime.fromtimestamp(int(session.expires), UTC)
        caller = Caller(address, label=session.name, expires=ends, by_cookie=True, person=session.person)
        caller = _with_rights(caller, json.loads(session.groups), self._settings.groups)
        return caller if caller.role else None

    def find_in_headers(self, scope: Scope, address: str) -> Caller | None:
        """Return the person whom the trusted proxy names; None if it names none, or one without rights.

        Raises:
            Forbidden: an address that is not the proxy's sent the headers.
            BadRequest: a header is repeated or not UTF-8.
        """
        settings = self._settings
        if not settings.user_header:
            return None
        user = _value(scope, settings.user_header)
        groups = _value(scope, settings.groups_header) if settings.groups_header else None
        if user is None and groups is None:
            return None
        if not _is_trusted(scope["state"].get(PEER, address), settings.header_from):
            raise Forbidden(f"the header {settings.user_header} is accepted only from the sign-in proxy")
        if not user:
            return None
        person = self._pseudonym(settings.user_header.lower(), user)
        caller = Caller(address, label=user[:LONGEST_NAME], person=person, by_proxy=True)
        named = [group for each in SEPARATORS.split(groups or "") if (group := each.strip())]
        return _with_rights(caller, _known_groups(named, settings.groups), settings.groups)

    async def end_sessions_at(self, logout_token: str) -> tuple[str, int]:
        """End all sessions of the person whom a logout token names; return the pseudonym and their number.

        Raises:
            SignInFailed: the token is invalid.
            ProviderFailed, StoreUnusable: as `finish`.
        """
        subject = await self.provider.logged_out_subject(logout_token)
        person = self._pseudonym(self._settings.issuer, subject)
        return person, await asyncio.to_thread(end_sessions_of, self._store, person)

    async def sign_out_address(self, *, by_proxy: bool) -> str | None:
        """Return the address at which the session of the provider or proxy ends; None if there is none."""
        if by_proxy:
            return self._settings.sign_out_url or None
        try:
            return await self._provider.sign_out_address(f"{self._public_url}/") if self._provider else None
        except ProviderFailed:  # the session of this server has ended all the same
            return None

    def _pseudonym(self, provider: str, subject: str) -> str:
        """Return the pseudonym of a person: 16 letters and digits."""
        digest = hmac.new(self._secret, f"{provider}\0{subject}".encode(), sha256).digest()
        return b32encode(digest[:PSEUDONYM_BYTES]).decode().lower()


def _started(cookie: str | None, now: float) -> tuple[str, str, str, str]:
    """Return state, nonce, verifier and path of a started sign-in; raise SignInFailed if it has expired."""
    try:
        ends, *started = json.loads(urlsafe_b64decode(cookie or ""))
        state, nonce, verifier, returns_to = map(str, started)
        f"{state}{nonce}{verifier}".encode()  # a changed cookie may contain lone surrogates
        if now < ends:
            return state, nonce, verifier, local_path(returns_to)
    except (ValueError, TypeError, RecursionError):
        pass
    raise SignInFailed("this sign-in is finished or has expired; sign in again", reason="browser")


def _known_groups(value: Any, table: Mapping[str, GroupRights]) -> tuple[str, ...]:
    """Return the groups in a claim or header that have rights; other values have none."""
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    known = (each for each in given[:MOST_GROUPS] if isinstance(each, str) and each in table)
    return tuple(dict.fromkeys(known))


def _with_rights(caller: Caller, groups: Iterable[str], table: Mapping[str, GroupRights]) -> Caller:
    """Return a caller with the highest role of its groups and all their indexes and sources.

    It has no role if the table has neither `*` nor a group of the person.
    """
    rights = [table[group] for group in dict.fromkeys((*groups, EVERYBODY)) if group in table]
    if not rights:
        return caller
    role = max((each.role for each in rights), key=ROLES.index)
    has_all = role == ROLES[-1] or any(not each.indexes and not each.sources for each in rights)
    limited = () if has_all else rights
    indexes, sources = (
        tuple(dict.fromkeys(chain.from_iterable(names)))
        for names in ((each.indexes for each in limited), (each.sources for each in limited))
    )
    return replace(caller, role=role, indexes=indexes, sources=sources)


def claim_of(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim by its name, or by a path of names with dots, like `realm_access.roles`."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


class Proxies(ProxyHeadersMiddleware):
    """Trusted proxies; the address of the connection, which X-Forwarded-For replaces, is recorded before."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a call on."""
        if scope["type"] == "http":
            scope.setdefault("state", {})[PEER] = (scope.get("client") or ("", 0))[0]
        await super().__call__(scope, receive, send)


def _value(scope: Scope, header: str) -> str | None:
    name = header.lower().encode()
    found = [value for given, value in scope["headers"] if given == name]
    if len(found) > 1:
        raise BadRequest(f"the header {header} is repeated", place="header")
    try:
        return found[0].decode().strip() if found else None
    except UnicodeDecodeError:
        raise BadRequest(f"the header {header} must be UTF-8", place="header") from None


def _is_trusted(peer: str, networks: str) -> bool:
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in ip_network(network, strict=False) for network in listed(networks))


def local_path(given: str) -> str:
    r"""Return a path with its query if it is an address of this server, otherwise the first page.

    Browsers read `//host`, `/\host` and such addresses with white space in them as another host.
    """
    if not given.startswith("/") or given.startswith("//") or "\\" in given or not given.isprintable():
        return "/"
    path = quote(given, safe=RESERVED)
    return path if len(path) <= LONGEST_PATH else "/"
