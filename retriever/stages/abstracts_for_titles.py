"""Replacement of title-only passages by their paper's abstract."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.files.schema import StoredPassage
from retriever.engines import EngineHit, NumberedRows, T
from retriever.request import SearchContext


@dataclass(frozen=True, slots=True)
class ReadHits:
    """Hits with their rows.

    Args:
        hits: each passage once; passages missing from the index are left out.
        read: their rows, in the same order.
        replaced: by the passage_id of an abstract, the passages that it replaced.
    """

    hits: tuple[EngineHit, ...]
    read: NumberedRows
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


async def read_hits(context: SearchContext, hits: Sequence[EngineHit]) -> ReadHits:
    """Read the rows of hits; if hits are papers, abstracts replace titles in the other language."""
    return await of_hits(context, hits, lambda read: read)


async def of_hits(
    context: SearchContext,
    hits: Sequence[EngineHit],
    function: Callable[[ReadHits], T],
    without: Container[str] = (),
) -> T:
    """Call a function in a thread with hits as `read_hits` reads them, and return its result.

    Abstracts that are among the passages of `without` replace titles, but are left out.
    """
    by_id = {hit.passage_id: hit for hit in reversed(hits)}
    asked = list(dict.fromkeys(hit.passage_id for hit in hits))

    def of_rows(read: NumberedRows) -> tuple[NumberedRows, list[T]]:
        if context.request.collapse and not read.rows.has_text.all():
            return read, []
        return read, [function(ReadHits(tuple(by_id[passage_id] for passage_id in read.ids), read))]

    engine = context.index.engine
    read, results = await engine.of_rows(asked, of_rows)
    if results:
        return results[0]
    best, replaced = await _with_abstracts(context, [by_id[passage_id] for passage_id in read.ids], read)
    kept = {passage_id: hit for passage_id, hit in best.items() if passage_id not in without}
    return await engine.of_rows(
        list(kept), lambda read: function(ReadHits(tuple(kept[one] for one in read.ids), read, replaced))
    )


async def _with_abstracts(
    context: SearchContext, hits: Sequence[EngineHit], read: NumberedRows
) -> tuple[dict[str, EngineHit], dict[str, tuple[str, ...]]]:
    """Replace titles by their papers' abstracts; return hits by id, and the titles each abstract replaced."""
    has_text = dict(zip(read.ids, read.rows.has_text.tolist(), strict=True))
    papers = {hit.doc_id for hit in hits if not has_text[hit.passage_id]}
    abstracts = {
        doc_id: passage.passage_id
        for doc_id, passage in (await context.passages.papers(papers)).items()
        if passage.text and _is_allowed(context, passage)
    }
    best: dict[str, EngineHit] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for hit in hits:
        shown = hit
        if not has_text[hit.passage_id] and hit.doc_id in abstracts:
            shown = hit._replace(passage_id=abstracts[hit.doc_id])
            replaced[shown.passage_id] = (*replaced.get(shown.passage_id, ()), hit.passage_id)
        best.setdefault(shown.passage_id, shown)
    return best, replaced


def _is_allowed(context: SearchContext, passage: StoredPassage) -> bool:
    filters = context.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )
