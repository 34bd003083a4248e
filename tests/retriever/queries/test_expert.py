"""Expressions and other queries as values, and filters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from retriever.errors import BadExpression, BadFilter
from retriever.queries.boolean import (
    And,
    Exact,
    Not,
    Or,
    Phrase,
    Range,
    Term,
    describe,
    searched_tokens,
)
from retriever.queries.expert import parse_expression
from retriever.queries.filters import Filters, make_filters, parse_years

ANALYZERS = {
    "bilingual": make_analyzer("bilingual"),
    "mixed": make_analyzer("bilingual", "mixed"),
    "english": make_analyzer("english"),
}
BILINGUAL = ANALYZERS["bilingual"]

PIECES = st.sampled_from(
    'AND OR NOT + - ! ( ) " “ ” 「 」 ~2 ^2 ^0.3 : title: 제목: year: 2019..2024 2020 lang: ko id: a b1 of '
    "그래프 지식그래프 retrieval CRISPR-Cas9 http://a.b C++ author: doi: journal: type: 😀 & |".split()
) | st.just(" ")
EXPRESSIONS = st.lists(PIECES, max_size=25).map("".join) | st.lists(PIECES, max_size=25).map(" ".join)


def read(text, name):
    try:
        return parse_expression(text, ANALYZERS[name]), None
    except BadExpression as error:
        return None, error


def described_again(query, analyzer):
    again = parse_expression(describe(query), analyzer)
    return again and describe(again)


@given(st.text() | EXPRESSIONS, st.sampled_from(sorted(ANALYZERS)))
def test_any_text_is_read_or_refused_with_a_place_inside_it(text, name):
    _, error = read(text, name)

    assert error is None or (error.expression == text and 0 <= error.position <= len(text))


@given(EXPRESSIONS | st.text(), st.sampled_from(sorted(ANALYZERS)))
def test_what_was_read_is_described_so_that_it_is_read_again(text, name):
    query, _ = read(text, name)

    if query is not None:
        assert described_again(query, ANALYZERS[name]) == describe(query)


GRAPHS = Term("그래프", ("그래프",))
SEARCH = Term("searching", ("search",))
NONLINEAR = Term("비선형", ("비", "선형"))


@pytest.mark.parametrize(
    ("query", "written"),
    [
        (NONLINEAR, "비선형"),
        (Term("graph", ("graph",), "title", 0.35), "title:graph^0.35"),
        (Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), slop=3), '"지식 그래프"~3'),
        (Range(2019, 2024), "year:2019..2024"),
        (Range(None, 2024), "year:..2024"),
        (Exact("lang", ("ko",)), 'lang:"ko"'),
        (Or((GRAPHS, And((SEARCH, NONLINEAR)))), "그래프 OR (searching AND 비선형)"),
        (And((Or((GRAPHS, SEARCH)), Not(NONLINEAR))), "(그래프 OR searching) AND NOT 비선형"),
    ],
)
def test_a_query_is_written_as_people_type_it(query, written):
    assert describe(query) == written


def test_what_is_searched_for_are_the_tokens_of_words_and_phrases_by_their_weights():
    phrase = Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), weight=2.0)

    assert searched_tokens(Or((NONLINEAR, phrase))) == {"비": 1.0, "선형": 1.0, "지식": 2.0, "그래프": 2.0}


@given(st.text() | st.from_regex(r"[0-9]{0,5}[.~-]{0,3}[0-9]{0,5}", fullmatch=True))
def test_years_are_read_or_refused(text):
    try:
        years = parse_years(text)
    except BadFilter:
        return
    assert 1000 <= (years.low or 1000) <= (years.high or 2100) <= 2100


def test_filters_are_made_of_what_was_typed():
    made = make_filters("2019..2024", "한국어", " 정보관리학회지 ")

    assert made == Filters(years=Range(2019, 2024), lang="ko", journal="정보관리학회지")
