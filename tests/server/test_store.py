"""The store: one file for all processes, whole after a kill, and closed to everybody when it is damaged."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from server.access.keys import Keys, make_key
from server.access.sessions import MOST_SESSIONS, Session, add_session, find_session
from server.errors import StoreUnusable
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


def test_a_store_that_the_server_made_is_not_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv(MUST_EXIST, "1")
    for use in (Keys(Store(tmp_path)).are_needed, lambda: Store(tmp_path).secret("x")):
        with pytest.raises(StoreUnusable):
            use()
    assert not (tmp_path / FILE).exists()


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
