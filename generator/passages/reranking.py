"""Re-ranking of passages by relevance to the question, and a filter for irrelevant passages."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from generator.passages.retrieving import PassageQuestion, hit_records
from generator.tracing.steps import Step
from retriever.relevance.passages import relevance
from retriever.stages.hits import SearchResult
from retriever.views.passage_search import with_hits

MEASURES = {"cosine": "cosine", "words": "shared words"}


async def rerank(
    parent: Step, asked: PassageQuestion, result: SearchResult, k: int, guide: Sequence[str] = ()
) -> SearchResult:
    """Keep the k most relevant passages; their scores are relevances, 0 to 1.

    With `guide`, the sentences of an answer, the score is the mean of the relevance to the question and the
    highest relevance to one of these sentences, if that is higher. A guide never lowers a score, because a
    sentence in another language shares few words with any passage.
    """
    index, settings = asked.resources.index, asked.resources.settings.retriever
    inputs = {"guide": list(guide)} if guide else {}
    with parent.step("rerank", passages=len(result.hits), k=k, **inputs) as step:
        found, *guided = await asyncio.gather(
            *(relevance(index, text, result.hits, settings) for text in (asked.text, *guide))
        )
        scores = found.scores
        alike = [each.scores for each in guided if each.by == found.by]  # other measures differ in scale
        if alike:
            nearest = map(max, zip(scores, *alike, strict=True))
            scores = tuple(map(fmean, zip(scores, nearest, strict=True)))
        scored = [replace(hit, score=round(score, 4)) for hit, score in zip(result.hits, scores, strict=True)]
        scored.sort(key=lambda hit: (-hit.score, hit.passage_id))
        kept = _by_measure(with_hits(result, scored[:k]), found.by)
        step.output = {"by": found.by, "hits": hit_records(kept)}
        failures = dict.fromkeys(failure for each in (found, *guided) for failure in each.failures)
        step.notes += [f"not re-ranked by a model, it failed: {failure}" for failure in failures]
    return kept


def _by_measure(result: SearchResult, by: str) -> SearchResult:
    if result.applied is None:
        return result
    model = "" if by in MEASURES else by
    order = f"{result.order}; then the relevance to the question by {MEASURES.get(by, by)}"
    applied = replace(result.applied, order=order, reranker=model)
    return replace(result, applied=applied)


def filter_relevant(parent: Step, result: SearchResult, *, above: float) -> SearchResult:
    """Drop passages whose relevance is not above a value; the result may be empty."""
    with parent.step("filter", passages=len(result.hits), above=above) as step:
        kept = with_hits(result, [hit for hit in result.hits if hit.score > above])
        step.output = hit_records(kept)
        if result.hits and not kept.hits:
            step.notes.append(f"no passage has a relevance above {above:g}: there is none to answer from")
    return kept
