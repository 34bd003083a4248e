"""The store: one file for all processes, whole after a kill, and closed to everybody when it is damaged."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest

from server.access.keys import MOST_SESSIONS, Keys, Session, add_session, digest_of, find_session, make_key
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


def test_a_kill_in_the_middle_of_a_change_leaves_the_old_state(store, tmp_path):
    for name, number in (("a", 4), ("b", 9)):
        code = f"import sys; from server.store import Store\n{COUNT}"
        killed = [sys.executable, "-c", code, str(tmp_path), "100", name]
        subprocess.run(killed, cwd=ROOT, env=environment_of(tmp_path), check=False)
        rows = store.rows("SELECT value FROM secrets ORDER BY name")
        assert [int(value) for (value,) in rows] == [number, number]


def change(path, statement):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "overwritten": lambda path: path.write_bytes(b"x" * path.stat().st_size),
    "cut": lambda path: os.truncate(path, 1_000),  # within the first page, which every call reads
    "emptied": lambda path: path.write_bytes(b""),
    "another format": lambda path: change(path, "PRAGMA user_version = 99"),
    "a wrong row": lambda path: change(path, "UPDATE keys SET role = 'king'"),
    "vanished": os.unlink,
    "a folder": replace_by_folder,
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_store_is_one_clear_error_and_admits_nobody(key, tmp_path, how):
    store, path = Store(tmp_path), tmp_path / FILE
    assert Keys(store).find(key[0])
    DAMAGES[how](path)
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
        add_session(store, Session(digest_of(str(number)), now + 100, now - 50, key_id=key_id))
    add_session(store, Session(digest_of("other"), now + 100, now, person="p"))
    add_session(store, Session(digest_of("idle"), now + 100, now - 50, person="q"))
    add_session(store, Session(digest_of("over"), now - 1, now - 50, person="q"))

    tokens = [*map(str, range(MOST_SESSIONS + 2)), "other", "idle", "over"]
    found = [token for token in tokens if find_session(store, token, idle_s=40)]
    assert found == [*map(str, range(2, MOST_SESSIONS + 2)), "other"]
    Keys(store).revoke(key_id, NOW)
    assert find_session(store, "5", idle_s=40) is None
