"""Answers of a repository, valid, broken and hostile."""

import pytest

from indexer.harvesting import answer_parser
from indexer.harvesting.answer_parser import ListedRecord, Malformed
from indexer.harvesting.answers import parse_identity, parse_page, parse_prefixes

RECORD_BYTES = 10_000


def document(content, root="OAI-PMH"):
    return (
        f'<{root} xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2024-05-01T09:00:00Z</responseDate>'
        f"<request>http://x</request>{content}</{root}>"
    )


def record(identifier, metadata="<a/>", status=""):
    return (
        f"<record><header{status}><identifier>{identifier}</identifier><datestamp>2024-01-01</datestamp>"
        f"<setSpec>s</setSpec></header>{metadata and f'<metadata>{metadata}</metadata>'}</record>"
    )


def page_of(*records, token=""):
    return parse_page(
        document(f"<ListRecords>{''.join(records)}{token}</ListRecords>").encode(), record_bytes=RECORD_BYTES
    )


def test_a_page_has_its_records_and_the_token_of_the_next_one():
    page = page_of(
        record("oai:x:1", '<d:a xmlns:d="http://d">x &amp; y<d:b lang="ko">메탄</d:b></d:a>'),
        record("oai:x:2", "", ' status="deleted"'),
        token='<resumptionToken completeListSize="20" cursor="0">a&amp;b=c</resumptionToken>',
    )

    first, second = page.records
    assert first.identifier == "oai:x:1"
    assert first.datestamp == "2024-01-01"
    assert (
        first.metadata.decode()
        == '<ns0:a xmlns:ns0="http://d">x &amp; y<ns0:b lang="ko">메탄</ns0:b></ns0:a>'
    )
    assert second == ListedRecord("oai:x:2", "2024-01-01", deleted=True)
    assert (page.token, page.size, page.date, page.errors) == ("a&b=c", 20, "2024-05-01T09:00:00Z", ())


def test_the_last_page_has_an_empty_token():
    assert page_of(record("oai:x:1"), token='<resumptionToken completeListSize="1"/>').token == ""


def test_an_error_of_the_protocol_is_no_record():
    page = parse_page(document('<error code="badResumptionToken">gone</error>').encode(), record_bytes=1_000)

    assert page.errors == (("badResumptionToken", "gone"),)


def test_elements_without_a_namespace_are_read():
    content = document(f"<ListRecords>{record('oai:x:1')}</ListRecords>").replace(
        ' xmlns="http://www.openarchives.org/OAI/2.0/"', ""
    )

    assert [each.identifier for each in parse_page(content.encode(), record_bytes=1_000).records] == [
        "oai:x:1"
    ]


def test_records_and_headers_within_metadata_are_metadata():
    (only,) = page_of(
        record("oai:x:1", f"<record><header status='deleted'/>{record('oai:y:1')}</record>")
    ).records

    assert (only.identifier, only.deleted) == ("oai:x:1", False)
    assert b"oai:y:1" in only.metadata


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ("", "no metadata"),
        (f"<a>{'x' * RECORD_BYTES}</a>", "more than"),
        ("<a>" + "<b/>" * RECORD_BYTES + "</a>", "more than"),
        (f'<a b="{"x" * RECORD_BYTES}"/>', "more than"),
        ("<a>" * 60 + "</a>" * 60, "nested"),
    ],
)
def test_a_record_that_is_too_large_does_not_stop_its_page(metadata, problem):
    page = page_of(record("oai:x:1", metadata), record("oai:x:2"))

    assert [each.identifier for each in page.records] == ["oai:x:1", "oai:x:2"]
    assert problem in page.records[0].problem
    assert page.records[0].metadata == b""
    assert page.records[1].problem == ""


def test_a_record_without_an_identifier_is_counted():
    page = page_of("<record><header/><metadata><a/></metadata></record>", record("oai:x:2"))

    assert (page.nameless, len(page.records)) == (1, 1)


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        ("vertical\x0btab", "verticaltab"),
        ("reference&#11;to it", "referenceto it"),
        ("reference&#xFFFF;to it", "referenceto it"),
        ("no&nbsp;break", "no\xa0break"),
        ("R&D", "R&amp;D"),
        ("a &unknown; b", "a &amp;unknown; b"),
    ],
)
def test_characters_that_xml_forbids_are_repaired(broken, text):
    page = page_of(record("oai:x:1", f"<a>{broken}</a>"))

    assert page.records[0].metadata.decode() == f"<a>{text}</a>".replace(
        "<a>", '<ns0:a xmlns:ns0="http://www.openarchives.org/OAI/2.0/">'
    ).replace("</a>", "</ns0:a>")
    assert page.repaired


