"""What each service is asked, as its documentation has it, and what its records become."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.queries.boolean import And, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import SourceAnswer
from retriever.sources.web.boolean import plain_words, write_query
from retriever.sources.web.client import NoAnswer
from retriever.sources.web.source import Page, WebSource
from tests.hostile import VALUES
from tests.retriever.sources.exchanges import (
    ATOM,
    CONTACT,
    EXCHANGES,
    NO_SCIENCEON,
    OPENALEX,
    PUBMED,
    SCHOLAR,
    SCIENCEON,
    SECRET,
    WIKIPEDIA,
    Asked,
    as_json,
)
from tests.retriever.sources.services import Reply, any_of, ask, open_kind, service, well

METHANE = any_of("methane", "covid-19")
YEARS = Filters(years=Range(2018, 2020))
NO_COWS = And((METHANE, Not(Term("cow", ("cow",)))))
Call = Callable[[WebSource], Awaitable[Any]]


def sent(kind: str, call: Call, **settings: object) -> list[Asked]:
    """Return what a service is asked by a call."""
    with service(well(kind)) as (address, asked):
        ask(open_kind(kind, address, **settings), call)
    return asked


def search(query: Query = METHANE, filters: Filters = YEARS, k: int = 10) -> Call:
    return lambda source: source.search([(query, k)], filters=filters)


LIMITED = Filters(years=Range(2018, None), lang="en")
HEADINGS = Or((Term("Methane", (), "heading"), Phrase("Diabetes Mellitus, Type 2", (), "heading")))
WORDS = Or((*METHANE.clauses, Or((Phrase("rice paddy", ()), Term("rice", ()), Term("::", ())))))
# Of every request in order: its path, and some of its parameters.
REQUESTS: list[tuple[str, Call, list[str]]] = [
    (
        "openalex",
        search(filters=LIMITED),
        [
            (
                '/works; search=methane OR "covid-19"; filter=from_publication_date:2018-01-01,language:en; '
                f"per_page=10; page=1; api_key={SECRET}"
            )
        ],
    ),
    (
        "openalex",
        lambda source: source.references(["W101", "W102"], 10),
        ["/works; filter=ids.openalex:W101|W102", "/works; filter=ids.openalex:W102|W103"],
    ),
    ("openalex", lambda source: source.citing(["W101"], 10), ["/works; filter=cites:W101"]),
    (
        "semantic_scholar",
        search(WORDS),
        ["/paper/search; query=methane covid 19 rice paddy; year=2018-2020; sort="],
    ),
    ("semantic_scholar", search(NO_COWS), ['/paper/search/bulk; query=(methane | "covid-19") -cow']),
    (
        "arxiv",
        search(),
        [
            (
                '/query; search_query=(all:methane OR all:"covid-19") AND '
                "submittedDate:[201801010000 TO 202012312359]; start=0; max_results=10; sortBy=relevance"
            )
        ],
    ),
    (
        "pubmed",
        search(),
        [
            (
                '/esearch.fcgi; term=("methane"[tiab] OR "covid-19"[tiab]) AND 2018:2020[dp]; '
                f"email={CONTACT}; tool=shrag; api_key={SECRET}"
            ),
            "/efetch.fcgi; id=101,102",
        ],
    ),
    (
        "pubmed",
        search(HEADINGS, Filters()),
        ['/esearch.fcgi; term="Methane"[mh] OR "Diabetes Mellitus, Type 2"[mh]', "/efetch.fcgi"],
    ),
    (
        "pubmed",
        lambda source: source.citing(["101"], 5),
        [
            "/elink.fcgi; dbfrom=pubmed; db=pubmed; linkname=pubmed_pubmed_citedin; id=101",
            "/efetch.fcgi; id=101,102",
        ],
    ),
    (
        "wikipedia",
        search(filters=Filters()),
        ['/api.php; gsrsearch=methane OR "covid-19"; generator=search; exintro=1; gsrlimit=10'],
    ),
    ("wikipedia", search(filters=Filters(lang="ko")), []),
    ("wikipedia", search(filters=YEARS), []),
    (
        "scienceon",
        search(),
        [
            "/tokenrequest.do",
            (
                '/openapicall.do; searchQuery={"BI": "methane|\\"covid-19\\"", "PY": "2018~2020"}; '
                "token=0123456789abcdef"
            ),
        ],
    ),
]


@pytest.mark.parametrize(("kind", "call", "expected"), REQUESTS)
def test_a_service_is_asked_as_documented(kind: str, call: Call, expected: list[str]) -> None:
    asked = sent(kind, call)
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

    assert len({each.paper.id for each in answer_of("openalex", numbered, METHANE, 250).found[0]}) == 250
    bulk = answer_of("semantic_scholar", with_token, NO_COWS)
    assert [each.paper.id for each in bulk.found[0]] == ["a" * 40, "b" * 40]
    assert bulk.notes == ("AND and NOT are not ranked by relevance here: the most cited papers come first",)


@pytest.mark.parametrize("refused", [NO_SCIENCEON.replace(b"200<", b"401<"), b'{"errorCode": "E4103"}'])
def test_scienceon_asks_for_another_token_if_one_is_refused(refused: bytes) -> None:
    paths: list[str] = []

    def old_token(asked: Asked) -> Reply:
        paths.append(asked.path)
        if asked.path.endswith("tokenrequest.do"):
            return Reply(as_json({"access_token": f"token-number-{len(paths)}"}))
        return Reply(
            refused if asked.one("token") == "token-number-1" else EXCHANGES["scienceon"].found(asked)
        )

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
WRITTEN = {
    "openalex": (
        'methane OR 논 OR "rice paddy"',
        '(methane OR "covid-19") NOT ruminant NOT "dairy cow"',
        "(a OR b) AND c",
    ),
    "semantic_scholar": (
        'methane | 논 | "rice paddy"',
        '(methane | "covid-19") -ruminant -"dairy cow"',
        "(a | b) + c",
    ),
    "arxiv": (
        'all:methane OR all:논 OR all:"rice paddy"',
        '(all:methane OR all:"covid-19") ANDNOT all:ruminant ANDNOT all:"dairy cow"',
        "(all:a OR all:b) AND ti:c",
    ),
    "pubmed": (
        '"methane"[tiab] OR "논"[tiab] OR "rice paddy"[tiab]',
        '("methane"[tiab] OR "covid-19"[tiab]) NOT "ruminant"[tiab] NOT "dairy cow"[tiab]',
        '("a"[tiab] OR "b"[tiab]) AND "c"[ti]',
    ),
    "wikipedia": ('methane OR 논 OR "rice paddy"', 'methane OR "covid-19" -ruminant -"dairy cow"', ""),
    "scienceon": ('methane|논|"rice paddy"', '(methane|"covid-19") !ruminant !"dairy cow"', "(a|b) c"),
}
EVERYWHERE = "titles cannot be searched alone here: their words were searched everywhere"
NO_BRACKETS = "a query was not sent: the service knows no brackets"


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_query_is_written_in_the_syntax_of_its_service(kind: str) -> None:
    syntax = offline(kind).syntax
    assert tuple(write_query(query, syntax).text for query in (ANY, WITHOUT, NESTED)) == WRITTEN[kind]
    notes = () if syntax.titles else (EVERYWHERE,)
    assert write_query(NESTED, syntax).notes == (notes if syntax.brackets else (NO_BRACKETS,))


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_query_that_is_too_long_loses_its_last_words_and_no_exclusion(kind: str) -> None:
    syntax = offline(kind).syntax
    words = tuple(term(f"메탄{number}") for number in range(900))
    written = write_query(And((Or(words), Not(term("소")))), syntax)
    assert syntax.longest - 80 < syntax.length(written.text) <= syntax.longest
    assert "메탄0" in written.text
    assert "소" in written.text
    assert written.notes[0].startswith("a query was too long for the service and lost its last ")
    assert written.notes[0].endswith(" of 900 words")


def test_exclusions_of_each_alternative_are_sent_and_lost_with_its_words() -> None:
    pairs = [("aa", "y"), ("bb", "w"), ("cc", "v")]
    query = Or(tuple(And((term(word), Not(term(other)))) for word, other in pairs))
    syntax = offline("semantic_scholar").syntax
    assert write_query(query, syntax).text == "(aa -y) | (bb -w) | (cc -v)"
    assert write_query(query, replace(syntax, longest=20)).text == "(aa -y) | (bb -w)"
    nested = And((term("aa"), And((term("bb"), Not(term("w"))))))
    assert write_query(nested, replace(syntax, longest=7)).text == "aa -w"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("COVID-19", "COVID-19"),
        ('") OR (all:*', "or all"),
        ("a AND b", "a and b"),
        ("insource:/x/ -y", "insource x y"),
        ("[tiab] x[dp]", "tiab x dp"),
        ("!논 ~2 ^3 +z", "논 2 3 z"),
        ("A|B&C\\D\x00\r\n{E}", "A B C D E"),
        ("don't", "don't"),
        ("_x_ .y.", "x y"),
    ],
)
def test_nothing_in_a_word_can_be_a_sign_of_syntax(text: str, plain: str) -> None:
    assert plain_words(text) == plain


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
        json.dumps(paper.paper.record(), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        (
            "pubmed",
            PUBMED,
            {
                "abstract": "RESULTS: Paddies emit methane; drains emit less.",
                "keywords": ["Methane", "paddy"],
                "authors": ["Ara Kim", "Paddy Group"],
                "references": ["102"],
            },
        ),
        ("openalex", as_json(OPENALEX), {"references": ["W102", "W103"], "cited_by_count": 7}),
        ("scienceon", SCIENCEON, {"url": "", "title2": "논에서 나오는 메탄"}),
        ("openalex", b'{"results": [{"id": "W1", "title": "a\\ud800b\x01"}]}', {"title": "a\ufffdb"}),
        (
            "openalex",
            as_json(
                {"results": [{"id": "W1", "title": "Le riz", "language": "fr", "cited_by_count": 10**400}]}
            ),
            {"lang": "other", "cited_by_count": None},
        ),
        (
            "openalex",
            b'{"results": [{"id": "W1", "abstract_inverted_index": {"b": [9, true], "a": [-5], "c": 3}}]}',
            {"abstract": "a b"},
        ),
    ],
)
def test_a_record_becomes_a_paper(kind: str, content: bytes, expected: dict[str, Any]) -> None:
    first = read(kind, content)[0]
    assert first is not None
    assert {name: getattr(first.paper, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("arxiv", ATOM.replace(b"/abs/1901.00001v2", b"/api/errors#x"), "it answers: Paddies emit methane"),
        ("wikipedia", b'{"error": {"code": "too-busy"}}', "it answers: too-busy"),
        (
            "pubmed",
            PUBMED.replace(b'.dtd">', b'.dtd" [<!ENTITY a "aaaa">]>').replace(b"Invented Soils", b"&a;"),
            "entities of its own",
        ),
    ],
)
def test_an_error_in_an_answer_is_named(kind: str, content: bytes, said: str) -> None:
    with pytest.raises(NoAnswer, match=said):
        read(kind, content)
