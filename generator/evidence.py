"""A cut of the evidence at scores far below the best paper's."""

from dataclasses import replace

from retriever.searching.answerability import THRESHOLD
from retriever.stages.hits import SearchResult

# Share of the best score. On the plain tuning questions it drops no paper that answers the question.
LEAST_SHARE = 0.3


def without_low_scores(result: SearchResult) -> SearchResult:
    """Return a search result without hits that score less than `LEAST_SHARE` of the best hit.

    It applies only to lexical scores of method `shrag`. A result below the answer threshold keeps its hits,
    as the nearest papers. `filtered` counts the dropped hits.
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
