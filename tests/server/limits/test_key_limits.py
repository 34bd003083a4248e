"""Limits of a key's own: how often, how much in a day, how much at once; over processes and restarts."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from urllib.parse import urlencode

import httpx
import pytest

from server.access.key_store import FILE, KeyStore
from server.access.keys import KeyLimits, make_key
from server.errors import TooManyOpen
from server.limits import daily_use
from server.limits.daily_use import DAY_S, DailyUse, calls_today, open_daily_use
from server.limits.open_calls import OpenCalls
from server.limits.shared_table import SIZE
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.indexer.made_corpora import ROOT, environment_of
from tests.needs import mostly_nightly
from tests.server.processes.test_stopping import ENDLESS, STREAMED, with_model
from tests.server.running import START_S, serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server

# The store as it was made before keys had limits.
WITHOUT_LIMITS = """
    CREATE TABLE keys (
        id TEXT PRIMARY KEY, digest BLOB NOT NULL, label TEXT NOT NULL, scope TEXT NOT NULL,
        indexes TEXT NOT NULL, created TEXT NOT NULL, expires TEXT, revoked TEXT, last_used TEXT
    ) STRICT;
    CREATE TABLE sessions (
        digest BLOB PRIMARY KEY, key_id TEXT NOT NULL REFERENCES keys (id), expires TEXT NOT NULL
    ) STRICT;
    PRAGMA user_version = 1;
