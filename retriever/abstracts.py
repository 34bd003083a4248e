"""Passages that are only a title give way to their paper's abstract."""

from collections.abc import Sequence
from dataclasses import replace

from indexer.schema import StoredPassage
from retriever.context import SearchContext
from retriever.engines import EngineHit


async def prefer_abstracts(
    context: SearchContext, hits: Sequence[EngineHit]
) -> tuple[list[EngineHit], dict[str, tuple[str, ...]]]:
    """Replace a passage that is only a title in the other language by its paper's abstract.

    Return the hits, and the passages that each abstract replaced. Without `collapse` nothing is replaced.
    """
    stored = await context.passages.of_hits(hits)
    hits = [hit for hit in hits if hit.passage_id in stored]  # another source may name what is not there
    if not context.request.collapse:
        return list(hits), {}
    without_text = {hit.doc_id for hit in hits if not stored[hit.passage_id].text}
    abstracts = {
        doc_id: passage.passage_id
        for doc_id, passage in (await context.passages.papers(without_text)).items()
        if passage.text and _is_allowed(context, passage)
    }
    best: dict[str, EngineHit] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for hit in hits:
        shown = hit
        if not stored[hit.passage_id].text and hit.doc_id in abstracts:
            shown = replace(hit, passage_id=abstracts[hit.doc_id])
            replaced[shown.passage_id] = (*replaced.get(shown.passage_id, ()), hit.passage_id)
        best.setdefault(shown.passage_id, shown)
    return list(best.values()), replaced


def _is_allowed(context: SearchContext, passage: StoredPassage) -> bool:
    filters = context.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )
