"""The cascade of relevance: the cross-encoder, else the cosine, with weights of passages or papers."""

from dataclasses import dataclass

import pytest

from indexer.errors import EncoderUnusable
from retriever.relevance.passages import PAPERS, PASSAGES, Relevance, leads_of, relevance_by_models

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


def vectors():
    return HALF_AND_LEAD


def measured(cross_encoder, leads, weights=PASSAGES, texts=("one", "two")):
    return relevance_by_models(cross_encoder, "question", texts, leads, weights)


def test_the_cross_encoder_comes_first():
    assert measured(CrossEncoder((0.9, 0.1)), vectors) == Relevance((0.9, 0.1), "judge")


@pytest.mark.parametrize(
    ("weights", "scores"),
    # The logistic functions of -4.267 + 10.825 · .5 and -4 + 12 · .5; 0 without a vector.
    [(PASSAGES, (0.758688, 0.0)), (PAPERS, (0.880797, 0.0))],
)
def test_without_a_cross_encoder_the_lead_of_the_cosine_counts(weights, scores):
    assert measured(CrossEncoder(configured=False), vectors, weights) == Relevance(scores, "cosine")


def test_a_failed_model_is_reported_and_replaced():
    found = measured(CrossEncoder(), vectors)
    assert (found.by, found.failures) == ("cosine", ("no memory",))
