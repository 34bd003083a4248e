"""What each service is asked, as its documentation has it, and what its records become."""

import json
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.queries.boolean import And, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.web.boolean import write_query
from retriever.sources.web.client import NoAnswer
from retriever.sources.web.source import Page, WebSource
from tests.hostile import VALUES
from tests.retriever.sources.exchanges import (
    ATOM,
    EXCHANGES,
    NO_SCIENCEON,
    OPENALEX,
    PUBMED,
    SCHOLAR,
    SCIENCEON,
    WIKIPEDIA,
    Asked,
    as_json,
)
from tests.retriever.sources.services import Reply, any_of, ask, open_kind, service, well

METHANE = any_of("methane", "covid-19")
NO_COWS = And((METHANE, Not(Term("cow", ("cow",)))))
HEADINGS = Or((Term("Methane", (), "heading"), Phrase("Diabetes Mellitus, Type 2", (), "heading")))
WORDS = Or((*METHANE.clauses, Or((Phrase("rice paddy", ()), Term("rice", ()), Term("::", ())))))
YEARS = Filters(years=Range(2018, 2020))
Call = Callable[[WebSource], Awaitable[Any]]


def search(query: Query = METHANE, filters: Filters = YEARS, k: int = 10) -> Call:
    return lambda source: source.search([(query, k)], filters=filters)


CALLS: dict[str, Call] = {
    "search": search(),
    "search since 2018 in English": search(filters=Filters(years=Range(2018, None), lang="en")),
    "search in Korean": search(filters=Filters(lang="ko")),
    "search of any year": search(filters=Filters()),
    "search words": search(WORDS),
    "search without": search(NO_COWS),
    "search headings": search(HEADINGS, Filters()),
    "references": lambda source: source.linked("reference", ["W101", "W102"], 10),
    "citing": lambda source: source.linked("citing", EXCHANGES[source.name.removeprefix("my-")].ids[:1], 5),
}


def table(name: str) -> list[list[str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()[1:]]


# Of every request in order: its path, and some of its parameters.
@pytest.mark.parametrize(("kind", "call", "expected"), [(*row[:2], row[2:]) for row in table("requests.tsv")])
def test_a_service_is_asked_as_documented(kind: str, call: str, expected: list[str]) -> None:
    with service(well(kind)) as (address, asked):
        ask(open_kind(kind, address), CALLS[call])
    assert len(asked) == len(expected)
    for request, wanted in zip(asked, expected, strict=True):
        path, *parameters = wanted.split("; ")
        assert request.path == path
        for name, value in (each.split("=", 1) for each in parameters):
            assert request.one(name) == value
        assert kind != "pubmed" or "?" not in request.target


def answer_of(kind: str, reply: Callable[[Asked], Reply], query: Query, k: int = 10) -> SourceAnswer:
    with service(reply) as (address, _):
        found: SourceAnswer = ask(open_kind(kind, address), search(query, Filters(), k))
    return found


def test_pages_are_read_until_there_are_enough() -> None:
    def numbered(asked: Asked) -> Reply:
        first = (int(asked.one("page")) - 1) * 100
        return Reply(as_json({"results": [{"id": f"W{first + n}", "title": "A"} for n in range(100)]}))

    def with_token(asked: Asked) -> Reply:
        last = asked.one("token") == "next"
        return Reply(as_json({"data": SCHOLAR[1:]} if last else {"data": SCHOLAR[:1], "token": "next"}))

    assert len({each.id for each in answer_of("openalex", numbered, METHANE, 250).found[0]}) == 250
    bulk = answer_of("semantic_scholar", with_token, NO_COWS)
    assert [each.id for each in bulk.found[0]] == ["a" * 40, "b" * 40]
    assert bulk.notes == ("AND and NOT are not ranked by relevance here: the most cited papers come first",)


@pytest.mark.parametrize("refused", [NO_SCIENCEON.replace(b"200<", b"401<"), b'{"errorCode": "E4103"}'])
def test_scienceon_asks_for_another_token_if_one_is_refused(refused: bytes) -> None:
    paths: list[str] = []

    def old_token(asked: Asked) -> Reply:
        paths.append(asked.path)
        if asked.path.endswith("tokenrequest.do"):
            return Reply(as_json({"access_token": f"token-number-{len(paths)}"}))
        return Reply(refused if asked.one("token") == "token-number-1" else SCIENCEON)

    assert len(answer_of("scienceon", old_token, METHANE).found[0]) == 2
    assert paths == ["/tokenrequest.do", "/openapicall.do"] * 2


@cache
def offline(kind: str) -> WebSource:
    return open_kind(kind, "http://127.0.0.1:1")


def term(text: str, field: str = "text") -> Term:
    return Term(text, (text,), "title" if field == "title" else "text")


# A query in the syntax of each service: an OR, exclusions, brackets with a title.
ANY = Or((term("methane"), term("논"), Phrase("rice paddy", ()), term("methane", "title")))
WITHOUT = And((METHANE, Not(Or((term("ruminant"), Phrase("dairy cow", ()))))))
NESTED = And((Or((term("a"), term("b"))), term("c", "title")))
EVERYWHERE = "titles cannot be searched alone here: their words were searched everywhere"
NO_BRACKETS = "a query was not sent: the service knows no brackets"


@pytest.mark.parametrize(("kind", "written"), [(kind, texts) for kind, *texts in table("syntax.tsv")])
def test_a_query_is_written_in_the_syntax_of_its_service(kind: str, written: list[str]) -> None:
    syntax = offline(kind).syntax
    assert [write_query(query, syntax).text for query in (ANY, WITHOUT, NESTED)] == written
    notes = () if syntax.titles else (EVERYWHERE,)
    assert write_query(NESTED, syntax).notes == (notes if syntax.brackets else (NO_BRACKETS,))


@pytest.mark.parametrize("kind", EXCHANGES)
def test_a_query_that_is_too_long_loses_its_last_words_and_no_exclusion(kind: str) -> None:
    syntax = offline(kind).syntax
    words = tuple(term(f"메탄{number}") for number in range(900))
    written = write_query(And((Or(words), Not(term("소")))), syntax)
    assert syntax.longest - 80 < syntax.length(written.text) <= syntax.longest
    assert "메탄0" in written.text
    assert "소" in written.text
    assert written.notes[0].startswith("a query was too long for the service and lost its last ")
    assert written.notes[0].endswith(" of 900 words")


def read(kind: str, content: bytes) -> Page:
    return offline(kind)._read(content)


ANYTHING = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)
JSON: dict[str, Any] = {"openalex": OPENALEX, "semantic_scholar": {"data": SCHOLAR}, "wikipedia": WIKIPEDIA}


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return the containers of a tree with each of their keys."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((value, key), *places(value[key]))]


