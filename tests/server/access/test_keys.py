"""Keys: made, listed and ended by commands, and what they open."""

import errno
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from server.access.key_store import Keys
from server.access.sessions import MOST_SESSIONS
from server.store import FILE, Store
from server.access.keys import digest_of, make_key, opens
from server.errors import StoreEmpty, StoreUnusable
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.indexer.made_corpora import ROOT, WITHOUT_COMPILING, build, environment_of, limited
from tests.server.running import START_S, serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server

KEY = re.compile(r"shrag_([a-z2-7]{10})_[A-Za-z0-9_-]{43}")


def id_of(key):
    """Return the id in a key."""
    found = KEY.fullmatch(key)
    assert found
    return found[1]


def bearer(key):
    """Return the header of a key."""
    return {"Authorization": f"Bearer {key}"}


def create_on_full_disk(home, size):
    """Call `keys create` where no file can grow over so many bytes."""
    return subprocess.run(
        [sys.executable, str(ROOT / "shrag.py"), "keys", "create"],
        env=environment_of(home) | WITHOUT_COMPILING,
        preexec_fn=limited(size),
        capture_output=True,
        text=True,
        check=False,
    )


def make(home, *options):
    """Make a key by the command."""
    done = shrag("keys", "create", *options, home=home)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def keyed(sample_home, tmp_path_factory):
    """Serve two indexes to those who have a key."""
    home = tmp_path_factory.mktemp("keyed")
    build(home, ROOT / "sample" / "papers.jsonl", name=NAME)
    build(home, ROOT / "sample" / "held-out" / "papers.jsonl", name="other")
    make(home, "--label", "first")
    with serving(home, home / "log") as server:
        yield server


def search(server, headers=None, **call):
    """Search the sample."""
    body = {"question": ENGLISH, "index": NAME} | call
    return server.post("/api/v1/search", json=body, headers=headers)


def until_answered(status, ask):
    """Ask until a change has reached a running server."""
    wait_for(ask, lambda answer: answer.status_code == status)


def test_a_key_is_shown_once_on_standard_output_and_kept_as_a_hash(tmp_path):
    done = shrag("keys", "create", "--label", "reading room", "--expires", "90d", home=tmp_path)
    key = done.stdout.strip()
    listed = shrag("keys", "list", home=tmp_path)

    assert KEY.fullmatch(key)
    assert key not in done.stderr
    assert key not in listed.stdout
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
    assert set(Keys(Store(tmp_path)).all()) == {id_of(made.stdout.strip())}
    assert json.loads((tmp_path / "audit").read_text())["event"] == "key created"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_key_that_cannot_be_shown_opens_nothing(tmp_path, options):
    command = [sys.executable, str(ROOT / "shrag.py"), "keys", "create", *options]
    with Path("/dev/full").open("w") as full:
        made = subprocess.run(command, env=environment_of(tmp_path), stdout=full, check=False)

    assert made.returncode == 1
    assert [key.revoked is None for key in Keys(Store(tmp_path)).all().values()] == [False]


