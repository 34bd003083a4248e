"""Relevance of passages and papers to a question, rankings of papers, and their authority."""

import asyncio
import math
from contextlib import closing
from dataclasses import dataclass

import pytest

from indexer.corpora.papers import Paper
from indexer.errors import EncoderUnusable
from indexer.settings import IndexerSettings
from retriever.conditions import find_conditions
from retriever.index import open_index
from retriever.queries.boolean import Range
from retriever.queries.filters import Filters
from retriever.relevance.authority import Cited, authorities, citations
from retriever.relevance.paper_ranking import (
    PaperScore,
    QuestionRanking,
    ScoreCurve,
    rank_papers,
    scores_of,
)
from retriever.relevance.papers import PaperRelevance
from retriever.relevance.passages import Relevance, leads_of, relevance, relevance_by_models
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.sources.gathered import SharedModels
from retriever.sources.kinds.index import IndexSource
from retriever.sources.merging import LimitedSource
from retriever.strategy import Strategy
from retriever.views.passage_search import search_passages
from tests.indexer.made_corpora import build, write_jsonl
from tests.retriever.made_papers import index_fixture, indexed

PAPERS = [
    {"id": "A", "title": "Dormice", "abstract": "Dormice hibernate in hollow trees for seven months."},
    {"id": "B", "title": "Trees", "abstract": "Hollow trees shelter bats and birds in the winter."},
    {"id": "C", "title": "Rivers", "abstract": "Rivers carry silt for seven months of the year."},
]
QUESTION = "How many months do dormice hibernate in hollow trees?"


def measured(settings, question=QUESTION):
    """Return the relevance of the papers by id, and by what it was measured."""
    with indexed(settings, PAPERS) as index:
        given = RetrieverSettings()
        hits = search_passages(index, SearchRequest("trees rivers months", k=3), given).hits
        ids = sorted(hit.passage_id for hit in hits)
        found = relevance(index, question, sorted(hits, key=lambda hit: hit.passage_id), given)
    return dict(zip(ids, found.scores, strict=True)), found


def test_by_words_the_passage_that_answers_is_relevant_and_one_that_shares_a_word_is_not(tmp_path):
    scores, found = measured(IndexerSettings(home=tmp_path, workers=1))
    assert found.by == "words"
    assert scores["A"] > 0.5 > scores["B"]
    assert scores["A"] > 0.5 > scores["C"]
    assert all(0 <= score <= 1 for score in scores.values())


HALF_AND_LEAD = leads_of([0.5, None], 0.0)


@dataclass
class CrossEncoder:
    found: tuple[float, ...] = ()
    configured: bool = True
    gives_raw_scores: bool = False

    def scores(self, question, texts):
        if not self.found:
            raise EncoderUnusable("no memory")
        return "judge", list(self.found)


def by_models(cross_encoder):
    return relevance_by_models(cross_encoder, "question", ("one", "two"), lambda: HALF_AND_LEAD)


def test_the_cross_encoder_comes_first():
    assert by_models(CrossEncoder((0.9, 0.1))) == Relevance((0.9, 0.1), "judge")


def test_without_a_cross_encoder_the_lead_of_the_cosine_counts():
    # The logistic function of -4.267 + 10.825 · .5; 0 without a vector.
    assert by_models(CrossEncoder(configured=False)) == Relevance((0.758688, 0.0), "cosine")


def test_a_failed_model_is_reported_and_replaced():
    found = by_models(CrossEncoder())
    assert (found.by, found.failures) == ("cosine", ("no memory",))


@pytest.fixture(scope="module")
def by_paper():
    with PaperRelevance(IndexerSettings()) as opened:
        yield opened


def shared(by_paper, question, *papers):
    return asyncio.run(by_paper.shared(question, papers))


def losses(by_paper, question, *papers):
    async def measure():
        found = find_conditions(question)
        strategy = Strategy().excluding(found.exclude)
        return await by_paper.losses(await by_paper.excluded(found.remaining, strategy), papers)

    return asyncio.run(measure())


def paper(title, abstract="", **fields):
    return Paper.model_validate({"id": "P1", "title": title, "abstract": abstract, **fields})


def test_the_words_of_a_question_are_those_that_title_or_abstract_hold(by_paper):
    papers = (paper("Methane of rice", "Paddies were flooded."), paper("Rice prices"), paper("Neutron stars"))
    assert shared(by_paper, "methane emission of rice paddies", *papers) == [
        ("methane", "rice", "paddies"),
        ("rice",),
        (),
    ]


