"""An OpenID Connect provider by Authlib's client: sign-in, sign-out, and Back-Channel Logout 1.0."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from authlib.common.urls import add_params_to_uri
from authlib.integrations.base_client import OAuthError
from authlib.integrations.starlette_client import OAuth
from authlib.oauth2.claims import JWTClaims
from joserfc.errors import JoseError

from base.files.regular_files import read_secret
from base.logs import get_logger
from base.untrusted import one_line
from server.access.sign_in.signing_in import claim_of
from server.errors import ProviderFailed, SignInFailed
from server.settings import SignInSettings

METADATA = "/.well-known/openid-configuration"
USED_FOR_S = 3_600.0  # metadata and keys
PATIENCE_S = 10.0  # for one response
CLOCK_SKEW_S = 60
# Signatures by public keys only: with `none` or a shared secret anybody could make a token from public data.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_S = 300  # age at which a logout token is refused; a younger one can be used again

log = get_logger("server")


def _is_logout(_: object, events: object) -> bool:
    return isinstance(events, dict) and LOGOUT_EVENT in events


class Provider:
    """The provider of the settings, for one event loop."""

    def __init__(self, settings: SignInSettings, redirect_uri: str) -> None:
        """Read the client's secret.

        Raises:
            OSError, ValueError: the secret cannot be read.
        """
        self._settings, self._redirect_uri = settings, redirect_uri
        secret = settings.client_secret_file and read_secret(settings.client_secret_file)
        self._client = OAuth().register(
            "provider",
            client_id=settings.client_id,
            client_secret=secret or None,
            server_metadata_url=settings.issuer + METADATA,
            client_kwargs={
                "scope": settings.scopes,
                "code_challenge_method": "S256",
                "timeout": PATIENCE_S,
                "trust_env": False,
                **({} if secret else {"token_endpoint_auth_method": "none"}),
            },
        )

    async def begin(self) -> dict[str, Any]:
        """Return the address at which a person signs in (`url`), its `state`, `nonce` and `code_verifier`.

        Raises:
            ProviderFailed: the provider is not available, or its metadata is invalid.
        """
        async with self._answering():
            await self._metadata()
            begun: dict[str, Any] = await self._client.create_authorization_url(self._redirect_uri)
        return begun

    async def claims(self, code: str, verifier: str, nonce: str, issuer: str | None) -> dict[str, Any]:
        """Exchange a code for the claims of a person.

        `issuer` is the parameter `iss` of the provider's response (RFC 9207).

        Raises:
            SignInFailed: the code or the ID token is invalid.
            ProviderFailed: the provider is not available or violates its protocol.
        """
        async with self._answering():
            metadata = await self._metadata()
            if issuer not in {None, metadata["issuer"]}:
                raise SignInFailed("the response is of another provider", reason="iss")
            tokens = await self._client.fetch_access_token(
                code=code, redirect_uri=self._redirect_uri, code_verifier=verifier
            )
            options = self._for_this_server(metadata) | {"nonce": {"essential": True}}
            claims = await self._client.parse_id_token(
                tokens, nonce, claims_options=options, leeway=CLOCK_SKEW_S
            )
            if not isinstance(claims["sub"], str) or not claims["sub"]:
                raise SignInFailed("the ID token names nobody", reason="sub")
            is_incomplete = claim_of(claims, self._settings.groups_claim) is None
            if is_incomplete and "userinfo_endpoint" in metadata and "access_token" in tokens:
                found = await self._client.userinfo(token=tokens)
                if found.get("sub") != claims["sub"]:
                    raise SignInFailed("the claims are of another person", reason="sub")
                return {**found, **claims}
        return dict(claims)

    async def logged_out_subject(self, token: str) -> str:
        """Return the person, as the provider names it, whose sessions a logout token ends.

        Raises:
            SignInFailed: the token is invalid, or names a session in place of a person.
            ProviderFailed: the provider is not available or violates its protocol.
        """
        async with self._answering():
            options = self._for_this_server(await self._metadata())
            options |= {
                "sub": {"essential": True},
                "jti": {"essential": True},
                "iat": {"essential": True, "validate": lambda _, at: at >= time.time() - LOGOUT_S},
                "events": {"essential": True, "validate": _is_logout},
                "nonce": {"validate": lambda *_: False},  # it would be an ID token
            }
            claims = await self._client.parse_id_token(
                {"id_token": token}, None, claims_options=options, claims_cls=JWTClaims, leeway=CLOCK_SKEW_S
            )
        return str(claims["sub"])

    async def sign_out_address(self, returns_to: str) -> str | None:
        """Return the address at which a person ends the provider's session; None if it has none.

        OpenID Connect RP-Initiated Logout 1.0. No ID token is sent, as none is stored.
        """
        async with self._answering():
            endpoint = (await self._metadata()).get("end_session_endpoint")
        parameters = {"client_id": self._settings.client_id, "post_logout_redirect_uri": returns_to}
        return add_params_to_uri(endpoint, parameters) if endpoint else None

    def _for_this_server(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return the claims that a token of the provider for this server must have."""
        needed = {"iss": metadata["issuer"], "aud": self._settings.client_id}
        return {name: {"essential": True, "value": value} for name, value in needed.items()}

    async def _metadata(self) -> Mapping[str, Any]:
        """Return the provider's metadata, at most an hour old."""
        metadata: dict[str, Any] = self._client.server_metadata
        if metadata.get("_loaded_at", 0) + USED_FOR_S < time.time():
            metadata.clear()
            await self._client.load_server_metadata()
            if metadata.get("issuer", "") not in {self._settings.issuer, f"{self._settings.issuer}/"}:
                metadata.clear()
                raise self._failed("its metadata names another issuer")
            announced = metadata.get("id_token_signing_alg_values_supported") or ALGORITHMS
            accepted = [each for each in announced if each in ALGORITHMS]
            metadata["id_token_signing_alg_values_supported"] = accepted or list(ALGORITHMS)
        return metadata

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        """Raise errors of the client as errors of this server."""
        try:
            yield
        except OAuthError as error:
            log.warning("sign-in refused by the provider", error=one_line(str(error))[:100])
            if error.error == "invalid_client":
                raise self._failed("it does not accept the client id and secret") from error
            raise SignInFailed("the provider refuses the code; sign in again", reason="code") from error
        except JoseError as error:
            claim = getattr(error, "claim", "") or ""
            shown = f" ({claim})" if claim else ""
            raise SignInFailed(f"the token is invalid{shown}", reason=claim or "token") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
            raise self._failed(f"{type(error).__name__}: {one_line(str(error))}") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SignInFailed("the token is malformed", reason="token") from error

    def _failed(self, reason: str) -> ProviderFailed:
        log.error("sign-in provider failed", provider=self._settings.issuer, reason=reason)
        return ProviderFailed(f"{self._settings.issuer}: {reason}")
