"""Limits of a running server: who is refused, how soon, and what the answer says."""

import json
import re
import signal
from functools import partial
from http.client import HTTPConnection

import httpx
import pytest

from tests.generator.sample_index import ENGLISH, NAME, shrag
from tests.server.running import START_S, serving, wait_for

pytestmark = pytest.mark.slow  # starts processes of the server

# A token in some minutes: none comes back while a test runs, however slowly.
RATES = {"server__searches_per_minute": 0.2, "server__search_burst": 3, "server__asks_per_minute": 0}
JSON = {"Content-Type": "application/json"}
ELSEWHERE = {"X-Forwarded-For": "198.51.100.1"}


def search(server, headers=None, question=ENGLISH):
    """Search the sample."""
    call = {"question": question, "index": NAME}
    return server.post("/api/v1/search", json=call, headers=headers)


@pytest.fixture(scope="module")
def home(sample_home, tmp_path_factory):
    """Return a home with the sample and two keys."""
    home = tmp_path_factory.mktemp("limited")
    (home / NAME).symlink_to(sample_home / NAME)
    return home


@pytest.fixture(scope="module")
def keys(home):
    """Make keys."""
    return [shrag("keys", "create", home=home).stdout.strip() for _ in range(4)]


def test_a_key_has_so_many_searches(home, keys, tmp_path):
    with serving(home, tmp_path / "log", **RATES) as server:
        one, other = ({"Authorization": f"Bearer {key}"} for key in keys[:2])
        answers = [search(server, one) for _ in range(8)]

        assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 5
        refused = answers[3]
        assert refused.json()["code"] == "too-often"
        assert 1 <= int(refused.headers["retry-after"]) <= 300
        assert refused.headers["ratelimit-policy"] == '"search";q=3;w=900'
        assert re.fullmatch(r'"search";r=0;t=\d+', refused.headers["ratelimit"])
        assert search(server, other).status_code == 200
        ask = {"question": ENGLISH, "index": NAME}
        for _ in range(5):
            asked = server.post("/api/v1/ask", json=ask, headers=one)
            assert asked.status_code == 200


def test_what_programs_look_up_of_the_tools_counts_as_reading(home, keys, tmp_path):
    limits = {"server__reads_per_minute": 0.2, "server__read_burst": 2}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with serving(home, tmp_path / "log", **limits) as server:
        headers = {"Authorization": f"Bearer {keys[0]}", "Accept": "application/json, text/event-stream"}
        statuses = [server.post("/mcp", json=listing, headers=headers).status_code for _ in range(3)]

    assert statuses == [200, 200, 429]


def test_only_reported_nobody_is_refused(home, keys, tmp_path):
    with serving(home, tmp_path / "log", server__report_only=True, **RATES) as server:
        answers = [search(server, {"X-API-Key": keys[0]}) for _ in range(5)]

    assert {answer.status_code for answer in answers} == {200}
    assert answers[-1].headers["x-ratelimit-report-only"] == "exceeded"
    assert "x-ratelimit-report-only" not in answers[0].headers


def test_addresses_are_those_that_trusted_proxies_name(sample_home, tmp_path):
    limits = RATES | {"server__proxies": "127.0.0.1"}
    with serving(sample_home, tmp_path / "log", "--open", **limits) as server:
        ones = [search(server, ELSEWHERE).status_code for _ in range(5)]
        # Who is added before the proxy's own entry is what the caller pretends.
        forged = {"X-Forwarded-For": "203.0.113.5, 198.51.100.1"}
        another = search(server, {"X-Forwarded-For": "198.51.100.2"}).status_code
        same_network = [
            search(server, {"X-Forwarded-For": f"2001:db8::{part}"}).status_code for part in range(1, 6)
        ]

        assert ones == [200] * 3 + [429] * 2
        assert search(server, forged).status_code == 429
        assert another == 200
        assert same_network == [200] * 3 + [429] * 2


def test_what_is_too_much_at_once_is_refused_soon_and_the_rest_is_answered(sample_home, tmp_path):
    limits = {"server__searches_at_once": 1, "server__waiting": 0}
    with serving(sample_home, tmp_path / "log", **limits) as server:
        search(server)
        server.process.send_signal(signal.SIGSTOP)  # all are there when it goes on
        calls = [HTTPConnection("127.0.0.1", server.port, timeout=START_S) for _ in range(12)]
        for number, call in enumerate(calls):
            call.request("POST", "/api/v1/search", json.dumps({"question": f"{ENGLISH} {number}"}), JSON)
        server.process.send_signal(signal.SIGCONT)
        answers = [call.getresponse() for call in calls]
        refused = next(answer for answer in answers if answer.status == 429)

        assert {answer.status for answer in answers} == {200, 429}
        assert json.load(refused)["code"] == "too-busy"
        assert int(refused.headers["retry-after"]) >= 1
        assert search(server).status_code == 200
        for call in calls:
            call.close()


def test_work_that_takes_too_long_is_ended(sample_home, tmp_path):
    with serving(sample_home, tmp_path / "log", server__search_s=0.001) as server:
        answer = search(server)

    assert answer.status_code == 503
    assert answer.json()["code"] == "too-slow"


def test_a_flood_of_wrong_keys_is_refused(home, keys, tmp_path):
    with serving(home, tmp_path / "log") as server:
        wrong = {"Authorization": f"Bearer {keys[0][:-1]}"}
        assert search(server, wrong).status_code == 401
        with httpx.Client(base_url=server.url, timeout=START_S) as client:
            for each in (wrong, {"Cookie": "shrag=made-up"}):
                flood = partial(client.get, "/api/v1/indexes", headers=each)
                wait_for(flood, lambda answer: answer.status_code == 429)
        assert server.get("/", headers=wrong).status_code == 200
        assert search(server, {"Authorization": f"Bearer {keys[0]}"}).status_code == 200
