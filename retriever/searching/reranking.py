"""Reranking of the first hits by a cross-encoder."""

from dataclasses import replace

from base.errors import ResourceError
from retriever.requests.context import SearchContext
from retriever.stages.stages import Ranking


async def rerank(context: SearchContext, ranking: Ranking) -> Ranking:
    """Order the first hits by the cross-encoder, if one is configured; the others follow them.

    If it fails, the order is unchanged, and the failure is recorded.
    """
    depth, encoder = context.options.rerank_depth, context.index.cross_encoder
    if not encoder.configured or not ranking.hits:
        return ranking
    first, rest = ranking.hits[:depth], ranking.hits[depth:]
    from indexer.vectors.adding import text_to_encode

    stored = await context.passages.of_hits([hit for hit, _ in first])
    texts = [text_to_encode(stored[hit.passage_id]) for hit, _ in first]
    with context.recorder.timed("rerank"):
        try:
            scored_by = await encoder.scores(context.request.question, texts)
        except ResourceError as error:
            context.recorder.failed("reranker", f"not re-ranked, the cross-encoder failed: {error}")
            return ranking
    if scored_by is None:
        return ranking
    model, scores = scored_by
    scored = [(hit, score) for (hit, _), score in zip(first, scores, strict=True)]
    ordered = sorted(scored, key=lambda ranked: (-ranked[1], ranked[0].passage_id))
    lowest = ordered[-1][1]
    behind = [(hit, lowest - place) for place, (hit, _) in enumerate(rest, 1)]
    return replace(ranking, hits=(*ordered, *behind), reranker=model)
