"""What each service is asked, as its documentation has it."""

import json
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from retriever.queries.boolean import And, Not, Or, Phrase, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.kinds import scienceon
from retriever.sources.kinds.wikipedia import Settings
from retriever.sources.web.client import TokenBucket
from retriever.sources.web.source import WebSource
from tests.retriever.sources.exchanges import (
    CONTACT,
    EXCHANGES,
    NO_SCIENCEON,
    SCHOLAR,
    SECRET,
    Asked,
    as_json,
)
from tests.retriever.sources.services import Reply, any_of, ask, open_kind, service

METHANE = any_of("methane", "covid-19")
YEARS = Filters(years=Range(2018, 2020))


def open_target(kind: str, call: Callable[[WebSource], Awaitable[object]], **settings: object) -> list[Asked]:
    """Return what a service is asked by a call."""
    with service(lambda asked: Reply(EXCHANGES[kind].found(asked))) as (address, asked):
        ask(open_kind(kind, address, **settings), call)
    return asked


def search(filters: Filters = YEARS, k: int = 10) -> Callable[[WebSource], Awaitable[SourceAnswer]]:
    return lambda source: source.search([(METHANE, k)], filters=filters)


def test_openalex_searches_with_years_and_language() -> None:
    (request,) = open_target("openalex", search(Filters(years=Range(2018, None), lang="en")))
    assert request.path == "/works"
    assert request.one("search") == 'methane OR "covid-19"'
    assert request.one("filter") == "from_publication_date:2018-01-01,language:en"
    assert (request.one("per_page"), request.one("page")) == ("10", "1")
    assert request.one("api_key") == SECRET


def test_openalex_follows_references_in_two_requests_and_citing_works_in_one_each() -> None:
    forward = open_target("openalex", lambda source: source.references(["W101", "W102"], 10))
    assert [request.one("filter") for request in forward] == [
        "ids.openalex:W101|W102",
        "ids.openalex:W102|W103",
    ]
    backward = open_target("openalex", lambda source: source.citing(["W101", "W102"], 10))
    assert sorted(request.one("filter") for request in backward) == ["cites:W101", "cites:W102"]


def test_openalex_pages_until_there_are_enough() -> None:
    def full_pages(asked: Asked) -> Reply:
        first = (int(asked.one("page")) - 1) * 100
        works = [{"id": f"W{first + n}", "title": "A paper"} for n in range(100)]
        return Reply(as_json({"results": works}))

    with service(full_pages) as (address, asked):
        answer = ask(open_kind("openalex", address), search(Filters(), k=250))
    assert [request.one("page") for request in asked] == ["1", "2", "3"]
    assert len({each.paper.id for each in answer.found[0]}) == 250


def test_what_was_found_until_the_time_ended_comes_back() -> None:
    released = threading.Event()

    def silent_from_the_second_page(asked: Asked) -> Reply:
        if asked.one("page") != "1":
            released.wait(60)
        return Reply(as_json({"results": [{"id": f"W{n}", "title": "A paper"} for n in range(100)]}))

    with service(silent_from_the_second_page) as (address, _):
        source = open_kind("openalex", address, request_timeout_s=5)
        answer = ask(source, search(Filters(), k=250))
        released.set()
    assert len(answer.found[0]) == 100
    assert answer.notes == ("1 of 1 requests were not answered in full: it did not answer within 5 s",)


def test_queries_go_to_a_host_no_faster_than_its_rate() -> None:
    queries = [(any_of(f"word{number}"), 10) for number in range(4)]
    begun = time.monotonic()
    open_target("wikipedia", lambda source: source.search(queries, filters=Filters()), requests_per_second=5)
    assert time.monotonic() - begun >= 0.6


def test_as_many_requests_are_under_way_as_the_settings_allow() -> None:
    at_once: list[int] = []
    under_way = 0
    counting = threading.Lock()

    def slow(asked: Asked) -> Reply:
        nonlocal under_way
        with counting:
            under_way += 1
            at_once.append(under_way)
        time.sleep(0.1)
        with counting:
            under_way -= 1
        return Reply(EXCHANGES["arxiv"].found(asked))

    queries = [(any_of(f"word{number}"), 10) for number in range(4)]
    with service(slow) as (address, _):
        source = open_kind("arxiv", address)
        ask(source, lambda opened: opened.search(queries, filters=Filters()))
    assert at_once == [1, 1, 1, 1]


