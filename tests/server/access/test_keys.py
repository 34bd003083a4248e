"""Keys: made, listed and ended by commands, and what they open."""

import json
import os
import re
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from server.access.keys import Keys, make_key
from server.store import FILE, Store
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.indexer.made_corpora import ROOT, build, environment_of
from tests.server.running import add_key, application, copy_of, probe

KEY = re.compile(r"shrag_([a-z2-7]{10})_[A-Za-z0-9_-]{43}")


def bearer(key):
    """Return the header of a key."""
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def keyed(sample_home, tmp_path_factory):
    """Serve two indexes to those who have a key; return the client and the home."""
    home = copy_of(sample_home, tmp_path_factory.mktemp("keyed"))
    build(home, ROOT / "sample" / "held-out" / "papers.jsonl", name="other")
    add_key(home)
    with application(home, address="127.0.0.1") as client:
        yield client, home


def search(client, headers=None, **call):
    """Search the sample."""
    return client.post("/api/v1/search", json={"question": ENGLISH, "index": NAME} | call, headers=headers)


def statuses(client, *headers):
    """Return the statuses of searches with these headers."""
    return [search(client, each).status_code for each in headers]


def test_a_key_is_shown_once_without_the_servers_libraries_kept_as_a_hash_and_audited(tmp_path):
    libraries = ("fastapi", "starlette", "uvicorn", "prometheus_client", "mcp", "authlib", "joserfc")
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({libraries}))\n"
        "sys.argv = ['shrag', 'keys', 'create', '--label', 'reading room', '--expires', '90d']\n"
        "import shrag; shrag.main()"
    )
    audit = {"server__audit_file": tmp_path / "audit"}
    command = [sys.executable, "-c", script]
    made = subprocess.run(command, env=environment_of(tmp_path, **audit), capture_output=True, check=False)
    key, listed = made.stdout.decode().strip(), shrag("keys", "list", home=tmp_path).stdout

    found = KEY.fullmatch(key)
    assert found, made.stderr
    assert "reading room" in listed
    kept = (tmp_path / FILE).read_bytes() + listed.encode() + made.stderr + (tmp_path / "audit").read_bytes()
    assert key.split("_", 2)[2].encode() not in kept
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    shrag("keys", "revoke", found[1], home=tmp_path, **audit)
    created, revoked = map(json.loads, (tmp_path / "audit").read_text().splitlines())
    assert (created["event"], created["key"], created["role"]) == ("key created", found[1], "reader")
    assert (revoked["event"], revoked["key"], revoked["uid"]) == ("key revoked", found[1], os.getuid())


def test_a_key_opens_until_it_expires(tmp_path):
    keys, now, day = Keys(Store(tmp_path)), datetime.now(UTC), timedelta(days=1)
    text, key = make_key(expires=now + day)
    old, expired = make_key(expires=now - day, now=now - 2 * day)
    for each in (key, expired):
        keys.add(each)
    found = keys.find(text)
    assert found
    assert found.id == key.id
    for wrong in (old, text[:-1] + ("A" if text[-1] != "A" else "B"), make_key()[0], text.upper(), ""):
        assert keys.find(wrong) is None


def test_without_a_key_nothing_is_answered_but_whether_the_server_lives(keyed):
    client, _ = keyed
    refused = search(client)
    assert (refused.status_code, refused.json()["code"]) == (401, "key-needed")
    assert refused.headers["www-authenticate"].startswith("Bearer")
    for path in ("/healthz", "/readyz", "/api/v1/session"):
        assert client.get(path).status_code == 200
    for path in ("/metrics", "/api/v1/indexes", "/mcp", "/v1/models", "/nothing", "/%2e%2e/etc/passwd"):
        assert client.get(path).status_code == 401


def test_a_key_opens_by_either_header_and_others_open_nothing(keyed):
    client, home = keyed
    key, other = add_key(home), add_key(home)
    by_name = {"X-API-Key": key}
    assert statuses(client, {"authorization": f"bearer {key}"}, by_name, by_name | bearer(key)) == [200] * 3
    wrong = [key[:-2], f"{key}x", key.upper(), "shrag_", key.replace("shrag_", ""), f"{key} {key}"]
    others = ({"Authorization": header} for header in (f"Basic {key}", key))
    assert {*statuses(client, *map(bearer, wrong), *others)} == {401}
    assert client.get("/api/v1/indexes", params={"key": key, "api_key": key}).status_code == 401
    assert search(client, bearer(key) | {"X-API-Key": other}).status_code == 422


