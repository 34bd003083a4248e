"""Calls that nobody honest makes: they get in nowhere, and hold nobody up."""

import socket
import time
from contextlib import closing, suppress

import pytest

from tests.generator.sample_index import ENGLISH, NAME
from tests.server.running import START_S as PATIENCE_S
from tests.server.running import serving

HOST = b"Host: localhost\r\n"
SEARCH = b"POST /api/v1/search HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"


def connected(server):
    """Open a connection to a server."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
    return closing(connection)


def answer_to(connection, sent=b""):
    """Return what a server says until it closes, or says nothing more."""
    if sent:
        connection.sendall(sent)
    got = b""
    try:
        while piece := connection.recv(65_536):
            got += piece
            head, _, body = got.partition(b"\r\n\r\n")
            length = [
                int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
            ]
            if length and len(body) >= length[0]:
                break
    except ConnectionResetError:
        pass
    return got


def status_of(answer):
    """Return the status of an answer as it came."""
    return int(answer.split(b" ", 2)[1])


@pytest.fixture(scope="module")
def guarded(sample_home, tmp_path_factory):
    """Serve with a short patience and small bounds."""
    bounds = {"server__body_s": 3, "server__body_bytes": 20_000, "server__connections": 300}
    with serving(sample_home, tmp_path_factory.mktemp("guarded") / "log", **bounds) as server:
        yield server


def test_of_a_body_that_is_too_large_nothing_further_is_read(guarded):
    sent = 0
    with connected(guarded) as connection:
        connection.sendall(SEARCH + b"Transfer-Encoding: chunked\r\n\r\n")
        try:
            while sent < 100_000_000:
                connection.sendall(b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
                sent += 0x2000
            refused = b""
        except (BrokenPipeError, ConnectionResetError):
            refused = answer_to(connection)

    assert sent < 20_000_000  # what lies in the system's own buffers
    assert not refused or status_of(refused) == 413


def test_slow_bodies_are_not_waited_for(guarded):
    with connected(guarded) as connection:
        connection.sendall(SEARCH + b"Content-Length: 100\r\n\r\n")
        for _ in range(5):
            with suppress(BrokenPipeError, ConnectionResetError):  # it is refused already
                connection.sendall(b"{")
            time.sleep(0.2)
        got = answer_to(connection)

    assert status_of(got) == 408
    assert b"connection: close" in got.lower()


def test_answers_carry_what_browsers_go_by(guarded):
    for path in ("/", "/healthz", "/nothing", "/api/v1/indexes", "/docs"):
        headers = guarded.get(path, headers={"X-Request-ID": "<script>"}).headers
        policy = headers["content-security-policy"]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"]
        assert headers["cache-control"]
        assert "<" not in headers["x-request-id"]
        assert "server" not in headers
        assert "strict-transport-security" not in headers
        assert "access-control-allow-origin" not in headers


def test_pages_of_other_sites_are_refused(guarded):
    call = {"question": ENGLISH, "index": NAME}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ):
        assert guarded.post("/api/v1/search", json=call, headers=headers).status_code == 403
    image = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert guarded.get("/api/v1/search", params=call, headers=image).status_code == 403
    assert guarded.get("/api/v1/search", params=call, headers=link).status_code == 200


def test_an_answer_whose_calls_body_is_not_read_closes_the_connection(guarded):
    with connected(guarded) as connection:
        head = b"POST /api/v1/search HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 900000\r\n\r\n"
        answer = answer_to(connection, head)
        assert status_of(answer) == 421
        assert b"connection: close" in answer.lower()
        assert not connection.recv(1)


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
