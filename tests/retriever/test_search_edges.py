"""Searching at its edges: many incomplete papers, filters beside titles in the other language, removals."""

import pytest

from retriever.errors import BadFilter
from retriever.queries.filters import Filters
from retriever.settings import RetrieverSettings
from tests.retriever.made_papers import found, index_of

METHODS = ("or", "paper", "shrag")


@pytest.mark.parametrize("method", METHODS)
def test_incomplete_papers_do_not_crowd_out_complete_ones(tmp_path, method):
    bare = [{"id": f"BARE{n}", "title": "graph retrieval"} for n in range(40)]
    whole = [
        {
            "id": f"WHOLE{n}",
            "title": f"study {n}",
            "abstract": f"A graph, {n} times, serves retrieval of words.",
        }
        for n in range(3)
    ]
    with index_of(tmp_path, *bare, *whole) as index:
        result = found(index, "graph retrieval", method, k=3)
    assert {hit.doc_id for hit in result.hits} == {"WHOLE0", "WHOLE1", "WHOLE2"}
    assert result.filtered["incomplete"] > 0


def test_an_incomplete_paper_is_no_evidence(tmp_path):
    bare = {"id": "BARE", "title": "Methane of paddy fields"}
    whole = {"id": "WHOLE", "title": "Hill gases", "abstract": "Methane of barley terraces was measured."}
    with index_of(tmp_path, bare, whole) as index:
        first = found(index, "methane from paddy fields", k=1)
        everything = RetrieverSettings(drop_incomplete=False)
        kept = found(index, "methane from paddy fields", settings=everything, k=1)
    assert ([hit.doc_id for hit in first.hits], [hit.doc_id for hit in kept.hits]) == (["WHOLE"], ["BARE"])
    assert first.likelihood < 0.3 < kept.likelihood


def test_a_filter_holds_for_what_a_title_in_the_other_language_found(tmp_path):
    paper = {
        "id": "K1",
        "title": "논의 메탄",
        "abstract": "논에서 나오는 기체를 쟀다.",
        "title2": "Methane of paddies",
        "lang": "ko",
    }
    with index_of(tmp_path, paper) as index:
        assert "K1" not in [
            hit.passage_id for hit in found(index, "methane", filters=Filters(lang="en")).hits
        ]
        assert [hit.passage_id for hit in found(index, "methane").hits] == ["K1"]


@pytest.mark.parametrize(
    "request_", [{"k": 0}, {"k": 10**20}, {"title_weight": float("nan")}, {"title_weight": -1}]
)
def test_numbers_that_no_search_can_use_are_refused(tmp_path, request_):
    paper = {"id": "A", "title": "graphs", "abstract": "A graph."}
    with index_of(tmp_path, paper) as index, pytest.raises(BadFilter):
        found(index, "graph", **request_)