def test_listed_as_json_a_key_has_all_but_itself(tmp_path):
    key = make(tmp_path, "--index", "a", "--index", "b", "--expires", "2099-01-31")

    (record,) = json.loads(shrag("keys", "list", "--json", home=tmp_path).stdout)["keys"]

    assert record["id"] == id_of(key)
    assert (record["role"], record["indexes"]) == ("reader", ["a", "b"])
    assert record["expires"] == "2099-01-31T23:59:59+00:00"
    assert (record["last_used"], record["state"]) == (None, "active")


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
        ("revoke", "unknown"),
    ],
)
def test_a_wrong_call_is_told_in_a_line(tmp_path, arguments):
    done = shrag("keys", *arguments, home=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_key_opens_until_it_expires_or_is_revoked():
    now = datetime.now(UTC)
    text, key = make_key(expires=now + timedelta(days=1), now=now)

    assert opens(text, key, now)
    assert not opens(text, key, now + timedelta(days=1))
    assert not opens(text[:-1] + ("A" if text[-1] != "A" else "B"), key, now)
    assert not opens(text, None, now)


def test_a_damaged_store_is_named_and_never_taken_for_an_empty_one(tmp_path):
    make(tmp_path)
    (tmp_path / FILE).write_bytes(b"not a database" * 100)

    listed = shrag("keys", "list", home=tmp_path)

    assert listed.returncode == 1
    assert FILE in listed.stderr
    with pytest.raises(StoreUnusable):
        Keys(Store(tmp_path)).all()
    assert shrag("serve", "--port", "0", home=tmp_path).returncode == 1


@pytest.mark.parametrize("size", [0, 1_000, 4_096, 12_288])
def test_a_first_key_that_the_disk_has_no_room_for_leaves_no_file(tmp_path, size):
    made = create_on_full_disk(tmp_path / "home", size)

    assert (made.returncode, made.stdout) == (1, "")
    assert "(disk /" in made.stderr
    assert list((tmp_path / "home").iterdir()) == []
    assert shrag("keys", "create", home=tmp_path / "home").returncode == 0


@pytest.mark.parametrize(
    ("error", "said", "remedy"),
    [
        (errno.EIO, "cannot be used (", ()),
        (errno.ENOSPC, "was not written: ", ("free space on this disk, then try again",)),
    ],
)
def test_room_is_asked_for_where_the_disk_is_full_and_not_where_it_fails(
    tmp_path, monkeypatch, error, said, remedy
):
    def broken(*_, **__):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("server.access.key_store.create_durably", broken)
    with pytest.raises(StoreUnusable) as failed:
        Keys(Store(tmp_path)).add(make_key()[1])

    assert failed.value.what.startswith(f"{tmp_path / FILE} {said}")
    assert failed.value.remedies == remedy


def test_a_further_key_that_the_disk_has_no_room_for_leaves_the_keys_that_were(tmp_path):
    first = make(tmp_path)

    made = create_on_full_disk(tmp_path, 1_000)

    assert made.returncode == 1
    assert f"{FILE} " in made.stderr
    assert "(disk /" in made.stderr
    assert set(Keys(Store(tmp_path)).all()) == {id_of(first)}


def test_an_empty_file_of_keys_is_reported_and_filled_by_the_next_key(tmp_path):
    (tmp_path / FILE).touch()

    listed = shrag("keys", "list", home=tmp_path)

    assert listed.returncode == 1
    assert f"{FILE} is empty" in listed.stderr
    assert "shrag keys create" in listed.stderr
    with pytest.raises(StoreEmpty):
        Keys(Store(tmp_path)).all()
    made = make(tmp_path)
    assert set(Keys(Store(tmp_path)).all()) == {id_of(made)}


def test_a_server_with_an_empty_file_of_keys_says_so_until_a_key_is_made(tmp_path):
    build(tmp_path, ROOT / "sample" / "papers.jsonl", name=NAME)
    with serving(tmp_path, tmp_path / "log") as server:
        (tmp_path / FILE).touch()

        def codes():
            return server.get("/healthz").json().get("errors"), server.get("/readyz").json().get("code")

        wait_for(codes, lambda found: found == (["keys-empty"], "keys-empty"))
        assert search(server).json()["code"] == "keys-empty"
        key = make(tmp_path)
        wait_for(codes, lambda found: found == (None, None))
        assert search(server, bearer(key)).status_code == 200


def test_an_open_server_starts_beside_an_empty_file_of_keys_and_is_ready(tmp_path):
    build(tmp_path, ROOT / "sample" / "papers.jsonl", name=NAME)
    (tmp_path / FILE).touch()
    with serving(tmp_path, tmp_path / "log", "--open") as server:
        assert server.get("/healthz").json() == {"status": "ok", "errors": ["keys-empty"]}
        assert server.get("/readyz").status_code == 200


def test_a_store_that_another_process_writes_to_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("server.access.key_store.WAIT_S", START_S)
    make(tmp_path)
    with ThreadPoolExecutor() as threads, closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute("BEGIN EXCLUSIVE")
        waiting = threads.submit(Keys(Store(tmp_path)).add, make_key()[1])
        time.sleep(0.5)
        assert not waiting.done()
        other.commit()

    assert len(Keys(Store(tmp_path)).all()) == 2


def test_keys_made_at_once_are_all_there(tmp_path):
    command = [sys.executable, str(ROOT / "shrag.py"), "keys", "create"]
    makers = [
        subprocess.Popen(command, env=environment_of(tmp_path), stdout=subprocess.PIPE) for _ in range(4)
    ]
    made = {id_of(maker.communicate()[0].decode().strip()) for maker in makers}

    assert set(Keys(Store(tmp_path)).all()) == made
    assert len(made) == 4


def test_a_kill_in_the_middle_of_a_change_leaves_the_keys_that_were(tmp_path):
    make(tmp_path)
    script = (
        "import os, sqlite3, sys\n"
        "d = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "d.execute('PRAGMA cache_size = 1'); d.execute('PRAGMA cache_spill = 1'); d.execute('BEGIN')\n"
        "for n in range(2000):\n"
        "    d.execute('INSERT INTO sessions SELECT randomblob(900), id, created FROM keys')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / FILE)], check=False)
    assert (tmp_path / f"{FILE}-journal").exists()

    kept = Keys(Store(tmp_path)).all()

    assert len(kept.keys) == 1
    assert not kept.sessions


def test_no_key_no_answer_but_whether_the_server_lives(keyed):
    assert search(keyed).status_code == 401
    assert search(keyed).json()["code"] == "key-needed"
    assert search(keyed).headers["www-authenticate"].startswith("Bearer")
    for path in ("/healthz", "/readyz", "/api/v1/session"):
        assert keyed.get(path).status_code == 200
    for path in ("/metrics", "/api/v1/indexes", "/mcp", "/v1/models", "/nothing", "/%2e%2e/etc/passwd"):
        assert keyed.get(path).status_code == 401


def test_a_key_opens_by_either_header(keyed):
    key = make(keyed.home)

    assert search(keyed, bearer(key)).status_code == 200
    assert search(keyed, {"authorization": f"bearer {key}"}).status_code == 200
    assert search(keyed, {"X-API-Key": key}).status_code == 200


def test_wrong_keys_open_nothing(keyed):
    key = make(keyed.home)
    wrong = [key[:-2], f"{key}x", key.upper(), "shrag_", "x", key.replace("shrag_", ""), f"{key} {key}"]

    assert {search(keyed, bearer(each)).status_code for each in wrong} == {401}
    assert search(keyed, {"Authorization": f"Basic {key}"}).status_code == 401
    assert search(keyed, {"Authorization": key}).status_code == 401
    assert keyed.get("/api/v1/indexes", params={"key": key, "api_key": key}).status_code == 401


def test_several_keys_in_one_call_are_refused(keyed):
    key, other = make(keyed.home), make(keyed.home)

    assert search(keyed, bearer(key) | {"X-API-Key": other}).status_code == 422
    assert search(keyed, bearer(key) | {"X-API-Key": key}).status_code == 200


def test_a_running_server_sees_at_once_what_becomes_of_keys(keyed):
    key = make(keyed.home)
    assert search(keyed, bearer(key)).status_code == 200

    shrag("keys", "revoke", id_of(key), home=keyed.home)

    until_answered(401, lambda: search(keyed, bearer(key)))


def test_an_expired_key_opens_nothing(keyed):
    key, kept = make_key(expires=datetime.now(UTC) + timedelta(seconds=1))
    Keys(Store(keyed.home)).add(kept)

    until_answered(401, lambda: search(keyed, bearer(key)))


def test_the_day_of_its_last_use_is_listed(keyed):
    key = make(keyed.home)
    search(keyed, bearer(key))
    used = wait_for(lambda: Keys(Store(keyed.home)).all()[id_of(key)].last_used, bool)

    assert used
    assert abs(used - datetime.now(UTC).date()) <= timedelta(days=1)


def test_other_indexes_are_not_there_for_a_key_of_one(keyed):
    key = make(keyed.home, "--index", "other")

    foreign = search(keyed, bearer(key))
    missing = search(keyed, bearer(key), index="missing")
    listed = keyed.get("/api/v1/indexes", headers=bearer(key)).json()["indexes"]

    assert foreign.status_code == missing.status_code == 404
    assert foreign.json()["detail"].replace(NAME, "missing") == missing.json()["detail"]
    assert [index["name"] for index in listed] == ["other"]
    assert search(keyed, bearer(key), index=None).json()["index"] == "other"
    decomposed = keyed.get(f"/api/v1/indexes/{NAME}", headers=bearer(key))
    assert decomposed.status_code == 404
    for name in (NAME, "missing"):
        for form in ({}, {"format": "ris"}):
            asked = {"id": f"{name}/SAMPLE-BAT-011"} | form
            told = keyed.get("/unapi", params=asked, headers=bearer(key))
            assert told.status_code == 404
            assert told.json()["detail"] == f"unknown paper '{name}/SAMPLE-BAT-011'"


def test_only_admin_keys_read_metrics(keyed):
    reads, administers = make(keyed.home), make(keyed.home, "--role", "operator")

    assert keyed.get("/metrics", headers=bearer(reads)).status_code == 403
    assert keyed.get("/metrics", headers=bearer(administers)).status_code == 200
    assert search(keyed, bearer(administers)).status_code == 200


def test_the_page_keeps_a_session_that_no_script_reads(keyed):
    key = make(keyed.home, "--label", "reading room")
    with httpx.Client(base_url=keyed.url, timeout=START_S) as page:
        assert page.get("/api/v1/session").json()["keys_needed"] is True
        begun = page.post("/api/v1/session", json={"key": key})
        cookie = begun.headers["set-cookie"].lower()

        assert begun.json()["label"] == "reading room"
        assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
        assert key.lower() not in cookie
        assert page.get("/api/v1/indexes").status_code == 200
        assert page.get("/api/v1/session").json()["role"] == "reader"
        body = {"question": ENGLISH, "index": NAME}
        own = {"Origin": keyed.url, "Sec-Fetch-Site": "same-origin"}
        assert page.post("/api/v1/search", json=body, headers=own).status_code == 200
        assert page.post("/api/v1/search", json=body).status_code == 403
        for foreign in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            assert page.post("/api/v1/search", json=body, headers=foreign).status_code == 403
        token = page.cookies["shrag"]
        assert page.delete("/api/v1/session", headers=own).status_code == 204
        assert "shrag" not in page.cookies
    assert search(keyed, {"Cookie": f"shrag={token}", **own}).status_code == 401


def test_a_key_has_so_many_sessions_and_the_oldest_ends(tmp_path):
    make(tmp_path)
    store = Keys(Store(tmp_path))
    (key_id,) = store.read().keys
    ends = datetime.now(UTC) + timedelta(days=1)
    for number in range(MOST_SESSIONS + 2):
        store.begin_session(bytes([number]), Session(key_id, ends))

    assert set(store.read().sessions) == {bytes([number]) for number in range(2, MOST_SESSIONS + 2)}


def test_who_is_not_signed_in_ends_no_session(keyed):
    with sqlite3.connect(keyed.home / FILE, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")  # nobody else can write
        answer = keyed.delete(
            "/api/v1/session",
            headers={"Cookie": "shrag=made-up", "Sec-Fetch-Site": "same-origin"},
        )
        other.execute("ROLLBACK")

    assert answer.status_code == 204


def test_a_session_ends_with_its_key(keyed):
    key = make(keyed.home)
    with httpx.Client(base_url=keyed.url, timeout=START_S) as page:
        page.post("/api/v1/session", json={"key": key})
        assert page.get("/api/v1/indexes").status_code == 200

        shrag("keys", "revoke", id_of(key), home=keyed.home)

        until_answered(401, lambda: page.get("/api/v1/indexes"))


def test_a_wrong_key_begins_no_session(keyed):
    answer = keyed.post("/api/v1/session", json={"key": "shrag_aaaaaaaaaa_x"})

    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_keys_stand_in_no_log(keyed):
    key = make(keyed.home)
    search(keyed, bearer(key))
    search(keyed, bearer(f"{key}x"))

    assert key.split("_", 2)[2] not in keyed.log.read_text("utf-8")


def test_a_server_whose_store_breaks_lets_nobody_in(sample_home, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    key = make(home)
    with serving(home, tmp_path / "log") as server:
        assert search(server, bearer(key)).status_code == 200
        whole = (home / FILE).read_bytes()

        (home / FILE).write_bytes(b"x" * len(whole))
        until_answered(503, lambda: search(server, bearer(key)))
        assert server.get("/healthz").status_code == 200

        (home / FILE).unlink()
        until_answered(401, lambda: search(server, bearer(key)))
        assert search(server).status_code == 401

        (home / FILE).write_bytes(whole)
        until_answered(200, lambda: search(server, bearer(key)))


def test_without_keys_this_machine_reads_and_the_first_key_closes_it(sample_home, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    with serving(home, tmp_path / "log", server__local_operator="false") as server:
        assert search(server).status_code == 200
        assert server.get("/metrics").status_code == 401
        assert search(server, bearer("a placeholder")).status_code == 200

        key = make(home)

        until_answered(401, lambda: search(server))
        assert search(server, bearer(key)).status_code == 200


def test_digests_are_those_of_sha_256():
    assert digest_of("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_processes_share_keys_and_sessions(sample_home, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / NAME).symlink_to(sample_home / NAME)
    make(home)
    with serving(home, tmp_path / "log", server__workers=2) as server:
        for _ in range(5):
            begun = server.post("/api/v1/session", json={"key": make(home)})
            token = {"Cookie": f"shrag={begun.cookies['shrag']}"}
            asked = [server.get("/api/v1/indexes", headers=token) for _ in range(6)]

            assert {answer.status_code for answer in asked} == {200}
