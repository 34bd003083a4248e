"""Where the server may be reached, and by which names."""

import socket

import pytest

from tests.generator.sample_index import ENGLISH, shrag
from tests.server.running import application, serving


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["--host", "0.0.0.0"], {}),
        (["--host", "::"], {}),
        ([], {"server__public_url": "https://search.example.org"}),
        ([], {"server__allowed_hosts": "search.example.org"}),
        ([], {"server__proxies": "127.0.0.1"}),
    ],
)
def test_reached_from_elsewhere_it_starts_with_keys_or_when_told_so(tmp_path, arguments, variables):
    refused = shrag("serve", "--port", "0", *arguments, home=tmp_path, **variables)

    assert refused.returncode == 2
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "shrag keys create" in refused.stderr
    assert "--open" in refused.stderr


@pytest.mark.slow
def test_with_a_key_or_open_it_starts_there(home):
    with serving(home, home / "log", "--host", "0.0.0.0", "--open") as server:
        assert server.get("/api/v1/indexes").status_code == 200
        assert server.get("/metrics").status_code == 401
        for name, status in (("evil.example", 421), ("192.0.2.7", 200), (socket.gethostname(), 200)):
            assert server.get("/api/v1/indexes", headers={"Host": name}).status_code == status
    shrag("keys", "create", home=home)
    with serving(home, home / "log", "--host", "0.0.0.0") as server:
        assert server.get("/api/v1/indexes").status_code == 401


def test_it_answers_to_its_own_names_alone(sample_home):
    hosts = "search.example.org, other.example"
    with application(sample_home, open=True, allowed_hosts=hosts, origins="https://a.example") as server:

        def status(host):
            return server.get("/api/v1/indexes", headers={"Host": host}).status_code

        for own in ("localhost", "127.0.0.1:80", "[::1]", "search.example.org", "OTHER.example:80"):
            assert status(own) == 200
        for foreign in ("evil.example", "search.example.org.evil.example", "xsearch.example.org"):
            assert status(foreign) == 421


def test_pages_of_named_origins_may_ask(sample_home):
    with application(sample_home, origins="https://portal.example.org") as server:
        preflight = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        for origin, allowed in (("https://portal.example.org", True), ("https://evil.example", False)):
            headers = {"Origin": origin}
            before = server.options("/api/v1/search", headers=headers | preflight)
            asked = server.post("/api/v1/search", json={"question": ENGLISH}, headers=headers)

            assert (before.headers.get("access-control-allow-origin") == origin) is allowed
            assert (asked.headers.get("access-control-allow-origin") == origin) is allowed
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
