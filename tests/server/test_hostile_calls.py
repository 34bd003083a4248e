"""Calls that nobody honest makes: they get in nowhere, and hold nobody up."""

import socket
from contextlib import closing

import pytest

from tests.generator.sample_index import ENGLISH, NAME
from tests.server.running import START_S, serving

POST = b"POST /api/v1/search HTTP/1.1\r\nContent-Type: application/json\r\n"
HOST = b"Host: localhost\r\n"


@pytest.fixture(scope="module")
def guarded(sample_home, tmp_path_factory):
    """Serve with a short patience and small bounds."""
    bounds = {"server__body_s": 1, "server__body_bytes": 20_000, "server__connections": 300}
    with serving(sample_home, tmp_path_factory.mktemp("guarded") / "log", **bounds) as server:
        yield server


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (POST + HOST + b"Content-Length: 100\r\n\r\n{", 408),  # slow: the rest is not waited for
        (POST + HOST + b"Content-Length: 900000\r\n\r\n" + b"x" * 60_000, 413),
        (POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + b"2000\r\n%b\r\n" % (b"x" * 0x2000) * 8, 413),
        (POST + b"Host: evil.example\r\nContent-Length: 900000\r\n\r\n", 421),
    ],
)
def test_a_body_that_is_not_read_is_refused_and_the_connection_closed(guarded, sent, status):
    got = b""
    with closing(socket.create_connection(("127.0.0.1", guarded.port), timeout=START_S)) as connection:
        try:
            connection.sendall(sent)
            while piece := connection.recv(65_536):  # until it closes
                got += piece
        except (BrokenPipeError, ConnectionResetError):  # with what was sent still unread
            pass
    assert got[:12] in {b"HTTP/1.1 %d" % status, *([b""] if status == 413 else [])}
    assert not got or b"connection: close" in got.lower()


def test_answers_carry_what_browsers_go_by(guarded):
    for path in ("/", "/healthz", "/nothing", "/api/v1/indexes", "/docs"):
        headers = guarded.get(path, headers={"X-Request-ID": "<script>"}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "<" not in headers["x-request-id"]
        assert {"referrer-policy", "cache-control"} <= headers.keys()
        unwanted = {"server", "strict-transport-security", "access-control-allow-origin"}
        assert not unwanted & headers.keys()


CROSS = {"Sec-Fetch-Site": "cross-site"}


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"Origin": "https://evil.example"}, 403),
        ("POST", {"Origin": "null"}, 403),
        ("POST", CROSS | {"Sec-Fetch-Mode": "no-cors"}, 403),
        ("GET", CROSS | {"Sec-Fetch-Mode": "no-cors"}, 403),  # an image
        ("GET", CROSS | {"Sec-Fetch-Mode": "navigate"}, 200),  # a link
    ],
)
def test_pages_of_other_sites_are_refused(api, method, headers, status):
    call = {"question": ENGLISH, "index": NAME}
    given = {"params": call} if method == "GET" else {"json": call}
    assert api.request(method, "/api/v1/search", headers=headers, **given).status_code == status


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/indexes/..%2f..%2fetc",
        "/api/v1/indexes/%2e%2e",
        "/api/v1/indexes/.server.sqlite",
        "/page/x/..%2f..%2fserver%2fapp.py",
        "/page/x/%2e%2e/%2e%2e/settings.py",
        "/docs/../../etc/passwd",
        "/papers/..%2f..%2fetc%2fpasswd",
        "/api/v1/papers/..%2f..%2fetc%2fpasswd",
        "//evil.example/%2e%2e",
        "/%00",
        "/\u202e",
    ],
)
def test_no_path_leads_out(guarded, path):
    answer = guarded.get(path)
    assert answer.status_code in {404, 422}
    assert "root:" not in answer.text
    assert "sqlite" not in answer.text.replace(".server.sqlite", "")
