"""The server: the store of keys, its public address, and the proxy before it."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from base.files.regular_files import read_secret
from base.net.unencrypted_secrets import hosts_in_the_clear
from base.settings.file import read_settings_file
from base.untrusted import one_line, read_json
from generator.pipeline import run
from indexer.versions.server_store import SERVER_STORE, open_server_store
from stack.doctor.findings import Examined, Finding, failed
from stack.settings_listing import settings_in_force

LOOK_S = 10.0  # time limit of a simple answer
OK, MISDIRECTED, REDIRECTS, GATEWAY = 200, 421, range(300, 400), range(502, 505)
MAKE_A_KEY = "create a key (shrag keys create)"
RESTORE_KEYS = "restore it from a copy, or move it away and create new keys"
COUNT = "SELECT count(*), total(revoked IS NULL AND (expires IS NULL OR expires > ?)) FROM keys"
SEE_THE_LOG = "read the log of shrag serve"
# Remedies by codes in `errors` of /healthz.
REMEDIES = {
    "keys-unreadable": f"let the server use {SERVER_STORE} in its home; if it is damaged, {RESTORE_KEYS}",
}


def server_settings() -> dict[str, Any]:
    """Return the values of the server's settings, by name, without importing its package."""
    table = "server."
    found = settings_in_force(read_settings_file())
    return {
        each.setting.key.removeprefix(table): each.value
        for each in found
        if each.setting.key.startswith(table)
    }


def check_serving(examined: Examined) -> Iterator[Finding]:
    """Check the keys, call the server at its public address, and compare that with the proxies."""
    yield _keys(examined.settings.indexer.home / SERVER_STORE)
    server = server_settings()
    public_url, proxies = server["public_url"], server["proxies"]
    if public_url:
        yield from _public_address(public_url, examined)
    else:
        mend = "for readers elsewhere set SHRAG_SERVER__PUBLIC_URL (docs/how-to/deploying.md)"
        yield Finding("public address", "not configured", "none is set", mend=mend)
    yield _proxies(proxies, public_url)
    yield _sign_in(server, examined)


