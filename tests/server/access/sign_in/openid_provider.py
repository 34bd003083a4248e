"""A small OpenID Connect provider for tests, which can also break its protocol."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from joserfc import jwk, jwt

from tests.http_server import Handler, serving

CLIENT, SECRET = "shrag-test", "a secret of the client"
ABOUT: Any = {"kid": "1", "alg": "ES256", "use": "sig"}
KEY: Any = jwk.generate_key("EC", "P-256", ABOUT)
FOREIGN: Any = jwk.generate_key("EC", "P-256", ABOUT)  # not a key of the provider


def encoded(part: bytes) -> str:
    """Return bytes in base64url, as in a token."""
    return base64.urlsafe_b64encode(part).decode().rstrip("=")


@dataclass
class OpenIdProvider:
    """The state of a provider; tests change it."""

    issuer: str = ""
    keys: list[Any] = field(default_factory=lambda: [KEY])
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)  # in place of the ordinary one

    def authorize(self, address: str, *, sign: Any = None, **claims: Any) -> dict[str, str]:
        """Sign a person in at the address to which the server sends; return what the browser brings back.

        `claims` replace those of the ID token, None removes one; `sign` makes the token of its claims.
        """
        asked = dict(parse_qsl(urlsplit(address).query))
        code = secrets.token_urlsafe(8)
        now = int(time.time())
        ordinary = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "p-1",
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "name": "Kim Ada",
            "groups": ["students"],
        }
        token = {name: value for name, value in (ordinary | claims).items() if value is not None}
        self.codes[code] = asked | {"token": (sign or signed)(token), "subject": token.get("sub")}
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def answer(self, method: str, path: str, headers: Any, body: str) -> tuple[int, Any]:
        """Return the status and the content of a response."""
        if path == "/.well-known/openid-configuration":
            endpoints = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys"}
            endpoints |= {"userinfo_endpoint": "me", "end_session_endpoint": "end"}
            ordinary = {name: f"{self.issuer}/{end}" for name, end in endpoints.items()}
            return 200, ordinary | {"issuer": self.issuer} | self.metadata
        if path == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if path == "/me":
            return 200, self.user_info
        if path == "/token" and method == "POST":
            return self._tokens(headers, dict(parse_qsl(body)))
        return 404, {}

    def _tokens(self, headers: Any, form: dict[str, str]) -> tuple[int, Any]:
        given = base64.b64decode(headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if unquote(given) != f"{CLIENT}:{SECRET}":
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked["code_challenge"] != challenge
        ):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": asked["token"]}


def signed(claims: dict[str, Any], key: Any = KEY, **header: Any) -> str:
    """Return an ID token."""
    return jwt.encode({"alg": "ES256", "kid": "1", **header}, claims, key)


def unsigned(claims: dict[str, Any], signature: str = "", **header: Any) -> str:
    """Return a token of an algorithm that needs no key of the provider."""
    head = {"alg": "none", **header}
    return ".".join([*(encoded(json.dumps(part).encode()) for part in (head, claims)), signature])


def _signed_by_public_key(claims: dict[str, Any]) -> str:
    content = unsigned(claims, alg="HS256", kid="1").removesuffix(".")
    return f"{content}.{encoded(hmac.digest(KEY.as_pem(private=False), content.encode(), 'sha256'))}"


# Tokens that are not the provider's, made of the claims of one that it would sign.
FORGED: dict[str, Callable[[dict[str, Any]], str]] = {
    "no algorithm": unsigned,
    "no signature": lambda claims: signed(claims).rpartition(".")[0] + ".",
    "public key as secret": _signed_by_public_key,
    "key in the header": lambda claims: signed(claims, FOREIGN, jwk=FOREIGN.as_dict(private=False)),
    "foreign key": lambda claims: signed(claims, FOREIGN),
    "another payload": lambda claims: unsigned(
        claims | {"groups": ["it"]}, signed(claims).rpartition(".")[2], alg="ES256", kid="1"
    ),
    "no token": lambda _: "not a token",
    "empty": lambda _: "",
    "malformed": lambda _: "a.b.c",
    "not ASCII": lambda _: "ä" * 100,
    "long": lambda _: "x" * 3_900,
}


@contextmanager
def providing() -> Iterator[OpenIdProvider]:
    """Run a provider on a free port."""
    provider = OpenIdProvider()

    class Provides(Handler):
        def get(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            self.answer(*provider.answer(self.command, self.path, self.headers, body))

        post = get

    with serving(Provides) as provider.issuer:
        yield provider
