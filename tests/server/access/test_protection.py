"""Where the server may be reached, and by which names."""

import socket
from typing import Any

import pytest

from tests.generator.sample_index import ENGLISH, shrag
from tests.server.running import application

# Settings, and the status of a read by the name of the host.
HOSTS: list[tuple[dict[str, Any], dict[str, int]]] = [
    (
        {"host": "0.0.0.0"},
        {"evil.example": 421, "192.0.2.7": 200, socket.gethostname(): 200},
    ),
    (
        {"allowed_hosts": "search.example.org, other.example", "origins": "https://a.example"},
        dict.fromkeys(("localhost", "127.0.0.1:80", "[::1]", "search.example.org", "OTHER.example:80"), 200)
        | dict.fromkeys(("evil.example", "search.example.org.evil.example", "xsearch.example.org"), 421),
    ),
]


@pytest.mark.parametrize(("settings", "expected"), HOSTS, ids=["reached from elsewhere", "named"])
def test_it_answers_to_its_own_names_alone(sample_home, settings, expected):
    with application(sample_home, open=True, **settings) as server:
        read = {host: server.get("/api/v1/indexes", headers={"Host": host}).status_code for host in expected}
        assert read == expected
        assert server.get("/metrics").status_code == 401


def test_pages_of_named_origins_may_ask(sample_home):
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    with application(sample_home, origins="https://portal.example.org") as server:
        for origin, allowed in (("https://portal.example.org", True), ("https://evil.example", False)):
            headers = {"Origin": origin}
            before = server.options("/api/v1/search", headers=headers | preflight)
            asked = server.post("/api/v1/search", json={"question": ENGLISH}, headers=headers)
            for answer in (before, asked):
                assert (answer.headers.get("access-control-allow-origin") == origin) is allowed
            assert asked.status_code == (200 if allowed else 403)
            assert "access-control-allow-credentials" not in asked.headers


def test_behind_https_the_cookie_is_the_hosts_own_and_browsers_stay_there(home):
    key = shrag("keys", "create", home=home).stdout.strip()
    with application(home, public_url="https://search.example.org") as server:
        own = {"Host": "search.example.org", "Origin": "https://search.example.org"}
        begun = server.post("/api/v1/session", json={"key": key}, headers=own)
        cookie = begun.headers["set-cookie"]

        assert cookie.startswith("__Host-shrag=")
        assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
        assert begun.headers["strict-transport-security"].startswith("max-age=")
        token = cookie.partition(";")[0]
        asked = server.post(
            "/api/v1/search",
            json={"question": ENGLISH},
            headers=own | {"Cookie": token},
        )
        assert asked.status_code == 200
        plain = token.replace("__Host-", "")  # which a neighbouring host could have set
        assert server.get("/api/v1/indexes", headers=own | {"Cookie": plain}).status_code == 401


@pytest.mark.parametrize(
    "elsewhere", [{"proxies": "127.0.0.1"}, {"public_url": "https://search.example.org"}, {"host": "0.0.0.0"}]
)
def test_the_setting_makes_it_the_operator_if_only_this_machine_reaches_the_server(sample_home, elsewhere):
    for settings, status in (({}, 200), (elsewhere, 401)):
        with application(sample_home, address="127.0.0.1", local_operator=True, **settings) as server:
            assert server.get("/metrics").status_code == status
