"""Requests to a repository: polite, bounded, and to no other host."""

import asyncio
import gzip

import pytest

from indexer.harvesting.answers import parse_identity
from indexer.harvesting.client import RepositoryClient, RequestCounts, RequestFailed
from indexer.harvesting.repository import Repository
from indexer.settings import HarvestSettings
from tests.indexer.harvesting.harvests import Pauses
from tests.indexer.harvesting.repository import FAULTS, Served, repository, unavailable

IDENTIFY = {"verb": "Identify"}


def ask(path, times=1, **settings):
    """Ask a repository to identify itself; return the pauses and the counts."""
    pauses, counts = Pauses(), RequestCounts()
    given = HarvestSettings(**{"delay_s": 0, "retries": 2} | settings)

    async def run():
        async with RepositoryClient(Repository.of(path), given, pauses, counts) as client:
            for _ in range(times):
                await client.ask(IDENTIFY, parse_identity)

    asyncio.run(run())
    return pauses, counts


def test_the_operators_contact_is_sent_with_every_request():
    served = Served()
    with repository(served) as path:
        ask(path, contact="library@example.org")

    (headers,) = served.headers
    assert headers["User-Agent"].startswith("shrag/")
    assert "mailto:library@example.org" in headers["User-Agent"]
    assert headers["From"] == "library@example.org"
    assert headers["Accept-Encoding"] == "identity"


def test_requests_are_separated_by_the_delay():
    with repository(Served()) as path:
        pauses, counts = ask(path, times=3, delay_s=2.5)

    assert (pauses.seconds[2.5], counts.requests) == (2, 3)


def test_retries_wait_longer_each_time():
    with repository(Served(faults=dict.fromkeys(range(1, 4), FAULTS["reset"]))) as path:
        pauses, counts = ask(path, retries=3)

    assert (dict(pauses.seconds), counts.retries) == ({0.5: 1, 1.0: 1, 2.0: 1, 0: 3}, 3)


@pytest.mark.parametrize("status", [429, 503])
def test_a_requested_pause_is_kept(status):
    with repository(Served(faults={1: unavailable("77", status)})) as path:
        pauses, _ = ask(path)

    assert pauses.seconds[77] == 1


def test_the_last_retry_is_an_error_with_its_reason():
    served = Served(faults=dict.fromkeys(range(1, 4), unavailable()))
    with repository(served) as path, pytest.raises(RequestFailed, match="503") as raised:
        ask(path)

    assert raised.value.kind == "unreachable"


@pytest.mark.parametrize(
    ("status", "kind"), [(400, "refused"), (404, "refused"), (401, "forbidden"), (403, "forbidden")]
)
def test_a_refusal_is_not_repeated(status, kind):
    served = Served(faults={1: unavailable("", status)})
    with repository(served) as path, pytest.raises(RequestFailed, match=str(status)) as raised:
        ask(path)

    assert (raised.value.kind, len(served.asked)) == (kind, 1)


def redirecting(location):
    def answer(handler):
        handler.send("", 302, Location=location)
        return True

    return answer


def test_a_redirect_on_the_same_host_is_followed():
    served = Served(faults={1: redirecting("/oai/request?verb=Identify")})
    with repository(served) as path:
        ask(path)

    assert len(served.asked) == 2


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://localhost/oai",
        "http://127.0.0.1:1/oai",
        "https://127.0.0.1/oai",
        "file:///etc/passwd",
        "ftp://127.0.0.1/oai",
        "//other.example.org/oai",
    ],
)
def test_a_redirect_to_another_place_is_refused(location):
    served = Served(faults={1: redirecting(location)})
    with repository(served) as path, pytest.raises(RequestFailed, match="redirects") as raised:
        ask(path)

    assert (raised.value.kind, len(served.asked)) == ("forbidden", 1)


def test_redirects_in_a_circle_end():
    served = Served(faults=dict.fromkeys(range(1, 100), redirecting("/oai?verb=Identify")))
    with repository(served) as path, pytest.raises(RequestFailed, match="redirects"):
        ask(path)

    assert len(served.asked) == 6


def test_a_compressed_answer_is_refused_unread():
    bomb = gzip.compress(bytes(50_000_000))

    def compressed(handler):
        handler.send(bomb, Content_Encoding="gzip")
        return True

    with repository(Served(faults={1: compressed})) as path, pytest.raises(RequestFailed, match="gzip"):
        ask(path)


def test_an_answer_beyond_the_limit_is_refused_and_not_repeated():
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(bytes(100_000))
        except OSError:
            handler.close_connection = True
        return True

    served = Served(faults={1: endless})
    with repository(served) as path, pytest.raises(RequestFailed, match="1,000,000 bytes"):
        ask(path, answer_bytes=1_000_000)

    assert len(served.asked) == 1


def test_a_silent_repository_times_out():
    def silent(handler):
        handler.rfile.read(1)  # until the client gives up
        handler.close_connection = True
        return True

    served = Served(faults=dict.fromkeys(range(1, 4), silent))
    with repository(served) as path, pytest.raises(RequestFailed, match=r"0\.2 s") as raised:
        ask(path, timeout_s=0.2)

    assert (raised.value.kind, len(served.asked)) == ("unreachable", 3)


def test_the_repositorys_words_are_one_line_of_printable_characters():
    def refusal(handler):
        handler.send("no\x1b[2Jway\n" + "x" * 5_000, 404)
        return True

    with repository(Served(faults={1: refusal})) as path, pytest.raises(RequestFailed) as raised:
        ask(path)

    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400
