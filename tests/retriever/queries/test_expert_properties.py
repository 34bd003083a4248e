import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.analysis import make_analyzer
from retriever.errors import BadExpression
from retriever.queries.boolean import describe
from retriever.queries.expert import parse_expression

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


@pytest.mark.parametrize(
    "expression",
    [
        "graph AND (검색 OR survey)",
        'title:"지식 그래프" AND NOT survey AND year:2019..2024',
        "(graph AND 검색) OR title:survey^0.3",
        'lang:"ko" OR year:2020..',
    ],
)
def test_what_describe_writes_is_left_as_it_is(expression):
    query = parse_expression(expression, BILINGUAL)

    assert query is not None
    assert describe(query) == expression
