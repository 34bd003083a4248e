"""What every source on the network does, whichever it is."""

import re
from typing import Any

import pytest

from retriever.errors import SourceFailed
from retriever.queries.boolean import And, Exact, Not, Or, Query, Range
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.web.source import WebSource
from tests.retriever.sources.exchanges import CONTACT, EXCHANGES, SECRET, TITLE, TITLE2
from tests.retriever.sources.services import Replier, Reply, any_of, ask, open_kind, service, well

METHANE = any_of("methane", "paddy")
EVERY = Filters()
YEARS = Filters(years=Range(2018, 2019))
KINDS = pytest.mark.parametrize("kind", EXCHANGES)
WITH_KEY = pytest.mark.parametrize(
    "kind", [name for name, each in EXCHANGES.items() if "api_key" in each.settings]
)


def search(source: WebSource, *queries: Query, k: int = 10, filters: Filters = EVERY) -> SourceAnswer:
    asked = [(query, k) for query in queries or (METHANE,)]
    return ask(source, lambda opened: opened.search(asked, filters=filters))


@KINDS
def test_papers_are_read_with_all_that_the_service_sends(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        answer = search(open_kind(kind, address))
    first, second = answer.found[0]
    assert (first.id, second.id) == EXCHANGES[kind].ids
    assert (first.title, second.title) == (TITLE, TITLE2)
    assert "methane;" in first.abstract
    assert "emit less." in first.abstract
    assert first.source == f"my-{kind}"
    assert "abstract" not in second.record()
    assert answer.notes == ()
    if kind != "wikipedia":
        assert (first.year, first.authors[0], first.doi) == (2019, "Ara Kim", "10.5555/paddy.1")
        assert first.journal.startswith("Invented Soils")
    assert first.url.startswith("http") or kind == "scienceon"
    assert all(CONTACT in each.headers["User-Agent"] for each in asked)
    assert all(each.headers["Accept-Encoding"] == "identity" for each in asked)


@KINDS
def test_equal_queries_are_sent_once_and_at_most_k_papers_come_back(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        one = search(open_kind(kind, address), METHANE)
        several = search(open_kind(kind, address), METHANE, any_of("methane", "paddy", "::"), METHANE)
        first = search(open_kind(kind, address), k=1)
    assert several.found == one.found * 3
    assert several.requests == one.requests == first.requests == len(asked) / 3
    assert first.found == (one.found[0][:1],)


@KINDS
def test_a_query_without_words_is_not_sent(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        answer = search(open_kind(kind, address), Not(METHANE), any_of("()", "**"), Or(()))
    assert answer.found == ((), (), ())
    assert asked == []
    assert answer.notes == ("a query was not sent: it only excludes", "a query was not sent: it has no words")


@KINDS
def test_filters_hold_whatever_the_service_sends(kind: str) -> None:
    other_years = And((METHANE, Range(2000, 2001)))
    queries = (
        METHANE,
        And((METHANE, Range(2018, 2020))),
        other_years,
        And((METHANE, Exact("lang", ("ko",)))),
    )
    with service(well(kind)) as (address, _):
        kept = search(open_kind(kind, address), filters=YEARS).found[0]
        _, within, other, korean = search(open_kind(kind, address), *queries).found
        none = search(open_kind(kind, address), other_years, filters=YEARS).found[0]
    assert [found.year for found in kept] == ([] if kind == "wikipedia" else [2019])
    assert within == kept
    assert other == none == korean == ()


@KINDS
def test_records_come_by_id_and_no_other_id_is_sent(kind: str) -> None:
    first, second = EXCHANGES[kind].ids
    with service(well(kind)) as (address, asked):
        source = open_kind(kind, address)
        found = ask(source, lambda opened: opened.papers([first, second, "no|id", "&x=1", ""]))
        assert found[first].title == TITLE
    assert set(found) == {first, second}
    assert "no|id" not in str([each.parameters for each in asked])


@KINDS
def test_references_are_followed_where_the_features_say_so(kind: str) -> None:
    first, _ = EXCHANGES[kind].ids
    with service(well(kind)) as (address, asked):
        source = open_kind(kind, address)
        known = source.features
        forward = ask(source, lambda opened: opened.linked("reference", [first, "no id"], 1))
        backward = ask(open_kind(kind, address), lambda opened: opened.linked("citing", [first, "no id"], 1))
    assert not known.private
    assert known.references == (kind in {"openalex", "semantic_scholar", "pubmed"})
    for linked in (forward, backward):
        assert set(linked.papers) == ({first} if known.references else set())
        assert all(len(papers) == 1 for papers in linked.papers.values())
    assert forward.requests + backward.requests == len(asked)


@KINDS
def test_papers_come_by_doi_where_the_features_say_so_and_no_other_doi_is_sent(kind: str) -> None:
    dois = ["10.5555/paddy.1", "10.5555/a,b", "10.5555/a|b", "no doi"]
    with service(well(kind)) as (address, asked):
        source = open_kind(kind, address)
        found = ask(source, lambda opened: opened.papers_by_doi(dois))
    assert source.features.dois == (kind in {"openalex", "semantic_scholar"})
    titles = {doi: paper.title for doi, paper in found.items()}
    assert titles == ({"10.5555/paddy.1": TITLE} if source.features.dois else {})
    assert len(asked) == source.features.dois
    assert "a,b" not in str([each.target + str(each.body) for each in asked])


def failure_of(kind: str, reply: Replier, **settings: object) -> str:
    """Return how a search fails: in one line that names the source."""
    with service(reply) as (address, _), pytest.raises(SourceFailed) as failure:
        search(open_kind(kind, address, **settings))
    told = str(failure.value)
    assert told.startswith(f"source 'my-{kind}' (")
    assert "\n" not in told
    assert len(told) < 500
    return told


def reply_of(body: bytes = b"", status: int = 200, **more: Any) -> Replier:
    return lambda asked: Reply(body, status, **more)


ENTITIES = '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">'
NO_ANSWER = "its answer is|it answers|gives no token"
FAULTS: dict[str, tuple[Replier, str]] = {
    "web page": (reply_of(b"<!DOCTYPE html><html><body>Welcome</body></html>"), NO_ANSWER),
    "garbage": (reply_of(b"\x00\xff\xfe garbage"), NO_ANSWER),
    "other JSON": (reply_of(b'{"unexpected": [1, 2, {"a": null}]}'), NO_ANSWER),
    "deep JSON": (reply_of(b'{"a":' + b"[" * 100_000), NO_ANSWER),
    "entity bomb": (reply_of(f"<!DOCTYPE a [{ENTITIES}]><MetaData>&b;</MetaData>".encode()), NO_ANSWER),
    "other XML": (reply_of(b"<rss><item/></rss>"), NO_ANSWER),
    "huge": (reply_of(b"[" * 16_000_001), "it sends more than 16,000,000 bytes"),
    "redirect": (reply_of(status=302, headers={"Location": "http://x.example/"}), "redirects elsewhere"),
    "packed": (reply_of(b"x", headers={"Content-Encoding": "gzip"}), "compressed"),
    "busy for an hour": (reply_of(b"{}", 429, headers={"Retry-After": "3600"}), "it answers 429"),
}


# All kinds share the client; the form of an answer is checked by each.
@pytest.mark.parametrize(
    ("kind", "fault"),
    [*(("openalex", fault) for fault in FAULTS), *((kind, "other JSON") for kind in EXCHANGES)]
    + [(kind, fault) for kind in ("arxiv", "scienceon") for fault in ("garbage", "entity bomb", "other XML")],
)
def test_what_is_no_answer_of_the_service_is_a_failure(kind: str, fault: str) -> None:
    reply, said = FAULTS[fault]
    assert re.search(said, failure_of(kind, reply, retries=5 if fault == "busy for an hour" else 0))


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_service_is_asked_again(status: int) -> None:
    replies = iter([Reply(b"{}", status)])
    with service(lambda asked: next(replies, well("pubmed")(asked))) as (address, asked):
        answer = search(open_kind("pubmed", address, retries=1))
    assert len(answer.found[0]) == 2
    assert answer.requests == len(asked) == 3


def test_a_missing_service_is_a_failure() -> None:
    with pytest.raises(SourceFailed, match=r"source 'my-openalex' .*no usable response"):
        search(open_kind("openalex", "http://127.0.0.1:1"))


@WITH_KEY
def test_keys_stand_in_no_message_and_no_log(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    said = f'{{"error": "no such key {SECRET}, {SECRET!r}"}}'.encode()
    told = failure_of(kind, reply_of(said, 403))
    assert "it answers 403: no such key ***" in told
    assert SECRET not in told + caplog.text
    assert "methane" not in caplog.text
