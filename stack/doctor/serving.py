"""The server: the store of keys, its public address, the proxy before it, and sign-in."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from base.files.regular_files import read_secret
from base.settings.fields import listed
from base.settings.file import read_settings_file
from base.untrusted import one_line, read_json
from generator.pipeline import run
from indexer.backups import SERVER_STORE, open_server_store
from stack.doctor.findings import Examined, Finding, Status, check_encryption, failed, tried
from stack.settings_listing import settings_in_force

LOOK_S, MOST_BYTES, SHOWN = 10.0, 500_000, 200  # limits of an answer
OK, REDIRECTS = 200, range(300, 400)
RESTORE_KEYS = "restore it from a copy, or move it away and create new keys"
COUNT = "SELECT count(*), total(revoked IS NULL AND (expires IS NULL OR expires > ?)) FROM keys"
GATEWAYS, MISDIRECTED = range(502, 505), 421
FORWARD = "let the proxy forward the name (proxy_set_header Host $host), or correct the address"


def server_settings() -> dict[str, Any]:
    """Return the values of the server's settings, by name, without importing its package."""
    found = {each.setting.key: each.value for each in settings_in_force(read_settings_file())}
    return {key.removeprefix("server."): value for key, value in found.items() if key.startswith("server.")}


def check_serving(examined: Examined) -> Iterator[Finding]:
    """Check the keys, call the server at its public address, and compare that with the proxies."""
    server, store = server_settings(), examined.settings.indexer.home / SERVER_STORE
    url, issuer = server["public_url"], server["sign_in.issuer"] or ""
    yield tried("keys", partial(_keys, store), str(store), RESTORE_KEYS)
    if url:
        yield from check_encryption(url, secret=True)
        remedy = "check that the name resolves here, the proxy runs and its certificate is valid"
        yield tried("public address", partial(_public_address, url), url, remedy)
    else:
        remedy = "for readers elsewhere set SHRAG_SERVER__PUBLIC_URL (docs/how-to/deploying.md)"
        yield Finding("public address", "not configured", "none is set", "", remedy)
    yield _proxies(server["proxies"], url)
    yield tried("sign-in", partial(_sign_in, server), issuer, "check that this machine reaches it")


def _keys(file: Path) -> str | Finding:
    """Report whether the store of keys is intact; an empty file locks everybody out."""
    if not file.is_symlink() and not file.exists():
        return Finding("keys", "not configured", "no key was ever made", str(file))
    if not file.stat().st_size:
        raise OSError("the file of keys is empty: no caller is admitted")
    with open_server_store(file) as database:
        made, active = database.execute(COUNT, (datetime.now(UTC).isoformat(),)).fetchone()
        (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise sqlite3.DatabaseError(state)
    if made and not active:
        found = "all keys are revoked or expired: no caller is admitted"
        return Finding("keys", "warning", found, str(file), "create a key (shrag keys create)")
    return f"{active:,.0f} active" if made else Finding("keys", "not configured", "there is none", str(file))


def _public_address(url: str) -> str | Finding:
    """Request the health of the server at its public address."""
    status, text, health, location = run(_get(f"{url.rstrip('/')}/healthz"))
    if status in GATEWAYS:
        found, remedy = "the proxy does not reach the server", "start shrag serve"
    elif status == MISDIRECTED:
        found, remedy = "the server does not answer to this name", FORWARD
    elif status in REDIRECTS:
        found, remedy = f"it redirects to {location}", "set SHRAG_SERVER__PUBLIC_URL to that address"
    elif status != OK or health.get("status") != "ok":
        found = f"the answer is not from SHRAG: {text}"
        remedy = "let the proxy forward all paths to shrag serve"
    elif errors := health.get("errors"):
        found, remedy = f"it answers with {one_line(str(errors))[:SHOWN]}", "read the log of shrag serve"
    else:
        return "SHRAG answers"
    return Finding("public address", "wrong", f"{found} ({status})", url, remedy)


def _proxies(proxies: str, public_url: str) -> Finding:
    """Check which proxies are trusted with X-Forwarded-For."""
    variable = "SHRAG_SERVER__PROXIES"
    networks = [ip_network(each, strict=False) for each in listed(proxies)]
    status: Status = "not configured"
    found, remedy = "no proxy is named", ""
    if any(network.prefixlen == 0 for network in networks):
        status, found = "wrong", "they include every address: callers can forge theirs"
        remedy = f"set {variable} to only the addresses of the proxy"
    elif networks:
        status, found = "ok", "X-Forwarded-For of these addresses is trusted"
    elif public_url.startswith("https://"):
        status, remedy = "warning", f"set {variable} to the address of the proxy"
        found = "limits and the audit log count all readers as one, as the https proxy is not named"
    return Finding("proxy", status, found, proxies, remedy)


def _sign_in(server: dict[str, Any]) -> str | Finding:
    """Check the settings of sign-in, and compare the metadata of the provider with them."""
    subject, table, issuer = "sign-in", "SHRAG_SERVER__SIGN_IN__", server["sign_in.issuer"]
    if not issuer and (header := server["sign_in.user_header"]):
        return Finding(subject, "ok", f"{header} of {server['sign_in.header_from']} names persons")
    if not issuer:
        return Finding(subject, "not configured", "persons cannot sign in, only keys are accepted")
    if not server["public_url"]:
        remedy = "set SHRAG_SERVER__PUBLIC_URL (docs/how-to/sign-in.md)"
        return Finding(subject, "wrong", "the public address of this server is missing", issuer, remedy)
    if file := server["sign_in.client_secret_file"]:
        try:
            read_secret(Path(file))
        except (OSError, ValueError) as error:
            return failed(subject, error, str(file), f"correct {table}CLIENT_SECRET_FILE")
        if Path(file).stat().st_mode & 0o077:
            found = "other users can read the client's secret"
            return Finding(subject, "warning", found, str(file), f"chmod 600 {file}")
    status, _, metadata, _ = run(_get(f"{issuer}/.well-known/openid-configuration"))
    named = metadata.get("issuer")
    if status == OK and named in {issuer, f"{issuer}/"}:
        return "the provider answers"
    found = f"it answers with status {status} and the issuer {one_line(str(named))[:SHOWN]}"
    return Finding(subject, "wrong", found, issuer, f"set {table}ISSUER to the issuer in its metadata")


async def _get(url: str) -> tuple[int, str, dict[str, Any], str]:
    """Return status, text, JSON object and location of the response to a GET; OSError if there is none."""
    import httpx

    from base.net.http_client import exchange, open_client

    try:
        async with open_client(url, None) as client:
            answer = await exchange(client, "GET", url, seconds=LOOK_S, most_bytes=MOST_BYTES)
    except httpx.HTTPError as error:
        raise ConnectionError(f"{type(error).__name__}: {error}") from None
    try:
        found = read_json(answer.content)
    except ValueError:
        found = None
    location = one_line(answer.headers.get("location", ""))[:SHOWN]
    health = found if isinstance(found, dict) else {}
    return answer.status_code, one_line(answer.text)[:SHOWN], health, location
