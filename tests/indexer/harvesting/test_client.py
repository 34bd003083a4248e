"""Addresses, requests and answers of a repository: polite, bounded, to no other host, valid or refused."""

import gzip

import pytest

from base.errors import UnknownPath
from indexer.harvesting import protocol
from indexer.harvesting.protocol import (
    ListedRecord,
    Repository,
    RepositoryClient,
    RequestFailed,
    parse_answer,
)
from indexer.settings import HarvestSettings
from tests.indexer.harvesting.repository import OAI, Pauses, Served, repository, reset, unavailable

RECORD_BYTES = 10_000


@pytest.mark.parametrize(
    ("url", "options", "request_"),
    [
        (
            "https://r.org/oai",
            {"from_": "2024-05-01T09:00:00Z"},
            "https://r.org/oai?verb=ListRecords&metadataPrefix=oai_dc&set=col_1&from=2024-05-01T09%3A00%3A00Z",
        ),
        (
            "https://r.org/oai",
            {"token": "a b/c&d=+", "from_": "2024-05-01"},
            "https://r.org/oai?verb=ListRecords&resumptionToken=a%20b%2Fc%26d%3D%2B",
        ),
        ("http://r.org/oai?db=1", {"token": "t"}, "http://r.org/oai?db=1&verb=ListRecords&resumptionToken=t"),
    ],
)
def test_the_address_of_a_request(url, options, request_):
    asked = Repository.of(f"oai:{url}", set_="col_1")

    assert asked.request(asked.list_arguments(**options)) == request_


@pytest.mark.parametrize(
    "path",
    [
        *("oai:repository.example.ac.kr/oai", "oai:file:///etc/passwd", "oai:https://"),
        *("oai:https://user:secret@r.org/oai", "oai:https://r.org/oai?verb=Identify"),
        *(
            "oai:https://r.org/oai#top",
            "oai:https://r.org/o ai",
            "oai:https://r.org:0/oai",
            "oai:https://[::1",
        ),
    ],
)
def test_an_invalid_address_is_refused(path):
    with pytest.raises(UnknownPath) as raised:
        Repository.of(path)

    assert "secret" not in str(raised.value)


def ask(path, times=1, **settings):
    """Ask a repository to identify itself; return the client and the pauses."""
    pauses = Pauses()
    given = HarvestSettings(**{"delay_s": 0, "retries": 2} | settings)
    with RepositoryClient(Repository.of(path), given, pauses) as client:
        for _ in range(times):
            client.ask({"verb": "Identify"})
    return client, dict(pauses.seconds)


def test_the_operators_contact_is_sent():
    served = Served()
    with repository(served) as path:
        ask(path, contact="library@example.org")

    (headers,) = served.headers
    assert headers["User-Agent"].startswith("shrag/")
    assert "mailto:library@example.org" in headers["User-Agent"]
    assert headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("faults", "times", "settings", "pauses"),
    [
        ([], 3, {"delay_s": 2.5}, {2.5: 2}),
        ([reset] * 3, 1, {"retries": 3}, {0.5: 1, 1.0: 1, 2.0: 1, 0: 3}),
        ([unavailable("77")], 1, {}, {77: 1, 0: 1}),
        ([unavailable("77", 429)], 1, {}, {77: 1, 0: 1}),
    ],
)
def test_requests_are_separated_by_pauses(faults, times, settings, pauses):
    with repository(Served(faults=dict(enumerate(faults, 1)))) as path:
        client, taken = ask(path, times, **settings)

    assert (taken, client.retries) == (pauses, len(faults))


def redirecting(location):
    return lambda handler: handler.send("", 302, Location=location)


def compressed(handler):
    return handler.send(gzip.compress(bytes(50_000_000)), Content_Encoding="gzip")


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(bytes(100_000))
    except OSError:
        handler.close_connection = True
    return True


def silent(handler):
    handler.rfile.read(1)  # until the client gives up
    handler.close_connection = True
    return True


def rude(handler):
    return handler.send("no\x1b[2Jway\n" + "x" * 5_000, 404)