def test_invalid_utf_8_is_replaced():
    content = document(f"<ListRecords>{record('oai:x:1', '<a>@@</a>')}</ListRecords>").encode()

    page = parse_page(content.replace(b"@@", b"\xff"), record_bytes=1_000)

    assert "\ufffd" in page.records[0].metadata.decode()


BOMB = (
    "<!DOCTYPE a ["
    + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(10))
    + "]>"
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "XML"),
        (b"<html><body>Sign in</body></html>", "web page"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b"<html><body>Sign in<br></body></html>", "web page"),
        (b"\x1f\x8b\x08\x00", "XML"),
        (document("<ListRecords>")[:80].encode(), "XML"),
        (document(f"<ListRecords>{record('a')}</ListRecords>")[:-50].encode(), "XML"),
        (document("").encode(), "no records"),
        (document("<Identify/>").encode(), "no records"),
        (document("<ListRecords/>", "rss").encode(), "rss"),
        ((BOMB + document("<ListRecords>&e9;</ListRecords>")).encode(), "DOCTYPE"),
        (
            b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            + document("<ListRecords>&x;</ListRecords>").encode(),
            "DOCTYPE",
        ),
        (b'<?xml version="1.0" encoding="no-such"?>' + document("<ListRecords/>").encode(), "encoding"),
        (("<OAI-PMH>" + "<a>" * 100_000).encode(), "nested"),
    ],
)
def test_an_answer_that_is_not_of_the_protocol_is_refused(content, reason):
    with pytest.raises(Malformed, match=reason):
        parse_page(content, record_bytes=1_000)


def test_the_number_of_elements_is_bounded(monkeypatch):
    monkeypatch.setattr(answer_parser, "MOST_ELEMENTS", 100)

    with pytest.raises(Malformed, match="100 elements"):
        page_of(*(record(f"oai:x:{number}") for number in range(30)))


def test_values_outside_of_records_are_bounded():
    page = parse_page(
        document(f"<ListRecords><resumptionToken>{'x' * 100_000}</resumptionToken></ListRecords>").encode(),
        record_bytes=1_000,
    )

    assert len(page.token) == 20_000


def identify(granularity, deletions, version="2.0"):
    return document(
        f"<Identify><repositoryName>Test</repositoryName><protocolVersion>{version}</protocolVersion>"
        f"<earliestDatestamp>2000-01-01</earliestDatestamp><deletedRecord>{deletions}</deletedRecord>"
        f"<granularity>{granularity}</granularity><description><x>y</x></description></Identify>"
    ).encode()


@pytest.mark.parametrize(
    ("granularity", "deletions", "read"),
    [
        ("YYYY-MM-DD", "persistent", ("day", True)),
        ("YYYY-MM-DDThh:mm:ssZ", "no", ("second", False)),
        ("YYYY-MM-DDThh:mm:ssZ", "transient", ("second", False)),
    ],
)
def test_a_repository_identifies_its_granularity_and_deletions(granularity, deletions, read):
    identity = parse_identity(identify(granularity, deletions))

    assert (identity.granularity, identity.keeps_deletions) == read
    assert (identity.name, identity.earliest) == ("Test", "2000-01-01")


@pytest.mark.parametrize(
    "content", [identify("YYYY-MM-DD", "no", "1.1"), document("<ListRecords/>").encode()]
)
def test_another_protocol_is_refused(content):
    with pytest.raises(Malformed):
        parse_identity(content)


def test_the_prefixes_of_metadata_formats_are_listed():
    formats = "".join(
        f"<metadataFormat><metadataPrefix>{name}</metadataPrefix></metadataFormat>"
        for name in ("oai_dc", "marc")
    )

    assert parse_prefixes(document(f"<ListMetadataFormats>{formats}</ListMetadataFormats>").encode()) == [
        "oai_dc",
        "marc",
    ]
