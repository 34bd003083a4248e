"""Papers without an abstract, listed if a search finds fewer papers than requested."""

from collections.abc import Sequence

from retriever.duplicates.folding import without_duplicates
from retriever.requests.context import SearchContext
from retriever.stages.hits import Hit
from retriever.stages.pool import CandidatePool

NOTE = (
    "1 paper without an abstract matches by its title",
    "{} papers without an abstract match by their titles",
)


async def title_only_hits(context: SearchContext, pool: CandidatePool, hits: Sequence[Hit]) -> list[Hit]:
    """Return papers without an abstract for the remaining places, without duplicates of hits.

    Their score is 0, because engine scores are not comparable with the scores of the hits.
    """
    missing = context.shown - len(hits)
    if missing <= 0 or not pool.incomplete:
        return []
    with context.recorder.timed("stored"):
        stored = await context.passages.of_hits(pool.incomplete)
    found = [
        Hit(0, passage, 0.0, paper=passage.paper or {}, title_only=True)
        for hit in pool.incomplete
        if (passage := stored.get(hit.passage_id))
    ]
    distinct = await context.index.threads.run(without_duplicates, [*hits, *found])
    shown = {hit.doc_id for hit in hits}
    return [hit for hit in distinct if hit.title_only and shown.isdisjoint(hit.folded)][:missing]


def title_only_note(count: int) -> str:
    """Return a line about papers that are listed by their titles."""
    return NOTE[count > 1].format(count)
