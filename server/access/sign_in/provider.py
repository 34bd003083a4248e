"""An OpenID Connect provider: its metadata and keys, the exchange of a code, its sign-out.

Metadata: OpenID Connect Discovery 1.0. Requests: OAuth 2.0 (RFC 6749) with PKCE (RFC 7636). Requests are made
by authlib, and sent by the project's HTTP client, whose responses are bounded. Authlib's own client is made
for httpx2, has no such bounds, and follows the environment's proxies.
"""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request

from base.files.regular_files import read_secret
from base.logs import get_logger
from base.net.http_client import exchange, open_client
from base.net.networks import is_loopback
from base.untrusted import one_line, read_json
from server.access.sign_in.id_token import (
    ALGORITHMS,
    UnknownSigningKey,
    key_id_of,
    logged_out_subject,
    signing_key,
    valid_claims,
)
from server.access.sign_in.people import claim_of
from server.errors import ProviderFailed, SignInFailed
from server.settings import SignInSettings

METADATA = "/.well-known/openid-configuration"
USED_FOR_S = 3_600.0  # metadata and keys
KEYS_AGAIN_S = 10.0  # least interval between two requests for keys
FAILED_AGAIN_S = 2.0  # least interval between a failed request for metadata or keys and the next
PATIENCE_S = 10.0  # for one response
MOST_BYTES = 500_000
LONGEST_CODE = 4_000
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
OPTIONAL_ENDPOINTS = ("userinfo_endpoint", "end_session_endpoint")

log = get_logger("server")


