"""Queries as each service writes them."""

from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retriever.queries.boolean import And, Not, Or, Phrase, Query, Term
from retriever.sources.web.boolean import Syntax, WrittenQuery, plain_words, write_query
from tests.hostile import TEXTS
from tests.retriever.sources.exchanges import EXCHANGES


def term(text: str, field: str = "text") -> Term:
    return Term(text, (text,), "title" if field == "title" else "text")


def phrase(text: str) -> Phrase:
    return Phrase(text, tuple(enumerate(text.split())))


def syntax_of(kind: str) -> Syntax:
    syntax: Syntax = import_module(f"retriever.sources.kinds.{kind}").SYNTAX
    return syntax


ANY = Or((term("methane"), term("논"), phrase("rice paddy")))
WITHOUT = And((Or((term("methane"), term("covid-19"))), Not(Or((term("ruminant"), phrase("dairy cow"))))))
NESTED = And((Or((term("a"), term("b"))), term("c", "title")))

WRITTEN: dict[str, dict[str, str]] = {
    "openalex": {
        "any": 'methane OR 논 OR "rice paddy"',
        "without": '(methane OR "covid-19") NOT ruminant NOT "dairy cow"',
        "nested": "(a OR b) AND c",
    },
    "semantic_scholar": {
        "any": 'methane | 논 | "rice paddy"',
        "without": '(methane | "covid-19") -ruminant -"dairy cow"',
        "nested": "(a | b) + c",
    },
    "arxiv": {
        "any": 'all:methane OR all:논 OR all:"rice paddy"',
        "without": '(all:methane OR all:"covid-19") ANDNOT all:ruminant ANDNOT all:"dairy cow"',
        "nested": "(all:a OR all:b) AND ti:c",
    },
    "pubmed": {
        "any": '"methane"[tiab] OR "논"[tiab] OR "rice paddy"[tiab]',
        "without": '("methane"[tiab] OR "covid-19"[tiab]) NOT "ruminant"[tiab] NOT "dairy cow"[tiab]',
        "nested": '("a"[tiab] OR "b"[tiab]) AND "c"[ti]',
    },
    "wikipedia": {
        "any": 'methane OR 논 OR "rice paddy"',
        "without": 'methane OR "covid-19" -ruminant -"dairy cow"',
        "nested": "",
    },
    "scienceon": {
        "any": 'methane|논|"rice paddy"',
        "without": '(methane|"covid-19") !ruminant !"dairy cow"',
        "nested": "(a|b) c",
    },
}
QUERIES: dict[str, Query] = {"any": ANY, "without": WITHOUT, "nested": NESTED}


@pytest.mark.parametrize("kind", EXCHANGES)
@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_written_in_the_syntax_of_its_service(kind: str, query: str) -> None:
    assert write_query(QUERIES[query], syntax_of(kind)).text == WRITTEN[kind][query]


def test_a_query_that_needs_brackets_is_not_sent_where_there_are_none() -> None:
    assert write_query(NESTED, syntax_of("wikipedia")).notes == (
        "a query was not sent: the service knows no brackets",
    )


def test_titles_are_searched_everywhere_where_they_cannot_be_searched_alone() -> None:
    written = write_query(NESTED, syntax_of("openalex"))
    assert written.notes == ("titles cannot be searched alone here: their words were searched everywhere",)


def test_a_word_that_is_searched_everywhere_is_not_searched_in_titles_again() -> None:
    query = Or((term("methane"), term("methane", "title"), term("paddy", "title")))
    assert write_query(query, syntax_of("arxiv")).text == "all:methane OR ti:paddy"


@pytest.mark.parametrize("kind", EXCHANGES)
def test_a_query_that_is_too_long_loses_its_last_words_and_nothing_it_excludes(kind: str) -> None:
    syntax = syntax_of(kind)
    words = tuple(term(f"메탄{number}") for number in range(900))
    written = write_query(And((Or(words), Not(term("소")))), syntax)
    assert syntax.length(written.text) <= syntax.longest
    assert syntax.length(written.text) > syntax.longest - 80
    assert "메탄0" in written.text
    assert "소" in written.text
    assert written.notes[0].startswith("a query was too long for the service and lost its last ")
    assert written.notes[0].endswith(" of 900 words")


def test_a_word_that_alone_is_too_long_is_not_sent() -> None:
    assert write_query(term("x" * 301), syntax_of("wikipedia")) == WrittenQuery(
        "", ("a query was not sent: its words are too long for the service",)
    )


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


@given(st.sampled_from(list(EXCHANGES)), TEXTS, st.booleans())
def test_a_hostile_word_changes_nothing_of_a_query_but_itself(kind: str, hostile: str, title: bool) -> None:
    syntax = syntax_of(kind)
    given_term = term(hostile, "title" if title else "text")
    words = plain_words(hostile)
    query = Or((term("before"), given_term, term("behind")))
    written = write_query(query, syntax)
    expected = [syntax.word("before", "text"), syntax.word("behind", "text")]
    if words:
        expected.insert(1, syntax.word(words, given_term.field))
    assert written.text == syntax.either.join(dict.fromkeys(expected))
    assert not set(words) & set('"()[]{}:|&!*?~^/\\+<>=;,$%#@`\r\n\t\0')