PADDY = Phrase("rice paddy", ((0, "rice"), (1, "paddy")))
NO_COWS = And((METHANE, Not(Term("cow", ("cow",)))))


def test_semantic_scholar_ranks_words_and_phrases_by_relevance() -> None:
    query = Or((*METHANE.clauses, Or((PADDY, Term("rice", ("rice",)), Term("::", ())))))
    (ranked,) = open_target("semantic_scholar", lambda source: source.search([(query, 10)], filters=YEARS))
    assert ranked.path == "/paper/search"
    assert ranked.one("query") == "methane covid 19 rice paddy"
    assert ranked.one("year") == "2018-2020"
    assert ranked.one("sort") == ""
    assert {name.lower(): value for name, value in ranked.headers.items()}["x-api-key"] == SECRET


def test_semantic_scholar_ranks_no_more_words_than_a_query_may_have() -> None:
    many = any_of(*(f"paddy{number}" for number in range(500)))
    with service(lambda asked: Reply(EXCHANGES["semantic_scholar"].found(asked))) as (address, asked):
        source = open_kind("semantic_scholar", address)
        answer = ask(source, lambda opened: opened.search([(many, 10)], filters=Filters()))
    sent = asked[0].one("query").split()
    assert sent == [f"paddy{number}" for number in range(len(sent))]
    lost = f"lost its last {500 - len(sent)} of 500 words"
    assert answer.notes == (f"a query was too long for the service and {lost}",)


def test_semantic_scholar_matches_boolean_queries_in_bulk_and_says_how_they_are_sorted() -> None:
    with service(lambda asked: Reply(EXCHANGES["semantic_scholar"].found(asked))) as (address, asked):
        source = open_kind("semantic_scholar", address)
        answer = ask(source, lambda opened: opened.search([(NO_COWS, 10)], filters=Filters()))
    assert [request.path for request in asked] == ["/paper/search/bulk"]
    assert asked[0].one("query") == '(methane | "covid-19") -cow'
    assert answer.notes == ("AND and NOT are not ranked by relevance here: the most cited papers come first",)


def test_semantic_scholar_searches_in_bulk_alone_where_a_setting_says_so() -> None:
    (chosen,) = open_target("semantic_scholar", search(), search="bulk")
    assert chosen.path == "/paper/search/bulk"


def test_semantic_scholar_goes_on_with_the_token_of_a_page() -> None:
    def two_pages(asked: Asked) -> Reply:
        second = asked.one("token") == "next"
        return Reply(as_json({"data": SCHOLAR[1:]} if second else {"data": SCHOLAR[:1], "token": "next"}))

    with service(two_pages) as (address, _):
        source = open_kind("semantic_scholar", address)
        answer = ask(source, lambda opened: opened.search([(NO_COWS, 10)], filters=Filters()))
    assert [each.paper.id for each in answer.found[0]] == ["a" * 40, "b" * 40]


def test_arxiv_is_asked_by_relevance_with_dates_of_submission() -> None:
    (request,) = open_target("arxiv", search())
    assert request.path == "/query"
    assert request.one("search_query") == (
        '(all:methane OR all:"covid-19") AND submittedDate:[201801010000 TO 202012312359]'
    )
    assert (request.one("start"), request.one("max_results")) == ("0", "10")
    assert request.one("sortBy") == "relevance"


def test_pubmed_brings_the_records_of_all_queries_in_one_request() -> None:
    queries = [(METHANE, 10), (any_of("paddy"), 10)]
    asked = open_target("pubmed", lambda source: source.search(queries, filters=YEARS))
    assert [request.path for request in asked].count("/efetch.fcgi") == 1
    assert len(asked) == 3
    terms = {request.one("term") for request in asked if request.path == "/esearch.fcgi"}
    assert '("methane"[tiab] OR "covid-19"[tiab]) AND 2018:2020[dp]' in terms
    for request in asked:
        assert "?" not in request.target
        assert (request.one("email"), request.one("tool"), request.one("api_key")) == (
            CONTACT,
            "shrag",
            SECRET,
        )


