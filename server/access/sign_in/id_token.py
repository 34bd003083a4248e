"""Validation of ID tokens and logout tokens.

OpenID Connect Core 1.0, 3.1.3.7, and OpenID Connect Back-Channel Logout 1.0, 2.6.
"""

import time
from collections.abc import Collection, Iterable
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwk, jwt
from joserfc.errors import JoseError

from server.errors import SignInFailed

# Signatures by public keys only: with `none` or a shared secret anybody could make a token from public data.
ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
CLOCK_SKEW_S = 60
PUBLIC_KINDS = frozenset({"RSA", "EC", "OKP"})
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
# Age at which a logout token is refused. A younger one can be used again, as no `jti` is stored.
LOGOUT_S = 300


class UnknownSigningKey(SignInFailed):
    """The provider's key set does not contain the key of the token."""


def key_id_of(token: str) -> tuple[str, str | None]:
    """Return the algorithm and the key id in the header of a token, which is not verified yet.

    Raises:
        SignInFailed: it is not a token.
    """
    try:
        from joserfc.jws import extract_compact

        header = extract_compact(token.encode()).headers()
        return str(header["alg"]), header.get("kid")
    except (JoseError, ValueError, KeyError, TypeError) as error:
        raise SignInFailed("the token is malformed", reason="token") from error


def signing_key(keys: Iterable[Any], algorithm: str, key_id: str | None) -> Any:
    """Return the key of a provider's set (RFC 7517) for a token; without an id there must be only one.

    Raises:
        UnknownSigningKey: no key fits, or several do.
    """
    fitting = [
        each
        for each in keys
        if isinstance(each, dict)
        and each.get("kty") in PUBLIC_KINDS
        and each.get("use", "sig") == "sig"
        and each.get("alg", algorithm) == algorithm
        and (key_id is None or each.get("kid") == key_id)
    ]
    for_kind = [each for each in fitting if _fits(each["kty"], algorithm)]
    if len(for_kind) != 1:
        raise UnknownSigningKey("the provider has no such signing key", reason="key")
    try:
        return jwk.import_key(for_kind[0])
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise UnknownSigningKey("the provider's signing key is invalid", reason="key") from error


def _fits(kind: str, algorithm: str) -> bool:
    return {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}.get(algorithm[:2]) == kind


def valid_claims(
    token: str,
    key: Any,
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    access_token: str | None,
    algorithms: Collection[str] = ALGORITHMS,
    now: int | None = None,
) -> dict[str, Any]:
    """Return the claims of a token after all checks: signature, issuer, audience, times, nonce, `at_hash`.

    Raises:
        SignInFailed: a check fails.
    """
    try:
        decoded = jwt.decode(token, key, algorithms=[each for each in algorithms if each in ALGORITHMS])
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}},
            {"nonce": nonce, "client_id": client_id, "access_token": access_token},
        )
        claims.validate(now=now, leeway=CLOCK_SKEW_S)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        claim = getattr(error, "claim", "")
        raise SignInFailed(
            f"the ID token is invalid{f' ({claim})' if claim else ''}", reason=claim or "token"
        ) from error
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise SignInFailed("the ID token names nobody", reason="sub")
    if not isinstance(claims.get("nonce"), str):
        raise SignInFailed("the ID token has no nonce", reason="nonce")
    return dict(claims)


def logged_out_subject(
    token: str, key: Any, *, issuer: str, client_id: str, algorithm: str, now: float | None = None
) -> str:
    """Return the subject of a logout token after all checks: signature, issuer, audience, times, event.

    Raises:
        SignInFailed: a check fails, or the token names a session in place of a subject.
    """
    try:
        claims = jwt.decode(token, key, algorithms=[algorithm]).claims
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise SignInFailed("the logout token is not signed by the provider", reason="token") from error
    now = time.time() if now is None else now
    audience, events = claims.get("aud"), claims.get("events")
    issued: Any = claims.get("iat")
    expires: Any = claims.get("exp", now)  # left out by older providers
    subject = claims.get("sub")
    checks = {
        "iss": claims.get("iss") == issuer,
        "aud": client_id in audience if isinstance(audience, list) else client_id == audience,
        "iat": _is_number(issued) and now - LOGOUT_S <= issued <= now + CLOCK_SKEW_S,
        "exp": _is_number(expires) and expires > now - CLOCK_SKEW_S,
        "jti": isinstance(claims.get("jti"), str),
        "events": isinstance(events, dict) and isinstance(events.get(LOGOUT_EVENT), dict),
        "nonce": "nonce" not in claims,  # it would be an ID token
        "sub": isinstance(subject, str) and bool(subject),
    }
    for claim, holds in checks.items():
        if not holds:
            raise SignInFailed(f"the logout token is invalid ({claim})", reason=claim)
    return str(subject)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
