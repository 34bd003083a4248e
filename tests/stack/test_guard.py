"""The guard on sockets: what settings name passes, everything else is refused and told with its stack."""

import asyncio
import socket
import threading
import urllib.request
from contextlib import contextmanager

import httpx
import pytest

from stack.guard import AddressRefused, only

OUTSIDE = "192.0.2.1"  # of a range that is kept for documents: nothing is there
NO_NAME = "outside.invalid"


@contextmanager
def listening():
    """Listen on a free port of this machine, and answer nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_connection_to_a_number_that_no_setting_names_is_refused():
    with only([]) as watch, pytest.raises(AddressRefused, match=r"192\.0\.2\.1:443"):
        socket.create_connection((OUTSIDE, 443), timeout=1)
    assert [attempt.target for attempt in watch.attempts] == [f"{OUTSIDE}:443"]


def test_a_name_that_no_setting_names_is_not_even_looked_up():
    with only([]) as watch, pytest.raises(AddressRefused):
        socket.getaddrinfo(NO_NAME, 443)
    assert [(attempt.target, attempt.event) for attempt in watch.attempts] == [
        (f"{NO_NAME}:443", "socket.getaddrinfo")
    ]


def test_the_name_of_a_number_is_not_looked_up_but_of_one_that_is_named():
    with only(["http://127.0.0.1:80"]) as watch:
        socket.getnameinfo(("127.0.0.1", 80), socket.NI_NUMERICHOST)
        with pytest.raises(AddressRefused):
            socket.getnameinfo((OUTSIDE, 443), 0)
    assert [(attempt.target, attempt.event) for attempt in watch.attempts] == [
        (OUTSIDE, "socket.getnameinfo")
    ]


def test_an_attempt_tells_who_made_it():
    with only([]) as watch, pytest.raises(AddressRefused):
        _a_telling_name()
    assert "in _a_telling_name" in watch.attempts[0].stack[-1]


def _a_telling_name():
    with socket.socket() as sock:
        sock.connect((OUTSIDE, 80))


def test_datagrams_are_refused_too():
    with only([]) as watch, socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(AddressRefused):
        sock.sendto(b"x", (OUTSIDE, 53))
    assert watch.attempts[0].target == f"{OUTSIDE}:53"


def test_another_port_of_a_host_that_is_named_is_refused():
    with listening() as port, listening() as other, only([f"http://127.0.0.1:{port}/v1"]) as watch:
        socket.create_connection(("127.0.0.1", port)).close()
        with pytest.raises(AddressRefused):
            socket.create_connection(("127.0.0.1", other))
    assert (watch.passed, [attempt.target for attempt in watch.attempts]) == (1, [f"127.0.0.1:{other}"])


def test_a_name_of_the_settings_may_be_looked_up_and_connected_to():
    with listening() as port, only([f"http://localhost:{port}"]) as watch:
        socket.create_connection(("localhost", port)).close()
    assert (watch.passed >= 1, watch.attempts) == (True, [])


@pytest.mark.parametrize(
    "ask",
    [
        lambda: httpx.get(f"http://{OUTSIDE}/", trust_env=False),
        lambda: asyncio.run(asyncio.open_connection(OUTSIDE, 80)),
        lambda: urllib.request.urlopen(f"http://{OUTSIDE}/", timeout=1),
        lambda: _in_a_thread(),  # noqa: PLW0108 - it stands further down
    ],
    ids=["httpx", "asyncio", "urllib", "thread"],
)
def test_whichever_library_asks_is_caught(ask):
    with only([]) as watch, pytest.raises((OSError, httpx.ConnectError), match="settings"):
        ask()
    assert [attempt.target for attempt in watch.attempts] == [f"{OUTSIDE}:80"]


def _in_a_thread():
    raised = []

    def ask():
        try:
            _a_telling_name()
        except OSError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    raise raised[0]


@pytest.mark.needs_libraries
def test_the_model_hub_s_client_is_caught(monkeypatch, tmp_path):
    import huggingface_hub as hub

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with only([]) as watch, pytest.raises(Exception, match="settings"):
        hub.snapshot_download("someone/something", cache_dir=tmp_path)
    assert watch.attempts[0].target == "huggingface.co:443"


def test_what_stays_within_the_machine_s_kernel_passes(tmp_path):
    with only([]) as watch:
        asyncio.run(asyncio.sleep(0))  # a loop wakes itself through a pair of sockets
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(str(tmp_path / "socket"))
            server.listen()
            client.connect(str(tmp_path / "socket"))
    assert watch.attempts == []


def test_when_the_guard_is_gone_connections_are_free_again():
    with listening() as port:
        with only([]) as watch, pytest.raises(AddressRefused):
            socket.create_connection(("127.0.0.1", port))
        socket.create_connection(("127.0.0.1", port)).close()
    assert len(watch.attempts) == 1