class Provider:
    """The provider of the settings, for one event loop."""

    def __init__(
        self, settings: SignInSettings, redirect_uri: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        """Read the client's secret. `transport` replaces the network.

        Raises:
            OSError, ValueError: the secret cannot be read.
        """
        self._settings, self._redirect_uri = settings, redirect_uri
        secret = settings.client_secret_file and read_secret(settings.client_secret_file)
        self._secret = secret or ""
        self._client = open_client(settings.issuer, None, headers={}, transport=transport)
        self._metadata: Mapping[str, Any] = {}
        self._keys: list[Any] = []
        self._metadata_at = self._keys_at = -math.inf
        self._failures: dict[str, tuple[float, str]] = {}  # last failure by address: time, message
        self._reading = asyncio.Lock()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def metadata(self) -> Mapping[str, Any]:
        """Return the provider's metadata, at most an hour old.

        Raises:
            ProviderFailed: it is not available or invalid.
        """
        async with self._reading:
            if time.monotonic() > self._metadata_at + USED_FOR_S:
                self._metadata = await self._read(self._settings.issuer + METADATA, self._checked)
                self._metadata_at = time.monotonic()
            return self._metadata

    def _checked(self, found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check metadata: its issuer is the one of the settings, and all addresses are encrypted."""
        if found.get("issuer", "") not in {self._settings.issuer, f"{self._settings.issuer}/"}:
            raise self._failed("its metadata names another issuer")
        for name in ENDPOINTS + OPTIONAL_ENDPOINTS:
            address = found.get(name)
            if address is None and name in OPTIONAL_ENDPOINTS:
                continue
            if not isinstance(address, str) or not self._is_secure(address):
                raise self._failed(f"its {name} is missing or not encrypted")
        return found

    def _is_secure(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
        except ValueError:
            return False
        host = parts.hostname or ""
        is_here = self._settings.issuer.startswith("http://") and (host == "localhost" or is_loopback(host))
        return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_here))

    async def authorization_address(self, state: str, nonce: str, challenge: str) -> str:
        """Return the address at the provider at which a person signs in. Raises as `metadata`."""
        address: str = prepare_grant_uri(
            (await self.metadata())["authorization_endpoint"],
            self._settings.client_id,
            "code",
            self._redirect_uri,
            self._settings.scopes,
            state,
            nonce=nonce,
            code_challenge=challenge,
            code_challenge_method="S256",
        )
        return address

    async def claims(self, code: str, verifier: str, nonce: str, issuer: str | None) -> dict[str, Any]:
        """Exchange a code for the claims of a person.

        `issuer` is the parameter `iss` of the provider's response (RFC 9207).

        Raises:
            SignInFailed: the provider refuses the code, or the ID token is invalid.
            ProviderFailed: the provider is not available or violates its protocol.
        """
        metadata = await self.metadata()
        if issuer is None and metadata.get("authorization_response_iss_parameter_supported"):
            raise SignInFailed("the response does not name its provider", reason="iss")
        if issuer is not None and issuer != metadata["issuer"]:
            raise SignInFailed("the response is from another provider", reason="iss")
        if not 0 < len(code) <= LONGEST_CODE:
            raise SignInFailed("the response has no valid code", reason="code")
        tokens = await self._tokens(metadata, code, verifier)
        token, access = tokens.get("id_token"), tokens.get("access_token")
        if not isinstance(token, str):
            raise self._failed("it returned no ID token")
        access = access if isinstance(access, str) else None
        claims = await self._valid(metadata, token, access, nonce)
        if claim_of(claims, self._settings.groups_claim) is None and access:
            claims = await self._with_user_info(metadata, access, claims)
        return claims

    async def logged_out_subject(self, token: str) -> str:
        """Return the person, as the provider names it, whose sessions a logout token ends.

        Raises:
            SignInFailed: the token is invalid.
            ProviderFailed: the provider is not available or violates its protocol.
        """
        algorithm, key = await self._key_of(token)
        return logged_out_subject(
            token,
            key,
            issuer=(await self.metadata())["issuer"],
            client_id=self._settings.client_id,
            algorithm=algorithm,
        )

    async def sign_out_address(self, returns_to: str) -> str | None:
        """Return the address at which a person ends the provider's session; None if it has none.

        OpenID Connect RP-Initiated Logout 1.0. No ID token is sent, as none is stored.
        """
        endpoint = (await self.metadata()).get("end_session_endpoint")
        if endpoint is None:
            return None
        parameters = {"client_id": self._settings.client_id, "post_logout_redirect_uri": returns_to}
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    async def _tokens(self, metadata: Mapping[str, Any], code: str, verifier: str) -> Mapping[str, Any]:
        body = prepare_token_request(
            "authorization_code", code=code, redirect_uri=self._redirect_uri, code_verifier=verifier
        )
        ways = _listed(metadata, "token_endpoint_auth_methods_supported", ["client_secret_basic"])
        in_body = "client_secret_post" in ways and "client_secret_basic" not in ways
        way = "none" if not self._secret else "client_secret_post" if in_body else "client_secret_basic"
        auth = ClientAuth(self._settings.client_id, self._secret, way)
        address, headers, body = auth.prepare("POST", metadata["token_endpoint"], dict(FORM), body)
        return await self._json("POST", address, headers, body.encode(), refusals=True)

    async def _valid(
        self, metadata: Mapping[str, Any], token: str, access: str | None, nonce: str
    ) -> dict[str, Any]:
        algorithm, key = await self._key_of(token)
        return valid_claims(
            token,
            key,
            issuer=metadata["issuer"],
            client_id=self._settings.client_id,
            nonce=nonce,
            access_token=access,
            algorithms=[algorithm],
        )

    async def _key_of(self, token: str) -> tuple[str, Any]:
        """Return the algorithm and the key for a token's signature, which is not verified yet."""
        algorithm, key_id = key_id_of(token)  # before anything is read from the provider
        metadata = await self.metadata()
        announced = _listed(metadata, "id_token_signing_alg_values_supported", ALGORITHMS)
        if algorithm not in ALGORITHMS or algorithm not in announced:
            raise SignInFailed("the token is not signed by an accepted algorithm", reason="alg")
        return algorithm, await self._key(metadata["jwks_uri"], algorithm, key_id)

    async def _key(self, address: str, algorithm: str, key_id: str | None) -> Any:
        """Return the key of a token; the key set is read again if it is old or does not contain the key."""
        async with self._reading:
            now = time.monotonic()
            if now <= self._keys_at + USED_FOR_S:
                try:
                    return signing_key(self._keys, algorithm, key_id)
                except UnknownSigningKey:
                    if now <= self._keys_at + KEYS_AGAIN_S:
                        raise
            keys = (await self._read(address)).get("keys")
            self._keys, self._keys_at = keys if isinstance(keys, list) else [], now
            return signing_key(self._keys, algorithm, key_id)

    async def _with_user_info(
        self, metadata: Mapping[str, Any], access: str, claims: dict[str, Any]
    ) -> dict[str, Any]:
        """Add the claims of the UserInfo endpoint, where some providers keep groups (Core 1.0, 5.3)."""
        address = metadata.get("userinfo_endpoint")
        if address is None:
            return claims
        found = await self._json("GET", address, {"Authorization": f"Bearer {access}"})
        if found.get("sub") != claims["sub"]:
            raise SignInFailed("the claims are of another person", reason="sub")
        return {**found, **claims}

    async def _read(
        self, address: str, check: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda found: found
    ) -> Mapping[str, Any]:
        """Return the checked JSON object at an address; a failure is remembered for FAILED_AGAIN_S."""
        failed_at, reason = self._failures.get(address, (-math.inf, ""))
        if time.monotonic() <= failed_at + FAILED_AGAIN_S:
            raise ProviderFailed(reason)
        try:
            return check(await self._json("GET", address))
        except ProviderFailed as error:
            self._failures[address] = time.monotonic(), str(error)
            raise

    async def _json(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        *,
        refusals: bool = False,
    ) -> Mapping[str, Any]:
        """Send a request and return the JSON object of its response.

        With `refusals`, a response of the status 400 or 401 raises SignInFailed.
        """
        try:
            answer = await exchange(
                self._client,
                method,
                address,
                content,
                headers=headers,
                seconds=PATIENCE_S,
                most_bytes=MOST_BYTES,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failed(f"{type(error).__name__}: {one_line(str(error))}") from error
        try:
            found = read_json(answer.content)
        except ValueError:
            found = None
        if refusals and answer.status_code in {httpx.codes.BAD_REQUEST, httpx.codes.UNAUTHORIZED}:
            code = one_line(str(found.get("error", "")))[:100] if isinstance(found, dict) else ""
            log.warning("sign-in refused by the provider", error=code)
            if code == "invalid_client":
                raise self._failed("it does not accept the client id and secret")
            raise SignInFailed("the provider refuses the code; sign in again", reason="code")
        if answer.status_code != httpx.codes.OK or not isinstance(found, dict):
            raise self._failed(f"{urlsplit(address).path} answers with status {answer.status_code}")
        return found

    def _failed(self, reason: str) -> ProviderFailed:
        log.error("sign-in provider failed", provider=self._settings.issuer, reason=reason)
        return ProviderFailed(f"{self._settings.issuer}: {reason}")


def _listed(metadata: Mapping[str, Any], name: str, otherwise: Collection[str]) -> Collection[str]:
    found = metadata.get(name)
    return found if isinstance(found, list) else otherwise
