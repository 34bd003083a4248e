"""The client of models' servers, its pauses, plain http, and words of servers as they are shown."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import islice

import httpx
import pytest
from pydantic import SecretStr

from base.net.addresses import hosts_in_the_clear, refuse_plain_http
from base.net.backoff import growing_pauses, retry_after_s
from base.net.http_client import exchange, open_client
from base.untrusted import SHOWN_CHARACTERS, one_line
from tests.virtual_clock import run

URL = "https://model.test/v1/models"
BLOCK = bytes(10_000)


class Endless(httpx.AsyncByteStream):
    """A body without end, which counts what is read of it; or one that stops coming."""

    def __init__(self, blocks: float = float("inf")) -> None:
        self.read = 0
        self.blocks = blocks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.read < self.blocks * len(BLOCK):
            self.read += len(BLOCK)
            yield BLOCK
        await asyncio.Event().wait()


def ask(answer, *, seconds=20.0, times=1, **options):
    """Exchange one request for what `answer` gives; return the last response and the requests."""
    requests: list[httpx.Request] = []

    async def handle(request):
        requests.append(request)
        return await answer() if asyncio.iscoroutinefunction(answer) else answer()

    async def exchanges():
        transport = httpx.MockTransport(handle)
        async with open_client(URL, SecretStr("sk-river"), transport=transport) as client:
            for _ in range(times):
                response = await exchange(client, "GET", URL, seconds=seconds, **options)
            return response

    return run(exchanges()), requests


@pytest.mark.parametrize("status", [200, 307, 401, 500])
def test_no_more_is_read_than_the_request_allows(status):
    body = Endless()
    with pytest.raises(httpx.RemoteProtocolError, match="50,000 bytes"):
        ask(lambda: httpx.Response(status, stream=body), most_bytes=50_000)
    assert body.read == 60_000


async def nothing():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (nothing, "was silent for 5 s"),
        (lambda: httpx.Response(200, stream=Endless(1)), "5 s"),
    ],
)
def test_no_longer_is_waited_than_the_request_allows(answer, said):
    with pytest.raises(httpx.ReadTimeout, match=said):
        ask(answer, seconds=5)


def test_nothing_packed_is_asked_for_or_read():
    bomb = gzip.compress(bytes(10_000_000))
    with pytest.raises(httpx.DecodingError, match="gzip"):
        ask(lambda: httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(bomb)))
    _, [request] = ask(lambda: httpx.Response(200))
    assert request.headers["Accept-Encoding"] == "identity"


def test_no_cookie_is_kept_and_no_redirect_followed():
    headers = {"Set-Cookie": "a=b; Domain=model.test", "Location": "https://elsewhere.test/"}
    response, requests = ask(lambda: httpx.Response(307, headers=headers), times=2)
    assert response.status_code == 307
    assert [str(request.url) for request in requests] == [URL, URL]
    assert [request.headers["Authorization"] for request in requests] == ["Bearer sk-river"] * 2
    assert all("Cookie" not in request.headers for request in requests)


NOON = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


def test_retry_after_is_read_as_seconds_or_as_a_date():
    assert retry_after_s("7", NOON) == 7
    assert retry_after_s("Wed, 01 May 2024 12:00:09 GMT", NOON) == 9
    assert retry_after_s("Wed, 01 May 2024 11:00:00 GMT", NOON) == 0
    assert retry_after_s("Wed, 01 May 2024 12:00:09 -0000", NOON) == 9
    no_year, no_zone = (
        "Wed, 01 May 99999999999999999999 12:00:09 GMT",
        "Wed, 01 May 2024 12:00:09 +99999999999999999999",
    )
    for nonsense in ("", "soon", "-5", "nan", "inf", "1e9", no_year, no_zone):
        assert retry_after_s(nonsense, NOON) is None


def test_pauses_double_up_to_the_longest():
    assert list(islice(growing_pauses(0.5, 3.0), 5)) == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert next(growing_pauses(60.0, 30.0)) == 30.0


@pytest.mark.parametrize(
    "address",
    [
        "https://model.test/v1",
        "http://localhost:8000/v1",
        "http://vllm.localhost",
        "http://127.0.0.1:8000",
        "http://127.8.9.1",
        "http://[::1]:9200",
        "http://[::ffff:127.0.0.1]:9200",
        "https://node1:9200, https://node2:9200",
    ],
)
def test_what_is_encrypted_or_stays_on_this_machine_is_not_in_the_clear(address):
    assert hosts_in_the_clear(address) == []
    refuse_plain_http(address, secret=True, allowed=False)


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("http://model.test/v1", ["model.test"]),
        ("HTTP://model.test", ["model.test"]),
        ("http://127.0.0.1.model.test", ["127.0.0.1.model.test"]),
        ("http://localhost.model.test", ["localhost.model.test"]),
        ("http://localhost./v1", ["localhost."]),  # a resolver is asked for it
        ("http://192.168.1.7:8000", ["192.168.1.7"]),
        ("http://[fe80::1%25eth0]:80", ["fe80::1%25eth0"]),
        ("https://node1:9200,http://node2:9200, http://node3:9200", ["node2", "node3"]),
    ],
)
def test_plain_http_to_another_machine_is_refused_to_a_secret_unless_it_is_allowed(address, hosts):
    assert hosts_in_the_clear(address) == hosts
    refuse_plain_http(address, secret=False, allowed=False)
    refuse_plain_http(address, secret=True, allowed=True)
    with pytest.raises(ValueError, match="allow_plain_http") as refused:
        refuse_plain_http(address, secret=True, allowed=False)
    assert hosts[0] in str(refused.value)


def test_addresses_are_shown_without_what_logs_in_there():
    said = "no route to https://elastic:ch@nge%2Fme@10.0.0.5:9200/x, nor to http://key@b.org/?a=c@d"
    assert one_line(said) == "no route to https://***@10.0.0.5:9200/x, nor to http://***@b.org/?a=c@d"


def test_nothing_steers_a_terminal_and_there_is_an_end():
    shown = one_line("메탄\x1b[2J\u202e\r\n" + "x" * 10_000_000)
    assert shown.startswith("메탄 [2J xxx")
    assert len(shown) == SHOWN_CHARACTERS
