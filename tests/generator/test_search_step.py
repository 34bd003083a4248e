"""Where the evidence of an answer ends: at papers that score far below the best one."""

from dataclasses import replace

import pytest

from generator.ways.shrag import without_low_scores
from retriever.stages.hits import Hit
from tests.generator.sample_index import found, passage


@pytest.fixture(scope="session")
def applied(sample):
    """Return the configuration of a search by words."""
    return found(sample, "solid electrolyte moisture").applied


def result(sample, *scores, **changes):
    """Return the result of a search with hits of these scores."""
    hits = tuple(Hit(rank, passage(f"P{rank}", "Text."), score) for rank, score in enumerate(scores, 1))
    return replace(found(sample, "solid electrolyte moisture"), hits=hits, **changes)


def scores_kept(of):
    return [hit.score for hit in without_low_scores(of).hits]


def test_papers_below_three_tenths_of_the_best_score_are_left_out_and_counted(sample):
    cut = without_low_scores(result(sample, 2.0, 0.6, 0.59, 0.1))

    assert [hit.score for hit in cut.hits] == [2.0, 0.6]
    assert cut.filtered["low_scores"] == 2


@pytest.mark.parametrize("likelihood", [None, 0.2], ids=["unknown", "below the threshold"])
def test_hits_without_a_likely_answer_stay_as_the_nearest_papers(sample, likelihood):
    assert scores_kept(result(sample, 2.0, 0.1, likelihood=likelihood)) == [2.0, 0.1]


@pytest.mark.parametrize("change", [{"vectors": "an encoder"}, {"reranker": "a model"}], ids=str)
def test_scores_of_models_are_not_compared(sample, applied, change):
    assert scores_kept(result(sample, 2.0, 0.1, applied=replace(applied, **change))) == [2.0, 0.1]
