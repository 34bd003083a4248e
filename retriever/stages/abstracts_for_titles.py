"""Replacement of title-only passages by their paper's abstract."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from indexer.files.schema import StoredPassage
from retriever.engines import EngineHit, NumberedRows
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


async def read_hits(
    context: SearchContext, hits: Sequence[EngineHit], without: Container[str] = ()
) -> ReadHits:
    """Read the rows of hits; if hits are papers, abstracts replace titles in the other language.

    Abstracts that are among the passages of `without` replace titles, but are left out.
    """
    engine, by_id = context.index.engine, {hit.passage_id: hit for hit in reversed(hits)}
    read = await engine.rows(list(dict.fromkeys(hit.passage_id for hit in hits)))
    found = [by_id[passage_id] for passage_id in read.ids]
    if not context.request.collapse or read.rows.has_text.all():
        return ReadHits(tuple(found), read)
    titles = {name for name, has in zip(read.ids, read.rows.has_text.tolist(), strict=True) if not has}
    papers = await context.passages.papers(hit.doc_id for hit in found if hit.passage_id in titles)
    abstracts = {name: first for name, first in papers.items() if first.text and _is_allowed(context, first)}
    best: dict[str, EngineHit] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for hit in found:
        shown = hit.passage_id
        if shown in titles and hit.doc_id in abstracts:
            shown = abstracts[hit.doc_id].passage_id
            replaced[shown] = (*replaced.get(shown, ()), hit.passage_id)
        best.setdefault(shown, hit._replace(passage_id=shown))
    read = await engine.rows([passage_id for passage_id in best if passage_id not in without])
    return ReadHits(tuple(best[passage_id] for passage_id in read.ids), read, replaced)


def _is_allowed(context: SearchContext, passage: StoredPassage) -> bool:
    filters = context.request.filters
    return (
        passage.passage_id not in filters.without
        and filters.lang in {None, passage.lang}
        and (not filters.parts or passage.part in filters.parts)
    )
