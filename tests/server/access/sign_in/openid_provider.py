"""A small OpenID Connect provider for tests, which can also break its protocol."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from joserfc import jwk, jwt

CLIENT, SECRET = "shrag-test", "a secret of the client"
ABOUT: Any = {"kid": "1", "alg": "ES256", "use": "sig"}
KEY: Any = jwk.generate_key("EC", "P-256", ABOUT)
FOREIGN: Any = jwk.generate_key("EC", "P-256", ABOUT)  # not a key of the provider


def encoded(part: Any) -> str:
    """Return a part of a token in base64url."""
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


@dataclass
class OpenIdProvider:
    """The state of a provider; tests change it."""

    issuer: str = ""
    keys: list[Any] = field(default_factory=lambda: [KEY])
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)  # in place of the ordinary one
    asked: list[str] = field(default_factory=list)  # paths

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
        self.asked.append(path)
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
            return self._tokens(headers, {name: values[0] for name, values in parse_qs(body).items()})
        return 404, {}

    def _tokens(self, headers: Any, form: dict[str, str]) -> tuple[int, Any]:
        given = base64.b64decode(headers.get("Authorization", "").removeprefix("Basic ")).decode()
        if unquote(given) != f"{CLIENT}:{SECRET}":
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked["code_challenge"] != challenge.decode().rstrip("=")
        ):
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": asked["token"]}


def signed(claims: dict[str, Any], key: Any = KEY, **header: Any) -> str:
    """Return an ID token."""
    return jwt.encode({"alg": "ES256", "kid": "1", **header}, claims, key)


@contextmanager
def providing() -> Iterator[OpenIdProvider]:
    """Run a provider on a free port."""
    provider = OpenIdProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            status, content = provider.answer(self.command, self.path, self.headers, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        try:
            yield provider
        finally:
            server.shutdown()
