"""Papers without an abstract: left out of the hits, counted, and listed by their titles if places remain.

They are no evidence of an answer, so the engine leaves them out (`complete` in `queries/filters.py`; the
indexing stage marks them incomplete). `SHRAG_DROP_INCOMPLETE=false` keeps them. Another search, concurrent
with the first query, finds the papers that this filter leaves out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from base.notes import Note
from retriever.engines import EngineHit
from retriever.query_plan import QueryPlan
from retriever.request import SearchContext
from retriever.stages.hits import Hit


async def find_incomplete(context: SearchContext, plan: QueryPlan) -> tuple[EngineHit, ...]:
    """Return the papers without an abstract that match the first query of a plan but not the filter."""
    request = context.request
    if not plan.queries or request.filters.complete is not True:
        return ()
    [hits] = await context.index.engine.search(
        [(plan.queries[0].query, request.k)],
        filters=replace(request.filters, complete=False),
        collapse=request.collapse,
    )
    return tuple(hits)


def count_incomplete(
    incomplete: Sequence[EngineHit], found: Iterable[EngineHit], shown: Sequence[Hit], k: int
) -> int:
    """Count the papers without an abstract that are left out of a list of hits.

    All count if the list has fewer than k hits; otherwise only papers that score at least as much as the last
    one.

    Args:
        incomplete: the papers without an abstract.
        found: hits of the first query.
        shown: the hits of the list.
        k: the requested number of hits.
    """
    if len(shown) < k:
        return len(incomplete)
    scores = {hit.doc_id: hit.score for hit in found}
    least = min((scores.get(hit.doc_id, 0.0) for hit in shown), default=0.0)
    return sum(hit.score >= least for hit in incomplete)


async def title_only_hits(
    context: SearchContext,
    incomplete: Sequence[EngineHit],
    hits: Sequence[Hit],
    without_duplicates: Callable[[Sequence[Hit]], Sequence[Hit]],
) -> list[Hit]:
    """Return papers without an abstract for the remaining places, without duplicates of hits.

    Their score is 0, because engine scores are not comparable with the scores of the hits.
    """
    missing = context.shown - len(hits)
    if missing <= 0 or not incomplete:
        return []
    with context.recorder.timed("stored"):
        stored = await context.passages.of_hits(incomplete)
    found = [
        Hit(0, passage, 0.0, paper=passage.paper or {}, title_only=True)
        for hit in incomplete
        if (passage := stored.get(hit.passage_id))
    ]
    distinct = await context.index.threads.run(without_duplicates, [*hits, *found])
    shown = {hit.doc_id for hit in hits}
    return [hit for hit in distinct if hit.title_only and shown.isdisjoint(hit.folded)][:missing]


def title_only_note(count: int) -> Note:
    """Return a note about papers that are listed by their titles."""
    return Note("title_only", papers=count) if count > 1 else Note("title_only_one")
