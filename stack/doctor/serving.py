"""The server: the store of keys, its public address, the proxy before it, and sign-in."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

from base.files.regular_files import read_secret
from base.net.unencrypted_secrets import hosts_in_the_clear
from base.settings.file import read_settings_file
from base.untrusted import one_line, read_json
from generator.pipeline import run
from indexer.backups import SERVER_STORE, open_server_store
from stack.doctor.findings import Examined, Finding, failed
from stack.settings_listing import settings_in_force

if TYPE_CHECKING:
    import httpx

LOOK_S, MOST_BYTES, SHOWN = 10.0, 500_000, 200  # limits of an answer
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
    found = {each.setting.key: each.value for each in settings_in_force(read_settings_file())}
    return {key.removeprefix("server."): value for key, value in found.items() if key.startswith("server.")}


def check_serving(examined: Examined) -> Iterator[Finding]:
    """Check the keys, call the server at its public address, and compare that with the proxies."""
    server = server_settings()
    yield _keys(examined.settings.indexer.home / SERVER_STORE)
    yield from _public_address(server["public_url"], examined)
    yield _proxies(server["proxies"], server["public_url"])
    yield _sign_in(server, examined)


def _keys(file: Path) -> Finding:
    """Report whether the store of keys is intact; an empty file locks everybody out."""
    where, made, active, size = str(file), 0, 0.0, 0
    try:
        there = file.is_symlink() or file.exists()
        if there and (size := file.stat().st_size):
            with open_server_store(file) as database:
                made, active = database.execute(COUNT, (datetime.now(UTC).isoformat(),)).fetchone()
                (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
    except (OSError, sqlite3.Error) as error:
        return failed("keys", error, where, RESTORE_KEYS)
    if there and not size:
        found = "the file of keys is empty: no caller is admitted"
        return Finding("keys", "wrong", found, where, f"free space on its disk, then {RESTORE_KEYS}")
    if not made:
        return Finding("keys", "not configured", "no key was ever made", where)
    if not active:
        found = "all keys are revoked or expired: no caller is admitted"
        return Finding("keys", "warning", found, where, MAKE_A_KEY)
    return Finding("keys", "ok", f"{active:,.0f} active", where)


def _public_address(url: str, examined: Examined) -> Iterator[Finding]:
    """Request the health of the server at its public address."""
    if not url:
        remedy = "for readers elsewhere set SHRAG_SERVER__PUBLIC_URL (docs/how-to/deploying.md)"
        yield Finding("public address", "not configured", "none is set", "", remedy)
        return
    if hosts := hosts_in_the_clear(url):
        found = f"keys and questions are sent unencrypted to {', '.join(hosts)}"
        yield Finding("encryption", "warning", found, url, "use https at a proxy (docs/how-to/deploying.md)")
    answer = run(_get(f"{url.rstrip('/')}/healthz", examined))
    if isinstance(answer, Exception):
        remedy = "check that the name resolves here, the proxy runs and its certificate is valid"
        yield failed("public address", answer, url, remedy)
        return
    found, remedy = _health(answer)
    if remedy:
        yield Finding("public address", "wrong", found, url, remedy)
    else:
        yield Finding("public address", "ok", found, url)


def _health(answer: "httpx.Response") -> tuple[str, str]:
    """Return the finding of an answer to /healthz, and the remedy, "" if nothing is wrong."""
    status, health = answer.status_code, _json_object(answer)
    if status == MISDIRECTED:
        remedy = "let the proxy forward the name (proxy_set_header Host $host), or correct the address"
        return "the server does not answer to this name", remedy
    if status in REDIRECTS:
        to = one_line(answer.headers.get("location", ""))[:SHOWN]
        return f"it redirects to {to}", "set SHRAG_SERVER__PUBLIC_URL to that address"
    if status in GATEWAY:
        return f"the proxy does not reach the server ({status})", "start shrag serve"
    if status != OK or health.get("status") != "ok":
        found = f"the answer is not from SHRAG ({status}): {one_line(answer.text)[:SHOWN]}"
        return found, "let the proxy forward all paths to shrag serve"
    if errors := health.get("errors"):
        codes = errors if isinstance(errors, list) else [errors]
        remedies = dict.fromkeys(REMEDIES.get(str(code), SEE_THE_LOG) for code in codes)
        return f"it answers with {one_line(str(errors))[:SHOWN]}", "; ".join(remedies)
    return "SHRAG answers", ""


def _proxies(proxies: str, public_url: str) -> Finding:
    """Check which proxies are trusted with X-Forwarded-For."""
    variable = "SHRAG_SERVER__PROXIES"
    networks = [ip_network(each.strip(), strict=False) for each in proxies.split(",") if each.strip()]
    if everybody := [str(network) for network in networks if network.prefixlen == 0]:
        found = f"{everybody[0]} includes every address: callers can forge theirs"
        return Finding("proxy", "wrong", found, proxies, f"set {variable} to only the addresses of the proxy")
    if networks:
        return Finding("proxy", "ok", "X-Forwarded-For of these addresses is trusted", proxies)
    if public_url.startswith("https://"):
        found = "limits and the audit log count all readers as one, as the https proxy is not named"
        return Finding("proxy", "warning", found, "", f"set {variable} to the address of the proxy")
    return Finding("proxy", "not configured", "no proxy is named")


def _sign_in(server: dict[str, Any], examined: Examined) -> Finding:
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
    address = f"{issuer}/.well-known/openid-configuration"
    answer = run(_get(address, examined))
    if isinstance(answer, Exception):
        return failed(subject, answer, address, "check that this machine reaches the provider")
    named = _json_object(answer).get("issuer")
    if answer.status_code != OK or named not in {issuer, f"{issuer}/"}:
        shown = f"it answers with status {answer.status_code} and the issuer {one_line(str(named))[:SHOWN]}"
        remedy = f"set {table}ISSUER to the issuer in the provider's metadata"
        return Finding(subject, "wrong", shown, address, remedy)
    return Finding(subject, "ok", "the provider answers", issuer)


async def _get(url: str, examined: Examined) -> "httpx.Response | Exception":
    """Return the response to a GET, or the error."""
    import httpx

    from base.net.http_client import exchange, open_client

    try:
        async with open_client(url, None, transport=examined.transport) as client:
            return await exchange(client, "GET", url, seconds=LOOK_S, most_bytes=MOST_BYTES)
    except httpx.HTTPError as error:
        return error


def _json_object(answer: "httpx.Response") -> dict[str, Any]:
    """Return the JSON object of a response, an empty one if it is something else."""
    try:
        found = read_json(answer.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
