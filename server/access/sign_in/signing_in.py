"""Sign-in of persons in a running server: starting, finishing, sessions, signing out."""

import asyncio
import json
import secrets
import time
from datetime import UTC, datetime
from hmac import compare_digest
from typing import TYPE_CHECKING

from starlette.types import Scope

from server.access.keys import digest_of
from server.access.sessions import (
    SIGN_IN_S,
    Session,
    SignInBegun,
    add_session,
    begin_sign_in,
    end_sessions_of,
    find_session,
    take_sign_in,
)
from server.access.sign_in.local_path import local_path
from server.access.sign_in.people import Person, claim_of, known_groups, person_with_rights, pseudonym_of
from server.access.sign_in.proxy_header import named_by_proxy
from server.errors import ProviderFailed, SessionsUnreadable, SignInFailed, StoreUnusable
from server.settings import ServerSettings, SignInSettings
from server.store import Store

if TYPE_CHECKING:
    from server.access.sign_in.provider import Provider

CALLBACK = "/sign-in/callback"
BACK_CHANNEL = "/sign-in/back-channel-logout"
SESSION_MARK = "p."  # begins the cookie of a person's session; keys' sessions have no dot
PSEUDONYMS = "pseudonyms"  # the secret of their hashes


class SignIn:
    """The sign-in of a server, for one event loop."""

    def __init__(
        self,
        settings: SignInSettings,
        store: Store,
        public_url: str,
        provider: "Provider | None",
    ) -> None:
        """`public_url` is the address of this server for readers."""
        self._settings, self._store = settings, store
        self._secret = store.secret(PSEUDONYMS)
        self._public_url = public_url
        self._provider = provider

    @property
    def has_provider(self) -> bool:
        """Whether persons sign in at an OpenID Connect provider."""
        return self._provider is not None

    async def begin(self, returns_to: str) -> tuple[str, str]:
        """Start a sign-in; return the address at the provider, and the secret of the browser's cookie.

        `returns_to` is an address within this server, others become the first page.

        Raises:
            ProviderFailed: the provider is not available.
            StoreUnusable: the store cannot be written.
        """
        begun, browser = await self._with_provider().begin(), secrets.token_urlsafe(32)
        started = SignInBegun(
            digest_of(begun["state"]),
            digest_of(browser),
            begun["nonce"],
            begun["code_verifier"],
            local_path(returns_to),
            time.time() + SIGN_IN_S,
        )
        await asyncio.to_thread(begin_sign_in, self._store, started)
        return begun["url"], browser

    async def started(self, state: str, browser: str | None) -> SignInBegun:
        """Return the sign-in that a response of the provider belongs to; it can be used once.

        Raises:
            SignInFailed: it is unknown, finished or expired, or another browser started it.
        """
        found = await asyncio.to_thread(take_sign_in, self._store, digest_of(state))
        if found is None:
            raise SignInFailed("this sign-in is finished or has expired; sign in again", reason="state")
        if not compare_digest(digest_of(browser or ""), found.browser):
            raise SignInFailed("another browser started this sign-in; sign in again", reason="browser")
        return found

    async def finish(
        self, started: SignInBegun, code: str, issuer: str | None, *, replaced: str | None
    ) -> tuple[str, Person]:
        """Exchange the code and begin a session; return its token, which is always new, and the person.

        `replaced` is the token of the browser's previous session, which ends.

        Raises:
            SignInFailed: the code or the ID token is invalid, or no group of the person has rights.
            ProviderFailed, StoreUnusable: as `begin`.
        """
        settings = self._settings
        claims = await self._with_provider().claims(code, started, issuer)
        groups = known_groups(claim_of(claims, settings.groups_claim), settings.groups)
        name = claim_of(claims, settings.name_claim)
        now = time.time()
        expires = now + settings.hours * 3_600
        person = person_with_rights(
            pseudonym_of(self._secret, settings.issuer, claims["sub"]),
            name if isinstance(name, str) and name.isprintable() else "",
            groups,
            settings.groups,
            _moment(expires),
        )
        if person is None:
            raise SignInFailed("no group of this account has rights here; ask the operator", reason="rights")
        token = SESSION_MARK + secrets.token_urlsafe(32)
        session = Session(
            digest_of(token), expires, now, person=person.id, name=person.name, groups=json.dumps(groups)
        )
        before = digest_of(replaced) if replaced else None
        await asyncio.to_thread(add_session, self._store, session, replaced=before)
        return token, person

    def find_session(self, token: str) -> Person | None:
        """Return the person of a session, with the rights of the current settings; None if it has ended.

        Raises:
            SessionsUnreadable: the store cannot be read.
        """
        settings = self._settings
        if self._provider is None:
            return None
        try:
            found = find_session(self._store, digest_of(token), idle_s=settings.idle_minutes * 60)
        except StoreUnusable as error:
            raise SessionsUnreadable(error.what, remedy=error.remedies) from error
        if found is None:
            return None
        return person_with_rights(
            found.person, found.name, json.loads(found.groups), settings.groups, _moment(found.expires)
        )

    def find_in_headers(self, scope: Scope) -> Person | None:
        """Return the person whom the trusted proxy names; None if it names none, or one without rights.

        Raises:
            Forbidden, BadRequest: as `named_by_proxy`.
        """
        settings = self._settings
        if (named := named_by_proxy(scope, settings)) is None:
            return None
        user, groups = named
        pseudonym = pseudonym_of(self._secret, settings.user_header.lower(), user)
        return person_with_rights(
            pseudonym, user, known_groups(groups, settings.groups), settings.groups
        ) or Person(pseudonym, user, None)

    async def end_sessions_at(self, logout_token: str) -> tuple[Person, int]:
        """End all sessions of the person whom a logout token names; return the person and their number.

        Raises:
            SignInFailed: the token is invalid.
            ProviderFailed, StoreUnusable: as `begin`.
        """
        subject = await self._with_provider().logged_out_subject(logout_token)
        person = pseudonym_of(self._secret, self._settings.issuer, subject)
        ended = await asyncio.to_thread(end_sessions_of, self._store, person)
        return Person(person, "", None), ended

    async def sign_out_address(self, *, by_proxy: bool) -> str | None:
        """Return the address at which the session of the provider or proxy ends; None if there is none."""
        if by_proxy:
            return self._settings.sign_out_url or None
        try:
            return await self._provider.sign_out_address(f"{self._public_url}/") if self._provider else None
        except ProviderFailed:  # the session of this server has ended all the same
            return None

    def address_of(self, path: str) -> str:
        """Return the public address of a path."""
        return f"{self._public_url}{path}"

    def _with_provider(self) -> "Provider":
        if self._provider is None:
            raise SignInFailed("this server has no sign-in; use a key", reason="provider")
        return self._provider


def open_sign_in(settings: SignInSettings, server: ServerSettings, store: Store) -> SignIn | None:
    """Open the sign-in of the settings, None if they have none.

    Raises:
        StoreUnusable: the store cannot be written.
        OSError, ValueError: the client's secret cannot be read.
    """
    if not settings.is_used:
        return None
    provider = None
    if settings.issuer:
        from server.access.sign_in.provider import Provider

        provider = Provider(settings, server.public_url + CALLBACK)
    return SignIn(settings, store, server.public_url, provider)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
