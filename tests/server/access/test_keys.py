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


def id_of(key):
    """Return the id in a key."""
    found = KEY.fullmatch(key)
    assert found
    return found[1]


def bearer(key):
    """Return the header of a key."""
    return {"Authorization": f"Bearer {key}"}


def keys_of(home):
    return Keys(Store(home)).all()


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


def test_a_key_is_shown_once_on_standard_output_and_kept_as_a_hash(tmp_path):
    done = shrag("keys", "create", "--label", "reading room", "--expires", "90d", home=tmp_path)
    key, listed = done.stdout.strip(), shrag("keys", "list", home=tmp_path)

    assert KEY.fullmatch(key)
    assert key not in done.stderr + listed.stdout
    assert key.split("_", 2)[2].encode() not in (tmp_path / FILE).read_bytes()
    assert "reading room" in listed.stdout
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_without_the_libraries_of_the_server_a_key_is_shown_and_audited(tmp_path):
    libraries = ("fastapi", "starlette", "uvicorn", "prometheus_client", "mcp", "authlib", "joserfc")
    script = (
        f"import sys; sys.modules.update(dict.fromkeys({libraries}))\n"
        "sys.argv = ['shrag', 'keys', 'create']; import shrag; shrag.main()"
    )
    made = subprocess.run(
        [sys.executable, "-c", script],
        env=environment_of(tmp_path, server__audit_file=tmp_path / "audit"),
        capture_output=True,
        text=True,
        check=False,
    )

    assert made.returncode == 0, made.stderr
    key_id = id_of(made.stdout.strip())
    assert set(keys_of(tmp_path)) == {key_id}
    shrag("keys", "revoke", key_id, home=tmp_path, server__audit_file=tmp_path / "audit")
    created, revoked = map(json.loads, (tmp_path / "audit").read_text().splitlines())
    assert (created["event"], created["key"], created["role"]) == ("key created", key_id, "reader")
    assert (revoked["event"], revoked["key"], revoked["uid"]) == ("key revoked", key_id, os.getuid())
    assert made.stdout.strip() not in (tmp_path / "audit").read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "--expires", "yesterday"),
        ("create", "--expires", "2001-01-01"),
        ("create", "--expires", "0d"),
        ("create", "--index", "../x"),
        ("create", "--role", "root"),
        ("create", "--role", "operator", "--index", "a"),
        ("create", "--label", "x" * 101),
        ("create", "--rate", "-1"),
        ("create", "--rate", "x"),
        ("create", "--per-day", "0"),
        ("create", "--connections", "1001"),
        ("revoke", "unknown"),
    ],
)
def test_a_wrong_call_is_told_in_a_line(tmp_path, arguments):
    done = shrag("keys", *arguments, home=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / FILE).exists()


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

    for headers in ({"authorization": f"bearer {key}"}, {"X-API-Key": key}):
        assert search(client, headers | bearer(key)).status_code == 200
        assert search(client, headers).status_code == 200
    wrong = [key[:-2], f"{key}x", key.upper(), "shrag_", "x", key.replace("shrag_", ""), f"{key} {key}"]
    assert {search(client, bearer(each)).status_code for each in wrong} == {401}
    for header in (f"Basic {key}", key):
        assert search(client, {"Authorization": header}).status_code == 401
    assert client.get("/api/v1/indexes", params={"key": key, "api_key": key}).status_code == 401
    assert search(client, bearer(key) | {"X-API-Key": other}).status_code == 422


def test_a_key_that_another_process_revokes_is_refused_at_once_with_its_sessions(keyed):
    client, home = keyed
    for _ in range(3):
        key = shrag("keys", "create", home=home).stdout.strip()
        assert search(client, bearer(key)).status_code == 200
        client.post("/api/v1/session", json={"key": key})
        assert client.get("/api/v1/indexes").status_code == 200

        shrag("keys", "revoke", id_of(key), home=home)

        assert search(client, bearer(key)).status_code == 401
        assert client.get("/api/v1/indexes").status_code == 401
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
        assert client.get("/metrics", headers=bearer(each)).status_code == status


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
    assert search(client, own).status_code == 200
    for foreign in (
        {},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert search(client, foreign).status_code == 403
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
        headers = (None, bearer("a placeholder"), None)
        assert [search(client, each).status_code for each in headers] == [200, 200, 429]

        key = add_key(home)

        assert search(client).status_code == 401
        assert search(client, bearer(key)).status_code == 200


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
        assert search(client).json()["code"] == "keys-unreadable"
        (home / FILE).write_bytes(whole)
        assert search(client).status_code == 401
        assert search(client, bearer(add_key(home))).status_code == 200
    (home / FILE).write_bytes(b"")
    with application(home, open=True) as client:
        assert client.get("/healthz").json() == {"status": "ok", "errors": ["keys-unreadable"]}
        assert probe(client).status_code == search(client).status_code == 200
        assert client.get("/api/v1/session").json()["keys_needed"] is False
