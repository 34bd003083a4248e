"""Queries as values."""

import pytest

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

GRAPH = Term("그래프", ("그래프",))
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
        (Or((GRAPH, And((SEARCH, NONLINEAR)))), "그래프 OR (searching AND 비선형)"),
        (And((Or((GRAPH, SEARCH)), Not(NONLINEAR))), "(그래프 OR searching) AND NOT 비선형"),
    ],
)
def test_a_query_is_written_as_people_type_it(query, written):
    assert describe(query) == written


def test_what_is_searched_for_are_the_tokens_of_words_and_phrases_by_their_weights():
    phrase = Phrase("지식 그래프", ((0, "지식"), (1, "그래프")), weight=2.0)

    assert searched_tokens(Or((NONLINEAR, phrase))) == {"비": 1.0, "선형": 1.0, "지식": 2.0, "그래프": 2.0}
