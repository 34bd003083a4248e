"""Relevance between 0 and 1: by a cross-encoder, by cosine, by words; what fails is left to the next."""

from dataclasses import dataclass

import pytest

from indexer.errors import EncoderUnusable
from indexer.settings import IndexerSettings, RerankerSettings
from retriever.relevance.passages import (
    PAPERS as PAPER_WEIGHTS,
)
from retriever.relevance.passages import PASSAGES, Relevance, leads_of, relevance, relevance_by_models
from retriever.request import SearchRequest
from retriever.settings import RetrieverSettings
from retriever.views.passage_search import search_passages
from tests.retriever.made_papers import indexed

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


@pytest.mark.needs_models
def test_a_cross_encoder_that_fails_leaves_it_to_the_words_and_says_so(tmp_path):
    missing = RerankerSettings(provider="local", model=str(tmp_path / "nothing"))
    _, found = measured(IndexerSettings(home=tmp_path, workers=1, reranker=missing))
    assert found.by == "words"
    assert len(found.failures) == 1


HALF_AND_LEAD = leads_of([0.5, None], 0.0)


@dataclass
class CrossEncoder:
    """A cross-encoder of fixed scores, or one that fails."""

    found: tuple[float, ...] = ()
    configured: bool = True
    gives_raw_scores: bool = False

    def scores(self, question, texts):
        if not self.found:
            raise EncoderUnusable("no memory")
        return "judge", list(self.found)


def by_models(cross_encoder, weights=PASSAGES):
    return relevance_by_models(cross_encoder, "question", ("one", "two"), lambda: HALF_AND_LEAD, weights)


def test_the_cross_encoder_comes_first():
    assert by_models(CrossEncoder((0.9, 0.1))) == Relevance((0.9, 0.1), "judge")


@pytest.mark.parametrize(
    ("weights", "scores"),
    # The logistic functions of -4.267 + 10.825 · .5 and -4 + 12 · .5; 0 without a vector.
    [(PASSAGES, (0.758688, 0.0)), (PAPER_WEIGHTS, (0.880797, 0.0))],
)
def test_without_a_cross_encoder_the_lead_of_the_cosine_counts(weights, scores):
    assert by_models(CrossEncoder(configured=False), weights) == Relevance(scores, "cosine")


def test_a_failed_model_is_reported_and_replaced():
    found = by_models(CrossEncoder())
    assert (found.by, found.failures) == ("cosine", ("no memory",))
