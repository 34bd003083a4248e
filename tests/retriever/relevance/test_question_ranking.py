"""A question's papers in the order of `shrag`, of one index and of several sources."""

import asyncio
from contextlib import closing

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import QuestionRanking
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.sources.gathered import SharedModels
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from tests.indexer.made_corpora import build, write_jsonl

QUESTION = "methane emission of rice paddies"
RECENT = Filters(years=Range(2000, None))
PAPERS = {
    "one": [
        {"id": "WHOLE", "title": "Methane emission of rice paddies", "year": 2020},
        {"id": "OLD", "title": "Methane emission of wetlands", "year": 1990},
    ],
    "two": [
        {"id": "PART", "title": "Methane of lakes", "year": 2021},
        {"id": "NONE", "title": "Neutron stars", "year": 2020},
    ],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranking")
    for name, papers in PAPERS.items():
        build(folder, write_jsonl(folder / f"{name}.jsonl", papers), name=name)
    return folder


def ranked(home, *names):
    """Return the ids of a question's recent papers, and the probability of all papers by id."""
    settings = IndexerSettings(home=home)

    async def rank():
        with closing(SharedModels(settings)) as models:
            opened = [open_index(settings, name) for name in names]
            sources = [
                LimitedSource(IndexSource(name, index), 60) for name, index in zip(names, opened, strict=True)
            ]
            given = SearchRequest(QUESTION), sources, models, RetrieverSettings()
            async with QuestionRanking(*given) as ranking:
                merged, notes = await ranking.papers(RECENT, {})
                every, _ = await QuestionRanking(*given).papers(Filters(), {})
                papers = {**merged.papers, **every.papers}
                likely = await ranking.likelihoods(RECENT, list(papers.values()))
            for index in opened:
                index.close()
        assert not notes
        found = [paper_id for paper_id, _ in merged.found[0]]
        return found, dict(zip(papers, likely, strict=True))

    return asyncio.run(rank())


def test_an_index_ranks_its_papers_within_the_years_and_scores_the_others_beside_them(home):
    found, likely = ranked(home, "one")
    assert found == ["WHOLE"]
    assert likely["WHOLE"] > likely["OLD"] > 0


def test_several_sources_are_ranked_as_one_index(home):
    found, likely = ranked(home, "one", "two")
    assert found == ["one:WHOLE", "two:PART"]
    assert likely["one:WHOLE"] > likely["one:OLD"] > likely["two:PART"] > 0
