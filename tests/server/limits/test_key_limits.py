"""Limits of a key's own: how often, how much in a day, how much at once."""

import json
import signal
from contextlib import ExitStack
from http.client import HTTPConnection
from urllib.parse import urlencode

import httpx
import pytest

from server.limits.rates import DAY_S
from server.store import FILE
from tests.generator.language_model import served as model_served
from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.processes.test_stopping import ENDLESS, STREAMED, with_model
from tests.server.running import START_S, serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server


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


def test_a_rate_is_for_searches_and_questions_together_and_a_third_of_it_may_come_at_once(home):
    slow, other = make(home, "--rate", "6"), make(home)
    with serving(home, home / "log", server__search_burst=100) as server:
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


def today_of(home, server, header):
    """Return the calls of a key today, as the operator sees them."""
    operator = make(home, "--role", "operator")
    keys = server.get("/api/v1/status", headers=operator).json()["keys"]
    return next(key["today"] for key in keys if key["id"] == id_in(header))


def test_a_day_has_so_many_searches_and_questions(home):
    key, other = make(home, "--per-day", "3"), make(home)
    with serving(home, home / "log") as server:
        assert [call(server, path, key).status_code for path in ("search", "ask")] == [200, 200]
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
        assert [today_of(home, server, each) for each in (key, other)] == [3, 1]


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
        assert today_of(home, server, key) == 1 + statuses.count(200)


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
        assert today_of(home, server, key) == 1


def test_a_key_has_so_many_calls_open_at_once(home):
    key, other = make(home, "--connections", "2"), make(home)
    with (
        model_served(ENDLESS) as model,
        serving(home, home / "log", **with_model(model)) as server,
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


def test_lists_show_limits(tmp_path):
    key = make(tmp_path, "--rate", "120", "--per-day", "1000", "--connections", "0")
    make(tmp_path)

    limited, plain = listed(tmp_path).values()
    rows = shrag("keys", "list", home=tmp_path).stdout

    assert limited["id"] == id_in(key)
    names = ("per_minute", "per_day", "connections")
    assert [limited[name] for name in names] == [120, 1000, 0]
    assert [plain[name] for name in names] == [None, None, None]
    assert "120 a minute, 1,000 a day" in rows


@pytest.mark.parametrize(
    "option", [("--rate", "-1"), ("--rate", "x"), ("--per-day", "0"), ("--connections", "1001")]
)
def test_limits_that_cannot_be_are_refused(tmp_path, option):
    done = shrag("keys", "create", *option, home=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert not (tmp_path / FILE).exists()
