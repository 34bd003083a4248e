"""Papers ranked for a question, and other papers scored as these are."""

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import rank_papers, scores_of
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from tests.indexer.made_corpora import build, write_jsonl

QUESTION = "methane emission of rice paddies"
PAPERS = [
    {"id": "WHOLE", "title": "Methane emission of rice paddies", "year": 2020},
    {"id": "PART", "title": "Methane of lakes", "year": 2021},
    {"id": "OLD", "title": "Methane emission of wetlands", "year": 1990},
    {"id": "NONE", "title": "Neutron stars", "year": 2020},
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    home = tmp_path_factory.mktemp("ranked")
    build(home, write_jsonl(home / "papers.jsonl", PAPERS), name="ranked")
    with open_index(IndexerSettings(home=home), "ranked") as opened:
        yield opened


def ranked(index, question=QUESTION, **filters):
    request = SearchRequest(question, filters=Filters(**filters))
    return rank_papers(index, request, RetrieverSettings())


def scores(index, found, *ids):
    return scores_of(index, found, ids)


def test_papers_come_best_first_and_those_without_a_word_of_the_question_do_not(index):
    found = ranked(index)
    assert list(found.scores) == ["WHOLE", "OLD", "PART"]
    assert found.curve.best == found.scores["WHOLE"]


def test_a_paper_that_the_filters_left_out_is_scored_beside_the_others(index):
    found = ranked(index, years=Range(2000, None))
    assert list(found.scores) == ["WHOLE", "PART"]
    of = scores(index, found, "PART", "OLD", "NONE", "UNKNOWN")
    assert of["PART"] == found.scores["PART"]
    assert found.scores["WHOLE"] > of["OLD"] > of["PART"] > of["NONE"] == 0
    assert "UNKNOWN" not in of