@given(st.sampled_from(list(JSON)), st.data())
def test_whatever_a_field_holds_the_rest_is_read(kind: str, data: st.DataObject) -> None:
    answer = json.loads(json.dumps(JSON[kind]))
    container, key = data.draw(st.sampled_from(places(answer)))
    container[key] = data.draw(ANYTHING)
    try:
        found = read(kind, json.dumps(answer).encode())
    except NoAnswer:  # the answer as a whole is of another kind
        found = []
    for paper in filter(None, found):
        json.dumps(paper.record(), ensure_ascii=False).encode()


INVERTED = b'{"results": [{"id": "W1", "abstract_inverted_index": {"b": [9, true], "a": [-5], "c": 3}}]}'
FRENCH = {"id": "W1", "title": "Le riz", "language": "fr", "cited_by_count": 10**400}
OF_PUBMED = {
    "abstract": "RESULTS: Paddies emit methane; drains emit less.",
    "keywords": ["Methane", "paddy"],
    "authors": ["Ara Kim", "Paddy Group"],
    "references": ["102"],
}


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("pubmed", PUBMED, OF_PUBMED),
        ("openalex", as_json(OPENALEX), {"references": ["W102", "W103"], "cited_by_count": 7}),
        ("scienceon", SCIENCEON, {"url": "", "title2": "논에서 나오는 메탄"}),
        ("openalex", as_json({"results": [FRENCH]}), {"lang": "other", "cited_by_count": None}),
        ("openalex", INVERTED, {"abstract": "a b"}),
    ],
)
def test_a_record_becomes_a_paper(kind: str, content: bytes, expected: dict[str, Any]) -> None:
    first = read(kind, content)[0]
    assert first is not None
    assert {name: getattr(first, name) for name in expected} == expected


OWN_ENTITY = PUBMED.replace(b'.dtd">', b'.dtd" [<!ENTITY a "aaaa">]>').replace(b"Invented Soils", b"&a;")


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("arxiv", ATOM.replace(b"/abs/1901.00001v2", b"/api/errors#x"), "it answers: Paddies emit methane"),
        ("wikipedia", b'{"error": {"code": "too-busy"}}', "it answers: too-busy"),
        ("pubmed", OWN_ENTITY, "entities of its own"),
    ],
)
def test_an_error_in_an_answer_is_named(kind: str, content: bytes, said: str) -> None:
    with pytest.raises(NoAnswer, match=said):
        read(kind, content)