def test_a_key_that_another_process_revokes_is_refused_at_once_with_its_sessions(keyed):
    client, home = keyed
    key = shrag("keys", "create", home=home).stdout.strip()
    client.post("/api/v1/session", json={"key": key})
    for status in (200, 401):
        assert search(client, bearer(key)).status_code == status
        assert client.get("/api/v1/indexes").status_code == status
        shrag("keys", "revoke", key.split("_")[1], home=home)
    client.cookies.clear()


def test_a_key_opens_its_indexes_and_the_rights_of_its_role(keyed):
    client, home = keyed
    key, operator = add_key(home, indexes=("other",)), add_key(home, role="operator")
    foreign, missing = search(client, bearer(key)), search(client, bearer(key), index="missing")
    listed = client.get("/api/v1/indexes", headers=bearer(key)).json()["indexes"]
    assert foreign.status_code == missing.status_code == 404
    assert foreign.json()["detail"].replace(NAME, "missing") == missing.json()["detail"]
    assert [index["name"] for index in listed] == ["other"]
    assert search(client, bearer(key), index=None).json()["index"] == "other"
    for each, status in ((key, 403), (operator, 200)):
        for path in ("/metrics", "/api/v1/status"):
            assert client.get(path, headers=bearer(each)).status_code == status


def test_an_operator_creates_and_revokes_keys_on_the_server(keyed):
    client, home = keyed
    operator = bearer(add_key(home, role="operator"))
    call = {"label": "reading room", "expires": "30d"}
    made = client.post("/api/v1/keys", json=call, headers=operator).json()
    key, path = bearer(made["key"]), f"/api/v1/keys/{made['record']['id']}"
    assert client.get("/api/v1/session", headers=key).json()["label"] == "reading room"
    revoked = client.delete(path, headers=operator)
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    assert search(client, key).status_code == 401
    assert client.delete(f"{path[:-10]}aaaaaaaaaa", headers=operator).json()["code"] == "unknown-key"
    for origin in ("https://evil.example", "http://["):
        foreign = client.post("/api/v1/keys", json={}, headers=operator | {"Origin": origin})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden")


def test_the_page_keeps_a_session_that_no_script_reads(keyed):
    client, home = keyed
    key = add_key(home, label="reading room")
    begun = client.post("/api/v1/session", json={"key": key})
    cookie = begun.headers["set-cookie"].lower()
    assert begun.json()["label"] == "reading room"
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
    assert key.lower() not in cookie
    assert client.get("/api/v1/session").json()["role"] == "reader"
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    foreign = ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"})
    assert statuses(client, own, {}, *foreign) == [200, 403, 403, 403, 403]
    token = client.cookies["shrag"]
    assert client.delete("/api/v1/session", headers=own).status_code == 204
    assert "shrag" not in client.cookies
    assert search(client, {"Cookie": f"shrag={token}", **own}).status_code == 401
    client.cookies.clear()
    refused = client.post("/api/v1/session", json={"key": "shrag_aaaaaaaaaa_x"})
    assert (refused.status_code, "set-cookie" in refused.headers) == (401, False)


def test_without_keys_this_machine_is_a_reader_and_the_first_key_closes_it(home):
    """Its requests may come from a proxy that speaks HTTP/1.1 and adds no header, such as nginx 1.29.7."""
    slowly: dict[str, Any] = {"searches_per_minute": 1, "search_burst": 2}
    with application(home, address="127.0.0.1", local_operator=False, **slowly) as client:
        assert client.get("/api/v1/session").json()["role"] == "reader"
        assert client.get("/metrics").status_code == 401
        assert client.post("/api/v1/keys", json={}).status_code == 401
        assert statuses(client, None, bearer("a placeholder"), None) == [200, 200, 429]
        key = add_key(home)
        assert statuses(client, None, bearer(key)) == [401, 200]


@pytest.mark.parametrize("content", [b"", b"x" * 9_999])
def test_a_server_whose_store_breaks_admits_nobody_until_it_is_whole(home, content):
    code = "keys-unreadable"
    add_key(home)
    with application(home, address="127.0.0.1") as client:
        assert search(client).status_code == 401
        whole = (home / FILE).read_bytes()
        (home / FILE).write_bytes(content)
        for answer in (search(client), client.get("/readyz")):
            assert (answer.status_code, answer.json()["code"]) == (503, code)
            assert str(home) not in answer.text
        assert client.get("/healthz").json() == {"status": "ok", "errors": [code]}
        (home / FILE).unlink()
        assert search(client).json()["code"] == code
        (home / FILE).write_bytes(whole)
        assert statuses(client, None, bearer(add_key(home))) == [401, 200]
    (home / FILE).write_bytes(b"")
    with application(home, open=True) as client:
        assert client.get("/healthz").json() == {"status": "ok", "errors": [code]}
        assert probe(client).status_code == search(client).status_code == 200
        assert client.get("/api/v1/session").json()["keys_needed"] is False
