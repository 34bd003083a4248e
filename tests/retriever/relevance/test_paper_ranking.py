"""Papers ranked for a question, of one index and of several sources, and their probability of relevance."""

import asyncio
import math
from contextlib import closing

import pytest

from indexer.settings import IndexerSettings
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.relevance.paper_ranking import (
    PaperScore,
    QuestionRanking,
    ScoreCurve,
    highest_expected_f,
    rank_papers,
    scores_of,
)
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.sources.gathered import SharedModels
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from tests.indexer.made_corpora import build, write_jsonl

QUESTION = "methane emission of rice paddies"
RECENT = Filters(years=Range(2000, None))
ONE = [
    {"id": "WHOLE", "title": "Methane emission of rice paddies", "year": 2020},
    {"id": "OLD", "title": "Methane emission of wetlands", "year": 1990},
]
TWO = [
    {"id": "PART", "title": "Methane of lakes", "year": 2021},
    {"id": "NONE", "title": "Neutron stars", "year": 2020},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranking")
    for name, papers in {"one": ONE, "two": TWO, "both": [*ONE, *TWO]}.items():
        build(folder, write_jsonl(folder / f"{name}.jsonl", papers), name=name)
    return folder


@pytest.fixture(scope="module")
def index(home):
    with open_index(IndexerSettings(home=home), "both") as opened:
        yield opened


def ranked_in(index, question=QUESTION, **filters):
    request = SearchRequest(question, filters=Filters(**filters))
    return rank_papers(index, request, RetrieverSettings())


def scores(index, found, *ids):
    return scores_of(index, found, ids)


def test_papers_come_best_first_and_those_without_a_word_of_the_question_do_not(index):
    found = ranked_in(index)
    assert list(found.scores) == ["WHOLE", "OLD", "PART"]
    assert found.curve.best == found.scores["WHOLE"].score


def test_a_paper_that_the_filters_left_out_is_scored_beside_the_others(index):
    found = ranked_in(index, years=Range(2000, None))
    assert list(found.scores) == ["WHOLE", "PART"]
    of = scores(index, found, "PART", "OLD", "NONE", "UNKNOWN")
    assert of["PART"] == found.scores["PART"]
    assert found.scores["WHOLE"].score > of["OLD"].score > of["PART"].score > of["NONE"].score == 0
    assert "UNKNOWN" not in of


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


def test_the_features_of_a_paper_are_shares_of_the_best_score():
    curve = ScoreCurve.of([2.0, 1.0, 1.0, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7], words=3)
    assert curve.features(PaperScore(1.0, 0.4)) == pytest.approx(
        {
            "share": math.log(0.5 + 0.02),
            "head": math.log(0.72 / 2.02),  # the mean of the fourth to the tenth
            "tail": math.log((0.7 / 21 + 0.02) / 2.02),  # of the tenth to the thirtieth
            "words": math.log(3),
        }
    )


def test_a_few_words_list_the_papers_with_all_of_them():
    few, many = (ScoreCurve.of([2.0, 0.4, 0.4, 0.4], words) for words in (2, 8))

    assert few.probability(PaperScore(0.1, 1.0)) == 0.5 > many.probability(PaperScore(0.1, 1.0))
    assert few.probability(PaperScore(2.0, 0.4)) == 0 < many.probability(PaperScore(2.0, 0.4))
    assert few.probability(None) == many.probability(None) == 0


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([], 0.0),
        ([0.9, 0.1], 0.9),  # of the first alone: 2 · .9 / (1 + 1)
        ([0.1, 0.9], 0.9),
        ([0.5, 0.5, 0.5], 0.666667),  # of all: 2 · 1.5 / (3 + 1.5)
        ([1.0], 1.0),
    ],
)
def test_the_best_list_ends_where_the_expected_f_is_highest(probabilities, expected):
    assert highest_expected_f(probabilities) == expected


def test_behind_a_ranking_that_was_cut_as_many_papers_follow_as_probable_as_its_last():
    assert highest_expected_f([0.1] * 100) == 0.166667  # 2 · 10 / (100 + 10 + 10)
    assert highest_expected_f([0.1] * 99) == 0.181818  # 2 · 9.9 / (99 + 9.9)
