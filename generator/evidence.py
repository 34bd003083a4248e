"""The evidence of an answer ends where scores fall far below that of the best paper."""

from dataclasses import replace

from retriever.searching.confidence import THRESHOLD
from retriever.stages.hits import SearchResult

# Share of the best score. Of the plain questions for tuning it leaves out no paper that answers.
LEAST_SHARE = 0.3


def without_low_scores(result: SearchResult) -> SearchResult:
    """Return a search result without hits that score less than `LEAST_SHARE` of the best one.

    Only scores by words, of method `shrag`, are compared. A result below the threshold of answers keeps its
    hits, as the nearest papers. `filtered` counts the hits left out.
    """
    applied, likelihood = result.applied, result.likelihood
    if likelihood is None or likelihood < THRESHOLD or not applied or applied.vectors or applied.reranker:
        return result
    least = LEAST_SHARE * result.hits[0].score if result.hits else 0.0
    kept = tuple(hit for hit in result.hits if hit.score >= least)
    left_out = len(result.hits) - len(kept)
    if not left_out or not kept:
        return result
    return replace(result, hits=kept, filtered=result.filtered | {"low_scores": left_out})
