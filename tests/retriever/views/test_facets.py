"""What facets promise on every engine: tests for whatever `settings_for` of a module sets.

tests/service/elasticsearch imports all of this; `settings_for` makes settings of the engine for a home.
"""

from typing import Any

import pytest

from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.search import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views import facets as counting
from retriever.views.facets import facets
from tests.retriever.made_papers import contract_fixture

WALRUS: list[dict[str, Any]] = [
    {"id": "A", "title": "walrus ice", "abstract": "One.", "year": 2020, "journal": "Polar Notes"}
    | {"authors": ["Ada Kim", "Bo Lee"], "type": "thesis"},
    {"id": "B", "title": "walrus", "abstract": "Two.", "year": 2020, "journal": "Seals"}
    | {"authors": ["KIM, ADA"]},  # one author with the one above
    {"id": "C", "title": "walrus", "abstract": "Three.", "year": 2021, "journal": "Polar Notes"},
    {"id": "D", "title": "walrus ice", "abstract": "Four."},
    {"id": "E", "title": "바다코끼리", "abstract": "walrus 다섯.", "year": 1999, "lang": "ko"},
    {"id": "F", "title": "seal", "abstract": "Six.", "year": 1990, "journal": "Seals"},
]
# Each paper in both languages, so that it has two passages.
BOTH = [
    paper | {"title2": "바다코끼리 walrus", "abstract2": "얼음 위의 walrus."} | {"lang": "en"}
    for paper in WALRUS[:4]
]


index = contract_fixture(WALRUS, "facets")


both = contract_fixture(BOTH, "facets-both")


def counted(index, question, method="boolean", **request):
    asked = None if question is None else SearchRequest(question, method, **request)
    return facets(index, asked, RetrieverSettings())


def values(found, field):
    return [(each.value, each.papers) for each in found.facets[field].values]


def test_the_papers_that_an_expression_matches_are_counted_by_their_fields(index):
    found = counted(index, "walrus")

    assert (found.papers, found.exact) == (5, True)
    assert values(found, "year") == [(2021, 1), (2020, 2), (1999, 1), (None, 1)]
    assert values(found, "lang") == [("en", 4), ("ko", 1)]
    assert values(found, "journal") == [("Polar Notes", 2), ("Seals", 1), (None, 2)]
    assert values(found, "authors") == [("Ada Kim", 2), ("Bo Lee", 1), (None, 3)]
    assert values(found, "type") == [("thesis", 1), (None, 4)]


def test_a_field_leaves_its_own_filter_out_and_no_other(index):
    found = counted(index, "walrus", filters=Filters(years=Range(2020, 2020), lang="en"))

    assert found.papers == 2
    assert values(found, "year") == [(2021, 1), (2020, 2), (None, 1)]
    assert values(found, "lang") == [("en", 2)]
    assert values(found, "journal") == [("Polar Notes", 1), ("Seals", 1)]


@pytest.mark.parametrize("exact_up_to", [2_000, 0])
def test_papers_of_several_passages_count_once(both, monkeypatch, exact_up_to):
    monkeypatch.setattr(counting, "EXACT_UP_TO", exact_up_to)

    found = counted(both, "walrus")

    assert (found.papers, found.exact) == (4, exact_up_to > 0)
    assert values(found, "year") == [(2021, 1), (2020, 2), (None, 1)]
    assert values(found, "lang") == [("en", 4), ("ko", 4)]
    assert values(found, "journal") == [("Polar Notes", 2), ("Seals", 1), (None, 1)]
    assert values(found, "authors") == [("Ada Kim", 2), ("Bo Lee", 1), (None, 2)]