@pytest.mark.parametrize(
    ("question", "about", "other"),
    [
        ("methane of wetlands, except paddies", "Methane of paddies", "Methane of lakes"),
        ("호수를 제외한 습지의 메탄", "호수의 메탄", "습지의 메탄"),
    ],
)
def test_a_paper_about_what_is_excluded_loses_relevance(by_paper, question, about, other):
    lost, kept = losses(by_paper, question, paper(about), paper(other))
    assert 0 < lost <= 1
    assert kept == 0


@pytest.mark.parametrize(
    ("in_index", "cited", "authority"),
    [
        # A record's count goes before the index's, which goes before the references of the papers found.
        (
            {"A": 9, "B": 9},
            [Cited(2, "record"), Cited(9, "index"), None],
            [math.log(2) / math.log(5.5), 1.0, 0.0],
        ),
        ({}, [Cited(2, "record"), None, None], [1.0, 0.0, 0.0]),
    ],
)
def test_an_index_counts_where_a_record_does_not(in_index, cited, authority):
    records = {"A": {"cited_by_count": 2}, "B": {}, "C": {}}
    papers = [Paper.model_validate({"id": id_, "year": 2025} | more) for id_, more in records.items()]
    assert citations(papers, in_index, {"C": 5}) == cited
    assert authorities(papers, cited, 2026) == pytest.approx(authority)


METHANE = "methane emission of rice paddies"
RECENT = Filters(years=Range(2000, None))
ONE = [
    {"id": "WHOLE", "title": "Methane emission of rice paddies", "year": 2020},
    {"id": "OLD", "title": "Methane emission of wetlands", "year": 1990},
]
TWO = [
    {"id": "PART", "title": "Methane of lakes", "year": 2021},
    {"id": "NONE", "title": "Neutron stars", "year": 2020},
]


index = index_fixture(*ONE, *TWO)


def ranked_in(index, **filters):
    request = SearchRequest(METHANE, filters=Filters(**filters))
    return rank_papers(index, request, RetrieverSettings())


def test_papers_come_best_first_and_those_without_a_word_of_the_question_do_not(index):
    found = ranked_in(index)
    assert list(found.scores) == ["WHOLE", "OLD", "PART"]
    assert found.curve.best == found.scores["WHOLE"].score


def test_a_paper_that_the_filters_left_out_is_scored_beside_the_others(index):
    found = ranked_in(index, years=Range(2000, None))
    assert list(found.scores) == ["WHOLE", "PART"]
    of = scores_of(index, found, ("PART", "OLD", "NONE", "UNKNOWN"))
    assert of["PART"] == found.scores["PART"]
    assert found.scores["WHOLE"].score > of["OLD"].score > of["PART"].score > of["NONE"].score == 0
    assert "UNKNOWN" not in of


def test_several_sources_are_ranked_as_one_index(tmp_path):
    settings = IndexerSettings(home=tmp_path)
    for name, papers in (("one", ONE), ("two", TWO)):
        build(tmp_path, write_jsonl(tmp_path / f"{name}.jsonl", papers), name)

    async def rank():
        models, given = SharedModels(settings), (SearchRequest(METHANE), RetrieverSettings())
        with closing(models), open_index(settings, "one") as one, open_index(settings, "two") as two:
            sources = [LimitedSource(IndexSource(name, of), 60) for name, of in (("one", one), ("two", two))]
            async with QuestionRanking(given[0], sources, models, given[1]) as ranking:
                merged, notes = await ranking.papers(RECENT, {})
                likely = await ranking.likelihoods(RECENT, list(merged.papers.values()))
                return list(merged.found[0]), notes, likely

    found, notes, likely = asyncio.run(rank())
    assert (found, list(notes)) == (["one:WHOLE", "two:PART"], [])
    assert likely[0] > likely[1] > 0


def test_a_few_words_list_the_papers_with_all_of_them():
    few, many = (ScoreCurve.of([2.0, 0.4, 0.4, 0.4], words) for words in (2, 8))

    assert few.probability(PaperScore(0.1, 1.0)) == 0.5 > many.probability(PaperScore(0.1, 1.0))
    assert few.probability(PaperScore(2.0, 0.4)) == 0 < many.probability(PaperScore(2.0, 0.4))
    assert few.probability(None) == many.probability(None) == 0