def test_pubmed_is_asked_for_headings_as_headings_with_their_commas() -> None:
    headings = Term("Methane", (), "heading"), Phrase("Diabetes Mellitus, Type 2", (), "heading")
    query = Or((*headings, Term("methane", ("methane",))))
    first, *_ = open_target("pubmed", lambda source: source.search([(query, 10)], filters=Filters()))
    assert first.one("term") == '"Methane"[mh] OR "Diabetes Mellitus, Type 2"[mh] OR "methane"[tiab]'


def test_pubmed_asks_for_the_links_of_all_papers_at_once() -> None:
    links, records = open_target("pubmed", lambda source: source.citing(["101", "102"], 5))
    assert links.one("linkname") == "pubmed_pubmed_citedin"
    assert links.parameters["id"] == ["101", "102"]
    assert records.one("id") == "101,102"


def test_wikipedia_is_asked_for_articles_and_their_introductions_at_once() -> None:
    (request,) = open_target("wikipedia", search(Filters()))
    assert request.path == "/api.php"
    assert request.one("gsrsearch") == 'methane OR "covid-19"'
    assert (request.one("generator"), request.one("exintro"), request.one("gsrlimit")) == (
        "search",
        "1",
        "10",
    )


def test_wikipedia_is_not_asked_for_another_language_or_for_years() -> None:
    assert open_target("wikipedia", search(Filters(lang="ko"))) == []
    assert open_target("wikipedia", search(YEARS)) == []


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_address_of_a_wikipedia_is_that_of_its_language(language: str) -> None:
    settings = Settings.model_validate({"kind": "wikipedia", "contact": CONTACT, "language": language})
    assert settings.url == f"https://{language}.wikipedia.org/w"


def test_scienceon_is_asked_with_a_token_that_all_queries_share() -> None:
    queries = [(METHANE, 10), (any_of("논"), 10)]
    token, *calls = open_target("scienceon", lambda source: source.search(queries, filters=YEARS))
    assert token.path == "/tokenrequest.do"
    assert SECRET not in token.target
    assert {call.one("token") for call in calls} == {"0123456789abcdef"}
    assert {"BI": 'methane|"covid-19"', "PY": "2018~2020"} in [
        json.loads(call.one("searchQuery")) for call in calls
    ]


@pytest.mark.parametrize("refused", [NO_SCIENCEON.replace(b"200<", b"401<"), b'{"errorCode": "E4103"}'])
def test_scienceon_asks_for_another_token_where_one_is_refused(refused: bytes) -> None:
    def old_token(asked: Asked) -> Reply:
        if asked.path.endswith("tokenrequest.do"):
            return Reply(
                as_json(
                    {"access_token": f"token-of-two-hours-{sum('token' in each.path for each in so_far)}"}
                )
            )
        return Reply(
            refused if asked.one("token") == "token-of-two-hours-1" else EXCHANGES["scienceon"].found(asked)
        )

    with service(old_token) as (address, so_far):
        answer = ask(open_kind("scienceon", address), search(Filters()))
    assert len(answer.found[0]) == 2
    assert [request.path for request in so_far] == ["/tokenrequest.do", "/openapicall.do"] * 2


def test_a_token_is_asked_for_with_the_encrypted_address_and_time() -> None:
    told = scienceon.accounts(SECRET, "AA-BB-CC-DD-EE-FF", datetime(2026, 1, 1, tzinfo=UTC))
    decryptor = Cipher(algorithms.AES256(SECRET.encode()), modes.CBC(scienceon.VECTOR)).decryptor()
    plain = decryptor.update(urlsafe_b64decode(told)) + decryptor.finalize()
    assert json.loads(plain[: -plain[-1]]) == {
        "datetime": "20260101090000",
        "mac_address": "AA-BB-CC-DD-EE-FF",
    }


def test_a_bucket_lets_one_through_and_tells_the_next_to_wait() -> None:
    bucket = TokenBucket(per_second=0.001)
    assert bucket.take() == 0
    assert 900 < bucket.take() <= 1_000
    assert 1_900 < bucket.take() <= 2_000


def test_a_host_that_asks_to_wait_is_waited_for_by_all_who_ask_it() -> None:
    bucket = TokenBucket(per_second=1)
    bucket.pause(1_000)
    assert 900 < bucket.take() <= 1_001