"""


@pytest.fixture
def home(sample_home, tmp_path):
    """Return a home with the sample, to make keys in."""
    (tmp_path / NAME).symlink_to(sample_home / NAME)
    return tmp_path


def make(home, *options):
    """Make a key by the command; return the header of it."""
    done = shrag("keys", "create", *options, home=home)
    assert done.returncode == 0, done.stderr
    return {"X-API-Key": done.stdout.strip()}


def listed(home):
    """Return the keys by id, as `keys list --json` has them."""
    return {key["id"]: key for key in json.loads(shrag("keys", "list", "--json", home=home).stdout)["keys"]}


def id_in(header):
    """Return the id in the header of a key."""
    return header["X-API-Key"].split("_")[1]


def call(server, path, headers):
    """Ask the sample."""
    return server.post(f"/api/v1/{path}", json={"question": ENGLISH, "index": NAME}, headers=headers)


@pytest.mark.parametrize("workers", mostly_nightly([1, 2], by_day={1}))
def test_a_rate_is_for_searches_and_questions_together_and_a_third_of_it_may_come_at_once(home, workers):
    slow, other = make(home, "--rate", "6"), make(home)
    settings = {"server__workers": workers, "server__search_burst": 100}
    with serving(home, home / "log", **settings) as server:
        first = [call(server, path, slow) for path in ("search", "ask")]
        refused = wait_for(lambda: call(server, "search", slow), lambda answer: answer.status_code == 429)

        assert [answer.status_code for answer in first] == [200, 200]
        assert first[0].headers["ratelimit-policy"] == '"key";q=2;w=20'
        assert refused.json()["code"] == "too-often"
        assert server.get("/api/v1/indexes", headers=slow).status_code == 200
        assert [call(server, "search", other).status_code for _ in range(5)] == [200] * 5


def test_a_key_without_a_rate_limit_is_not_bound_by_that_of_the_settings(home):
    free, other = make(home, "--rate", "0"), make(home)
    settings = {"server__searches_per_minute": 0.2, "server__search_burst": 1}
    with serving(home, home / "log", **settings) as server:
        assert [call(server, "search", free).status_code for _ in range(4)] == [200] * 4
        assert [call(server, "search", other).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("workers", mostly_nightly([1, 2], by_day={2}))
def test_a_day_has_so_many_searches_and_questions_also_after_a_restart(home, workers):
    key, other = make(home, "--per-day", "3"), make(home)
    settings = {"server__workers": workers}
    with serving(home, home / "log", **settings) as server:
        assert [call(server, path, key).status_code for path in ("search", "ask")] == [200, 200]
        server.process.kill()  # not stopped: nothing is written at the end
        server.process.wait()
    with serving(home, home / "log", **settings) as server:
        third, refused = call(server, "facets", key), call(server, "search", key)

        assert third.status_code == 200
        assert third.headers.get_list("ratelimit")[0].startswith('"search"')
        assert '"day";r=0' in third.headers["ratelimit"]
        assert refused.status_code == 429
        assert refused.json()["code"] == "quota-used"
        assert 1 <= int(refused.headers["retry-after"]) <= DAY_S
        assert call(server, "search", other).status_code == 200
        assert server.get("/api/v1/indexes", headers=key).status_code == 200
        found = server.post("/v1/chat/completions", json={"model": NAME, "messages": []}, headers=key)
        assert found.json()["error"]["code"] == "insufficient_quota"

    assert [each["today"] for each in listed(home).values()] == [3, 1]


def test_calls_that_a_full_queue_refuses_are_not_counted_in_the_day(home):
    key = make(home, "--per-day", "1000", "--connections", "0")
    limits = {"server__searches_at_once": 1, "server__waiting": 0, "server__search_burst": 100}
    with serving(home, home / "log", **limits) as server:
        call(server, "search", key)
        server.process.send_signal(signal.SIGSTOP)  # all are there when it goes on
        calls = [HTTPConnection("127.0.0.1", server.port, timeout=START_S) for _ in range(12)]
        for each in calls:
            body = json.dumps({"question": ENGLISH, "index": NAME})
            each.request("POST", "/api/v1/search", body, {"Content-Type": "application/json", **key})
        server.process.send_signal(signal.SIGCONT)
        statuses = [each.getresponse().status for each in calls]
        for each in calls:
            each.close()

    assert set(statuses) == {200, 429}
    assert listed(home)[id_in(key)]["today"] == 1 + statuses.count(200)


def test_calls_that_do_no_work_are_not_counted_in_the_day(home):
    key = make(home, "--per-day", "10")
    with serving(home, home / "log", server__body_bytes=1_000) as server:
        headers = {"Content-Type": "application/json", **key}
        refused = [
            server.request(method, "/api/v1/search", content=body, headers=headers).status_code
            for method, body in (("POST", b"x" * 2_000), ("POST", b"no JSON"), ("PUT", b""))
        ]
        found = call(server, "search", key)

    assert (refused, found.status_code) == ([413, 422, 405], 200)
    assert listed(home)[id_in(key)]["today"] == 1


@pytest.mark.parametrize("workers", mostly_nightly([1, 2], by_day={2}))
def test_a_key_has_so_many_calls_open_at_once(home, workers):
    key, other = make(home, "--connections", "2"), make(home)
    with (
        model_served(ENDLESS) as model,
        serving(home, home / "log", server__workers=workers, **with_model(model)) as server,
        ExitStack() as streams,
        httpx.Client(timeout=START_S) as reader,
    ):
        lines = []
        for _ in range(2):
            address = f"{server.url}/api/v1/ask?{urlencode({'question': ENGLISH, 'index': NAME})}"
            stream = streams.enter_context(reader.stream("GET", address, headers={**key, **STREAMED}))
            lines.append(stream.iter_lines())  # a stream closes with its iterator
            assert next(lines[-1])
        refused = server.get("/api/v1/indexes", headers=key)

        assert refused.status_code == 429
        assert refused.json()["code"] == "too-many-connections"
        assert server.get("/api/v1/indexes", headers=other).status_code == 200
        assert server.get("/", headers=key).status_code == 200
        streams.close()
        wait_for(lambda: server.get("/api/v1/indexes", headers=key).status_code, lambda found: found == 200)


def test_places_of_a_process_that_was_killed_are_free_again(tmp_path):
    script = (
        "import sys; from pathlib import Path; from server.limits.open_calls import OpenCalls\n"
        "calls = OpenCalls(Path(sys.argv[1])); held = calls.one_more('a', 2); held.__enter__()\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    path = tmp_path / "open-calls"
    command = [sys.executable, "-c", script, str(path)]
    with (
        OpenCalls(path) as calls,
        subprocess.Popen(
            command, env=environment_of(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
        ) as holder,
    ):
        assert holder.stdout
        holder.stdout.readline()
        with calls.one_more("a", 2), pytest.raises(TooManyOpen), calls.one_more("a", 2):
            pass
        with calls.one_more("b", 1):
            pass
        holder.kill()
        holder.wait()
        with calls.one_more("a", 2), calls.one_more("a", 2):
            pass


def test_a_day_begins_at_midnight_in_utc():
    now = [DAY_S * 20_000 - 2.0]
    with DailyUse(clock=lambda: now[0]) as days:
        assert [days.take("a", 2).allowed for _ in range(3)] == [True, True, False]
        assert days.take("a", 2).ends_in_s == 2
        now[0] += 2
        assert days.take("a", 2).used == 1
        days.give_back("a")
        days.give_back("a")
        assert days.take("a", 2).used == 1


def test_processes_count_a_day_together(tmp_path):
    script = (
        "import sys; from pathlib import Path; from server.limits.daily_use import DailyUse\n"
        "with DailyUse(Path(sys.argv[1]), clock=lambda: 1e9) as days:\n"
        "    print(sum(days.take('a', 500).allowed for _ in range(1000)))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "days")]
    takers = [
        subprocess.Popen(command, env=environment_of(tmp_path), stdout=subprocess.PIPE, cwd=ROOT)
        for _ in range(3)
    ]

    assert sum(int(taker.communicate()[0]) for taker in takers) == 500


@pytest.mark.parametrize("content", [b"", b"x", os.urandom(SIZE), b"\xff" * (SIZE + 1)])
def test_a_damaged_count_of_the_day_keeps_nobody_out(tmp_path, content):
    (tmp_path / daily_use.FILE).write_bytes(content)

    assert calls_today(tmp_path, ["a"]) == {"a": 0}
    with open_daily_use(tmp_path, None) as days:
        assert days.take("a", 1).allowed
        assert [days.used("a"), days.used("b")] == [1, 0]
    assert calls_today(tmp_path, ["a", "b"]) == {"a": 1, "b": 0}


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_a_home_that_cannot_hold_the_counts_leaves_them_to_the_server(tmp_path, make):
    make(tmp_path / daily_use.FILE)
    with open_daily_use(tmp_path, None) as days:
        assert [days.take("a", 1).allowed for _ in range(2)] == [True, False]


def test_keys_of_a_store_from_before_limits_open_and_new_ones_have_limits(tmp_path):
    text, before = make_key("before")
    with closing(sqlite3.connect(tmp_path / FILE)) as old:
        old.executescript(WITHOUT_LIMITS)
        row = (before.id, before.digest, before.label, "read", "[]", before.created.isoformat())
        old.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)", row)
        old.commit()
    store = KeyStore(tmp_path)
    assert store.read().keys == {before.id: before}

    _, added = make_key("after", limits=KeyLimits(per_day=5))
    store.add(added)

    assert store.read().keys == {before.id: before, added.id: added}
    assert text.split("_")[1] == before.id


def test_lists_show_limits_and_what_is_used(tmp_path):
    key = make(tmp_path, "--rate", "120", "--per-day", "1000", "--connections", "0")
    make(tmp_path)

    limited, plain = listed(tmp_path).values()
    rows = shrag("keys", "list", home=tmp_path).stdout

    assert limited["id"] == id_in(key)
    names = ("per_minute", "per_day", "connections", "today")
    assert [limited[name] for name in names] == [120, 1000, 0, 0]
    assert [plain[name] for name in names] == [None, None, None, 0]
    assert "120 a minute, 1,000 a day" in rows


@pytest.mark.parametrize(
    "option", [("--rate", "-1"), ("--rate", "x"), ("--per-day", "0"), ("--connections", "1001")]
)
def test_limits_that_cannot_be_are_refused(tmp_path, option):
    done = shrag("keys", "create", *option, home=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert not (tmp_path / FILE).exists()


def test_the_operator_sees_what_keys_may_do_and_have_done(home):
    admin = make(home, "--role", "operator")
    key = make(home, "--per-day", "10")
    with serving(home, home / "log") as server:
        call(server, "search", key)
        # Closing the file in the server's process would release the locks that the process has on it.
        (home / daily_use.FILE).unlink()
        keys = {each["id"]: each for each in server.get("/api/v1/status", headers=admin).json()["keys"]}

    assert (keys[id_in(key)]["per_day"], keys[id_in(key)]["today"]) == (10, 1)