@pytest.mark.parametrize(
    ("fault", "reason", "requests"),
    [
        (unavailable(), "503", 3),
        *((unavailable("", status), str(status), 1) for status in (400, 401, 403, 404)),
        (rude, r"404: no \[2Jway x", 1),
        (unavailable("7200"), r"7,200 s", 1),
        (silent, r"0\.2 s", 3),
        (compressed, "gzip", 1),
        (endless, "1,000,000 bytes", 1),
        (redirecting("/oai?verb=Identify"), "redirects", 6),
        *(
            (redirecting(location), "redirects to", 1)
            for location in (
                "http://169.254.169.254/latest/meta-data",
                "http://127.0.0.1:1/oai",
                "file:///etc/passwd",
            )
        ),
    ],
)
def test_a_failure_ends_with_its_reason(fault, reason, requests):
    served = Served(faults=dict.fromkeys(range(1, 100), fault))
    with repository(served) as path, pytest.raises(RequestFailed, match=reason) as raised:
        ask(path, timeout_s=0.2 if fault is silent else 20, answer_bytes=1_000_000)

    assert len(served.asked) == requests
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 400


def document(content, root="OAI-PMH"):
    return (
        f'<{root} xmlns="{OAI}"><responseDate>2024-05-01T09:00:00Z</responseDate>'
        f"<request>http://x</request>{content}</{root}>"
    )


def record(identifier, metadata="<a/>", status=""):
    return (
        f"<record><header{status}><identifier>{identifier}</identifier><datestamp>2024-01-01</datestamp>"
        f"<setSpec>s</setSpec></header>{metadata and f'<metadata>{metadata}</metadata>'}</record>"
    )


def page_of(*records, token=""):
    content = document(f"<ListRecords>{''.join(records)}{token}</ListRecords>")
    return parse_answer(content.encode(), RECORD_BYTES)


def test_a_page_has_its_records_and_the_token_of_the_next_one():
    page = page_of(
        record("oai:x:1", '<d:a xmlns:d="http://d">x &amp; y<d:b lang="ko">메탄</d:b></d:a>'),
        record("oai:x:2", "", ' status="deleted"'),
        record("", "<a/>"),
        record("oai:x:3", f"<record><header status='deleted'/>{record('oai:y:1')}</record>"),
        token='<resumptionToken completeListSize="20" cursor="0">a&amp;b=c</resumptionToken>',
    )

    first, second, nameless, third = page.records
    text = '<ns0:a xmlns:ns0="http://d">x &amp; y<ns0:b lang="ko">메탄</ns0:b></ns0:a>'
    assert first == ListedRecord("oai:x:1", metadata=text.encode())
    assert second == ListedRecord("oai:x:2", deleted=True)
    assert (third.identifier, third.deleted, b"oai:y:1" in third.metadata) == ("oai:x:3", False, True)
    assert nameless.problem == "no identifier"
    assert (page.value("resumptionToken"), page.size) == ("a&b=c", 20)
    assert (page.value("responseDate"), page.errors) == ("2024-05-01T09:00:00Z", {})


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ("", "no metadata"),
        (f"<a>{'x' * RECORD_BYTES}</a>", "more than"),
        ("<a>" * 5_000 + "</a>" * 5_000, "nested"),
    ],
)
def test_a_record_with_a_problem_does_not_stop_its_page(metadata, problem):
    bad, good = page_of(record("oai:x:1", metadata), record("oai:x:2")).records

    assert (bad.identifier, problem in bad.problem, bad.metadata) == ("oai:x:1", True, b"")
    assert (good.identifier, good.problem) == ("oai:x:2", "")


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (b"vertical\x0btab", "verticaltab"),
        (b"reference&#11;to it", "referenceto it"),
        (b"no&nbsp;break &lt;", "no\xa0break &lt;"),
        (b"R&D", "R&amp;D"),
        (b"a &unknown; b", "a &amp;unknown; b"),
        (b"invalid \xff UTF-8", "invalid \ufffd UTF-8"),
    ],
)
def test_invalid_characters_are_repaired(broken, text):
    content = document(f"<ListRecords>{record('x', '<a>@@</a>')}</ListRecords>").encode()

    page = parse_answer(content.replace(b"@@", broken), RECORD_BYTES)

    assert f">{text}<" in page.records[0].metadata.decode()


BOMB = (
    "<!DOCTYPE a ["
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    + "]>"
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "XML"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (document(f"<ListRecords>{record('a')}</ListRecords>")[:-50].encode(), "XML"),
        (document("<ListRecords/>", "rss").encode(), "rss"),
        ((BOMB + document("<ListRecords>&e9;</ListRecords>")).encode(), "DOCTYPE"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "DOCTYPE"),
        (b'<?xml version="1.0" encoding="no-such"?>' + document("<ListRecords/>").encode(), "encoding"),
        (page_text := document("<a/>" * 200).encode(), "tags"),
    ],
)
def test_an_answer_that_is_not_of_the_protocol_is_refused(content, reason, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_TAGS", 100 if content is page_text else 1_000_000)

    with pytest.raises(RequestFailed, match=reason):
        parse_answer(content, RECORD_BYTES)
