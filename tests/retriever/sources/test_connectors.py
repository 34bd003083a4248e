"""What every source on the network does, whichever it is."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from indexer.settings import IndexerSettings
from retriever.errors import InvalidSource, SourceFailed
from retriever.queries.boolean import And, Not, Or, Query, Range
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.configuration import SourceTable, declared
from retriever.sources.web.source import WebSource
from tests.retriever.sources.exchanges import CONTACT, EXCHANGES, SECRET, TITLE, TITLE2, Asked
from tests.retriever.sources.services import Replier, Reply, any_of, ask, open_kind, service

METHANE = any_of("methane", "paddy")
EVERY = Filters()
KINDS = pytest.mark.parametrize("kind", EXCHANGES)


def search(source: WebSource, *queries: Query, k: int = 10, filters: Filters = EVERY) -> SourceAnswer:
    asked = [(query, k) for query in queries or (METHANE,)]
    return ask(source, lambda opened: opened.search(asked, filters=filters))


def well(kind: str) -> Callable[[Asked], Reply]:
    return lambda asked: Reply(EXCHANGES[kind].found(asked))


@KINDS
def test_papers_are_read_with_all_that_the_service_tells(kind: str) -> None:
    with service(well(kind)) as (address, _):
        answer = search(open_kind(kind, address))
    first, second = (found.paper for found in answer.found[0])
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


@KINDS
def test_who_asks_stands_in_every_request(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        search(open_kind(kind, address))
    assert all(CONTACT in each.headers["User-Agent"] for each in asked)
    assert all(each.headers["Accept-Encoding"] == "identity" for each in asked)


@KINDS
def test_what_finds_nothing_is_an_empty_list(kind: str) -> None:
    with service(lambda asked: Reply(EXCHANGES[kind].nothing(asked))) as (address, _):
        assert search(open_kind(kind, address)).found == ((),)


@KINDS
def test_queries_that_come_to_the_same_are_sent_once(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        one = search(open_kind(kind, address), METHANE)
        several = search(open_kind(kind, address), METHANE, any_of("methane", "paddy", "::"), METHANE)
    assert several.found == one.found * 3
    assert several.requests == one.requests == len(asked) / 2


@KINDS
def test_a_query_of_nothing_but_exclusions_or_signs_is_not_sent_and_told(kind: str) -> None:
    with service(well(kind)) as (address, asked):
        answer = search(open_kind(kind, address), Not(METHANE), any_of("()", "**"), Or(()))
    assert answer.found == ((), (), ())
    assert asked == []
    assert answer.notes == ("a query was not sent: it only excludes", "a query was not sent: it has no words")


@KINDS
def test_filters_hold_whatever_the_service_lets_through(kind: str) -> None:
    years = Filters(years=Range(2018, 2020))
    with service(well(kind)) as (address, _):
        kept = search(open_kind(kind, address), filters=years).found[0]
        within = search(open_kind(kind, address), And((METHANE, Range(2018, 2020)))).found[0]
        other = search(open_kind(kind, address), And((METHANE, Range(2000, 2001)))).found[0]
        none = search(open_kind(kind, address), And((METHANE, Range(2000, 2001))), filters=years).found[0]
    assert [found.paper.year for found in kept] == ([] if kind == "wikipedia" else [2019])
    assert within == kept
    assert other == none == ()


@KINDS
def test_at_most_k_papers_come_back(kind: str) -> None:
    with service(well(kind)) as (address, _):
        assert len(search(open_kind(kind, address), k=1).found[0]) == 1


@KINDS
def test_records_come_by_id_and_no_other_id_is_sent(kind: str) -> None:
    first, second = EXCHANGES[kind].ids
    with service(well(kind)) as (address, asked):
        found = ask(
            open_kind(kind, address), lambda opened: opened.papers([first, second, "no|id", "&x=1", ""])
        )
        sent = len(asked)
        nothing = ask(open_kind(kind, address), lambda opened: opened.papers(["no|id"]))
    assert found[first].paper.title == TITLE
    assert set(found) == {first, second}
    assert nothing == {}
    assert len(asked) == sent
    assert "no|id" not in str([each.parameters for each in asked])


@KINDS
def test_references_are_followed_where_the_features_say_so(kind: str) -> None:
    first, _ = EXCHANGES[kind].ids
    with service(well(kind)) as (address, asked):
        source = open_kind(kind, address)
        known = source.features
        forward = ask(source, lambda opened: opened.references([first, "no id"], 1))
        backward = ask(open_kind(kind, address), lambda opened: opened.citing([first, "no id"], 1))
    assert not known.private
    assert known.references == known.citing == (kind in {"openalex", "semantic_scholar", "pubmed"})
    for linked, follows in ((forward, known.references), (backward, known.citing)):
        assert set(linked.papers) == ({first} if follows else set())
        assert all(len(papers) == 1 for papers in linked.papers.values())
    assert forward.requests + backward.requests == len(asked)


@KINDS
def test_papers_come_by_doi_where_the_features_say_so_and_no_other_doi_is_sent(kind: str) -> None:
    dois = ["10.5555/paddy.1", "10.5555/a,b", "10.5555/a|b", "no doi"]
    with service(well(kind)) as (address, asked):
        source = open_kind(kind, address)
        found = ask(source, lambda opened: opened.papers_by_doi(dois))
    assert source.features.dois == (kind in {"openalex", "semantic_scholar"})
    assert {doi: paper.paper.title for doi, paper in found.items()} == (
        {"10.5555/paddy.1": TITLE} if source.features.dois else {}
    )
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


ENTITIES = '<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">'
GARBAGE = {
    "web page": b"<!DOCTYPE html><html><body>Welcome</body></html>",
    "garbage": b"\x00\xff\xfe garbage",
    "nothing": b"",
    "other JSON": b'{"unexpected": [1, 2, {"a": null}]}',
    "deep JSON": b'{"a":' + b"[" * 100_000,
    "entity bomb": f"<!DOCTYPE MetaData [{ENTITIES}]><MetaData>&b;</MetaData>".encode(),
    "other XML": b"<rss><item/></rss>",
    "number": b"7",
    "null": b"null",
}


@KINDS
@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_is_no_answer_of_the_service_is_a_failure(kind: str, garbage: str) -> None:
    assert re.search(
        "its answer is|it answers|gives no token", failure_of(kind, lambda asked: Reply(GARBAGE[garbage]))
    )


@KINDS
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_an_answer_that_is_cut_short_is_a_failure(kind: str, share: float) -> None:
    def cut(asked: Asked) -> Reply:
        body = EXCHANGES[kind].found(asked)
        return Reply(body[: int(len(body) * share)])

    assert "its answer is broken off" in failure_of(kind, cut)


@KINDS
def test_a_connection_that_ends_too_early_is_a_failure(kind: str) -> None:
    assert "it breaks off" in failure_of(kind, lambda asked: Reply(b"{", claimed=5_000))


@KINDS
def test_an_answer_without_end_is_not_read_to_its_end(kind: str) -> None:
    told = failure_of(kind, lambda asked: Reply(b"[", more=100_000_000))
    assert "it sends more than 16,000,000 bytes" in told


@KINDS
def test_redirects_are_not_followed(kind: str) -> None:
    elsewhere = {"Location": "http://127.0.0.1:1/elsewhere"}
    assert "it redirects elsewhere (302)" in failure_of(kind, lambda asked: Reply(b"", 302, elsewhere))


@KINDS
def test_packed_answers_are_refused(kind: str) -> None:
    assert "compressed" in failure_of(kind, lambda asked: Reply(b"x", headers={"Content-Encoding": "gzip"}))


@KINDS
@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_is_busy_is_asked_again_when_it_says(kind: str, status: int) -> None:
    times: list[float] = []

    def busy_once(asked: Asked) -> Reply:
        times.append(time.monotonic())
        headers = {"Retry-After": "1"} if status == 429 else {}
        return Reply(EXCHANGES[kind].found(asked)) if len(times) > 1 else Reply(b"{}", status, headers)

    with service(busy_once) as (address, _):
        answer = search(open_kind(kind, address, retries=1))
    assert len(answer.found[0]) == 2
    assert times[1] - times[0] >= (1 if status == 429 else 0.4)


@KINDS
def test_a_service_that_asks_for_an_hour_is_not_waited_for(kind: str) -> None:
    asked_for: list[Asked] = []

    def in_an_hour(asked: Asked) -> Reply:
        asked_for.append(asked)
        return Reply(b"{}", 429, {"Retry-After": "3600"})

    assert "it answers 429" in failure_of(kind, in_an_hour, retries=5)
    assert len(asked_for) == 1


@KINDS
def test_a_silent_service_fails_in_time(kind: str) -> None:
    gone_on = threading.Event()

    def silent(asked: Asked) -> Reply:
        gone_on.wait(60)
        return Reply()

    try:
        with (
            service(silent) as (address, _),
            pytest.raises(SourceFailed, match=r"did not answer within 0\.2 s|cannot be reached in time"),
        ):
            search(open_kind(kind, address, request_timeout_s=0.2))
        assert not gone_on.is_set()
    finally:
        gone_on.set()


@KINDS
def test_a_service_that_is_not_there_fails_in_one_line(kind: str) -> None:
    with pytest.raises(SourceFailed, match=f"source 'my-{kind}' .*it cannot be reached"):
        search(open_kind(kind, "http://127.0.0.1:1"))


@KINDS
def test_what_was_found_stays_where_another_query_fails(kind: str) -> None:
    def broken_for_others(asked: Asked) -> Reply:
        broken = "broken" in asked.target or b"broken" in asked.body
        return Reply(b'{"error": "bad query"}', 400) if broken else Reply(EXCHANGES[kind].found(asked))

    with service(broken_for_others) as (address, asked):
        answer = search(open_kind(kind, address), METHANE, any_of("broken"))
    assert answer.requests == len(asked)
    assert [len(papers) for papers in answer.found] == [2, 0]
    assert answer.notes == ("1 of 2 requests were not answered in full: it answers 400: bad query",)


@pytest.mark.parametrize("kind", [kind for kind, each in EXCHANGES.items() if "api_key" in each.settings])
def test_keys_stand_in_no_message_and_no_log(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    said = f'{{"error": "no such key {SECRET}, {SECRET!r}"}}'.encode()
    told = failure_of(kind, lambda asked: Reply(said, 403))
    assert "it answers 403: no such key ***" in told
    assert SECRET not in told + caplog.text
    assert "methane" not in caplog.text


@pytest.mark.parametrize("kind", [kind for kind, each in EXCHANGES.items() if "api_key" in each.settings])
def test_a_key_is_not_sent_in_the_clear_to_another_machine(kind: str) -> None:
    with pytest.raises(ValidationError, match="unencrypted") as failure:
        open_kind(kind, "http://papers.example.org")
    assert SECRET not in str(failure.value)


@KINDS
@pytest.mark.parametrize(
    "setting",
    [
        {"contact": "nobody"},
        {"contact": "a@b.example\r\nX-Evil: 1"},
        {"url": "ftp://example.org"},
        {"url": "https://example.org:99999999"},
        {"url": "https://user:password@example.org"},
        {"requests_per_second": 0},
        {"colour": "red"},
    ],
)
def test_settings_that_do_not_fit_are_refused(kind: str, setting: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        open_kind(kind, **{"address": "https://example.org", **setting})


@KINDS
def test_a_table_declares_a_connector_whose_keys_come_by_variables(kind: str) -> None:
    given = EXCHANGES[kind].settings
    keys = {key: value for key, value in given.items() if key in {"api_key", "client_id"}}
    rest = {"kind": kind, "contact": CONTACT, **{key: given[key] for key in given.keys() - keys.keys()}}
    source = declared(SourceTable("web", rest, keys)).open(IndexerSettings())
    assert (source.name, source.features.private) == ("web", False)
    if keys:
        with pytest.raises(InvalidSource, match="is not allowed in a settings file") as failure:
            declared(SourceTable("web", {**rest, **keys}, {}))
        assert SECRET not in str(failure.value)
    with pytest.raises(InvalidSource, match="contact"):
        declared(SourceTable("web", {"kind": kind}, keys))
