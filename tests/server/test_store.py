"""The store: one file for all processes, whole after a kill, and closed to everybody when it is damaged."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from server.access.key_store import Keys
from server.access.keys import make_key
from server.access.sessions import MOST_SESSIONS, Session, add_session, find_session
from server.errors import StoreEmpty, StoreUnusable
from server.store import FILE, MUST_EXIST, Store
from tests.indexer.made_corpora import ROOT, environment_of

NOW = datetime.now(UTC)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def key(store):
    """Add a key; return its text and record."""
    made = make_key("reading room", indexes=("a",), sources=("b",))
    Keys(store).add(made[1])
    return made


def test_without_a_file_nothing_is_there_and_reading_makes_none(store, tmp_path):
    assert not Keys(store).are_needed()
    assert Keys(store).all() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_stored_as_a_hash_in_a_file_for_its_owner_alone(store, key, tmp_path):
    text, record = key
    assert Keys(store).all() == {record.id: record}
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o077 == 0
        assert text.split("_", 2)[2].encode() not in file.read_bytes()


def test_a_change_of_another_store_is_seen_by_the_next_read(store, key, tmp_path):
    text, record = key
    keys, elsewhere = Keys(store), Keys(Store(tmp_path))
    for _ in range(20):
        assert keys.find(text)
        other, added = make_key()
        elsewhere.add(added)
        assert keys.find(other)
        elsewhere.revoke(added.id, NOW)
        assert keys.find(other) is None
    elsewhere.revoke(record.id, NOW)
    assert keys.find(text) is None
    assert keys.are_needed()


def run(home, code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys; from server.store import Store\n{code}", str(home), *arguments],
        cwd=ROOT,
        env=environment_of(home),
        stdout=subprocess.PIPE,
    )


COUNT = """
import os
from pathlib import Path
store = Store(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    with store.changing() as database:
        for name in "ab":
            database.execute("INSERT INTO secrets VALUES (?, x'00') ON CONFLICT DO UPDATE SET "
                             "value = CAST(CAST(value AS INTEGER) + 1 AS BLOB)", (name,))
            if (number, name) == (5, sys.argv[3]):
                os.kill(os.getpid(), 9)
"""


def counts(store):
    return [int(value) for (value,) in store.rows("SELECT value FROM secrets ORDER BY name")]


def test_a_kill_in_the_middle_of_a_change_leaves_the_old_state(store, tmp_path):
    for name, number in (("a", 4), ("b", 9)):
        run(tmp_path, COUNT, "100", name).communicate()
        assert counts(store) == [number, number]


def test_changes_of_two_processes_at_once_are_all_there(store, tmp_path):
    processes = [run(tmp_path, COUNT, "100", "") for _ in range(2)]
    for process in processes:
        process.communicate()
    assert counts(store) == [199, 199]  # the first one of both is 0


def damaged(path, how):
    whole = path.read_bytes()
    if how == "overwritten":
        path.write_bytes(b"x" * len(whole))
    elif how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "another format":
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA user_version = 99")
    elif how == "a wrong row":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE keys SET role = 'king'")
    else:
        path.unlink()
        if how == "a folder":
            path.mkdir()


@pytest.mark.parametrize(
    "how", ["overwritten", "cut", "emptied", "another format", "a wrong row", "vanished", "a folder"]
)
def test_a_damaged_store_is_one_clear_error_and_admits_nobody(store, key, tmp_path, how):
    keys, path = Keys(store), tmp_path / FILE
    assert keys.find(key[0])
    store.close()
    store = Store(tmp_path)
    assert Keys(store).find(key[0])
    damaged(path, how)
    stores = {"vanished": [store], "another format": [Store(tmp_path)]}
    for reads in stores.get(how, [store, Store(tmp_path)]):
        with pytest.raises(StoreUnusable) as refused:
            Keys(reads).find(key[0])
        assert str(path) in refused.value.what
        assert all(refused.value.remedies)
        if how not in {"a wrong row", "a folder"}:
            with pytest.raises(StoreUnusable):
                reads.change("DELETE FROM secrets")
        assert (Keys(reads).trouble() is None) == (how == "a wrong row")
    store.close()


def test_an_empty_file_admits_nobody_until_a_key_fills_it(store, tmp_path):
    (tmp_path / FILE).touch()
    text, record = make_key()
    for use in (Keys(store).are_needed, Keys(store).all, lambda: store.secret("x")):
        with pytest.raises(StoreEmpty, match="create a key"):
            use()
    Keys(store).add(record)
    assert Keys(store).find(text)
    assert store.row("PRAGMA journal_mode") == ("wal",)


def test_a_store_that_the_server_made_is_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv(MUST_EXIST, "1")
    for use in (Keys(Store(tmp_path)).are_needed, lambda: Store(tmp_path).secret("x")):
        with pytest.raises(StoreUnusable):
            use()
    assert not (tmp_path / FILE).exists()


def test_another_file_in_its_place_is_opened(store, key, tmp_path):
    other, record = make_key()
    elsewhere = Store(tmp_path / "elsewhere")
    Keys(elsewhere).add(record)
    elsewhere.close()
    (tmp_path / "elsewhere" / FILE).rename(tmp_path / FILE)
    assert (Keys(store).find(other) is None, Keys(store).find(key[0])) == (False, None)


def test_while_another_process_writes_reads_go_on_and_changes_end_in_time(store, key, tmp_path, monkeypatch):
    monkeypatch.setattr("server.store.WAIT_S", 0.2)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert Keys(store).find(key[0])
        with pytest.raises(StoreUnusable, match="try again"):
            Keys(store).revoke(key[1].id, NOW)
        other.execute("ROLLBACK")
    assert Keys(store).revoke(key[1].id, NOW).revoked


def test_on_a_read_only_home_keys_are_checked_and_a_new_file_is_seen(store, key, tmp_path, monkeypatch):
    store.close()
    home = tmp_path / "mounted"
    shutil.copytree(tmp_path, home)
    monkeypatch.setattr(os, "access", lambda *_: False)
    keys = Keys(Store(home))
    assert keys.active(key[1].id)
    assert not (home / f"{FILE}-shm").exists()
    Keys(Store(tmp_path)).revoke(key[1].id, NOW)
    shutil.copyfile(tmp_path / FILE, home / FILE)
    assert keys.active(key[1].id) is None


def test_uses_are_noted_in_the_background_and_a_failure_does_no_harm(store, key, tmp_path, monkeypatch):
    monkeypatch.setattr("server.store.WAIT_S", 0.05)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert Keys(store).find(key[0])
        time.sleep(0.3)
        other.execute("ROLLBACK")
    assert Keys(store).find(key[0])
    store.close()
    assert Keys(Store(tmp_path)).all()[key[1].id].last_used == NOW.date()


def test_a_key_has_so_many_sessions_and_they_end_in_time(store, key):
    key_id, now = key[1].id, time.time()
    for number in range(MOST_SESSIONS + 2):
        add_session(store, Session(bytes([number]), now + 100, now, key_id=key_id))
    add_session(store, Session(b"other", now + 100, now, person="p"))
    add_session(store, Session(b"idle", now + 100, now - 50, person="q"))
    add_session(store, Session(b"over", now - 1, now - 50, person="q"))

    found = [number for number in range(MOST_SESSIONS + 2) if find_session(store, bytes([number]))]
    assert found == list(range(2, MOST_SESSIONS + 2))
    assert [bool(find_session(store, each, idle_s=40)) for each in (b"other", b"idle", b"over")] == [
        *(True, False, False)
    ]
    Keys(store).revoke(key_id, NOW)
    assert find_session(store, bytes([5])) is None