def _keys(file: Path) -> Finding:
    """Report whether the store of keys is intact; an empty file locks everybody out."""
    subject, where = "keys", str(file)
    try:
        if not file.is_symlink() and not file.exists():
            return Finding(subject, "not configured", "no key was ever made", where)
        if not file.stat().st_size:
            found = "the file of keys is empty: no caller is admitted"
            return Finding(subject, "wrong", found, where, f"free space on its disk, then {RESTORE_KEYS}")
        with open_server_store(file) as database:
            made, count = database.execute(COUNT, (datetime.now(UTC).isoformat(),)).fetchone()
            (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
    except (OSError, sqlite3.Error) as error:
        return failed(subject, error, where, RESTORE_KEYS)
    if not made:
        return Finding(subject, "not configured", "no key was ever made", where)
    if not count:
        found = "all keys are revoked or expired: no caller is admitted"
        return Finding(subject, "warning", found, where, MAKE_A_KEY)
    return Finding(subject, "ok", f"{count:,.0f} active", where)


def _public_address(url: str, examined: Examined) -> Iterator[Finding]:
    if hosts := hosts_in_the_clear(url):
        found = f"keys and questions are sent unencrypted to {', '.join(hosts)}"
        yield Finding("encryption", "warning", found, url, "use https at a proxy (docs/how-to/deploying.md)")
    yield run(_ask(url.rstrip("/"), examined))


async def _ask(url: str, examined: Examined) -> Finding:
    """Request the health of the server at its public address."""
    import httpx

    from base.net.http_client import exchange, open_client

    subject = "public address"
    try:
        async with open_client(url, None, transport=examined.transport) as client:
            answer = await exchange(client, "GET", f"{url}/healthz", seconds=LOOK_S, most_bytes=100_000)
    except httpx.HTTPError as error:
        mend = "check that the name resolves here, the proxy runs and its certificate is valid"
        return failed(subject, error, url, mend)
    status, text = answer.status_code, one_line(answer.text)[:200]
    if status == MISDIRECTED:
        mend = "let the proxy forward the name (proxy_set_header Host $host), or correct the address"
        return Finding(subject, "wrong", "the server does not answer to this name", url, mend)
    if status in REDIRECTS:
        found = f"it redirects to {one_line(answer.headers.get('location', ''))[:200]}"
        return Finding(subject, "wrong", found, url, "set SHRAG_SERVER__PUBLIC_URL to that address")
    if status in GATEWAY:
        return Finding(
            subject, "wrong", f"the proxy does not reach the server ({status})", url, "start shrag serve"
        )
    try:
        health = read_json(answer.content)
    except ValueError:
        health = None
    if status != OK or not isinstance(health, dict) or health.get("status") != "ok":
        found = f"the answer is not from SHRAG ({status}): {text}"
        return Finding(subject, "wrong", found, url, "let the proxy forward all paths to shrag serve")
    if errors := health.get("errors"):
        found = f"it answers with {one_line(str(errors))[:200]}"
        return Finding(subject, "wrong", found, url, _remedies(errors))
    return Finding(subject, "ok", "SHRAG answers", url)


def _remedies(errors: object) -> str:
    """Return the remedies for the codes of /healthz."""
    codes = errors if isinstance(errors, list) else [errors]
    return "; ".join(dict.fromkeys(REMEDIES.get(str(code), SEE_THE_LOG) for code in codes))


def _proxies(proxies: str, public_url: str) -> Finding:
    """Check which proxies are trusted with X-Forwarded-For."""
    subject, variable = "proxy", "SHRAG_SERVER__PROXIES"
    networks = [ip_network(each.strip(), strict=False) for each in proxies.split(",") if each.strip()]
    if everybody := [str(network) for network in networks if network.prefixlen == 0]:
        found = f"{everybody[0]} includes every address: callers can forge theirs"
        return Finding(subject, "wrong", found, proxies, f"set {variable} to only the addresses of the proxy")
    if networks:
        return Finding(subject, "ok", "X-Forwarded-For of these addresses is trusted", proxies)
    if public_url.startswith("https://"):
        found = "limits and the audit log count all readers as one, as the https proxy is not named"
        return Finding(subject, "warning", found, mend=f"set {variable} to the address of the proxy")
    return Finding(subject, "not configured", "no proxy is named")


def _sign_in(server: dict[str, Any], examined: Examined) -> Finding:
    """Check the settings of sign-in, and compare the metadata of the provider with them."""
    subject, table = "sign-in", "SHRAG_SERVER__SIGN_IN__"
    issuer, header = server["sign_in.issuer"], server["sign_in.user_header"]
    if not issuer:
        if header:
            return Finding(subject, "ok", f"{header} of {server['sign_in.header_from']} names persons")
        return Finding(subject, "not configured", "persons cannot sign in, only keys are accepted")
    if not server["public_url"]:
        mend = "set SHRAG_SERVER__PUBLIC_URL (docs/how-to/sign-in.md)"
        return Finding(subject, "wrong", "the public address of this server is missing", issuer, mend)
    if file := server["sign_in.client_secret_file"]:
        try:
            read_secret(Path(file))
        except (OSError, ValueError) as error:
            return failed(subject, error, str(file), f"correct {table}CLIENT_SECRET_FILE")
        if Path(file).stat().st_mode & 0o077:
            mend = f"chmod 600 {file}"
            return Finding(subject, "warning", "other users can read the client's secret", str(file), mend)
    return run(_ask_provider(issuer, examined))


async def _ask_provider(issuer: str, examined: Examined) -> Finding:
    import httpx

    from base.net.http_client import exchange, open_client

    subject, address = "sign-in", f"{issuer}/.well-known/openid-configuration"
    try:
        async with open_client(issuer, None, transport=examined.transport) as client:
            answer = await exchange(client, "GET", address, seconds=LOOK_S, most_bytes=500_000)
        found = read_json(answer.content)
    except httpx.HTTPError as error:
        return failed(subject, error, address, "check that this machine reaches the provider")
    except ValueError:
        found = None
    named = found.get("issuer") if isinstance(found, dict) else None
    if answer.status_code != OK or named not in {issuer, f"{issuer}/"}:
        shown = f"it answers with status {answer.status_code} and the issuer {one_line(str(named))[:200]}"
        mend = "set SHRAG_SERVER__SIGN_IN__ISSUER to the issuer in the provider's metadata"
        return Finding(subject, "wrong", shown, address, mend)
    return Finding(subject, "ok", "the provider answers", issuer)
