"""References between papers of an index, from its citation graph, for many papers in one call.

An index over sources has no citation graph: its papers have no links here.
"""

from collections.abc import Iterable

from indexer.citation_graph.graph import ALL, DUPLICATE, ITSELF, CitationCounts
from indexer.citation_graph.references import labels
from indexer.corpora.normal_forms import whole_doi
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex

MOST_CITING = 1_000  # default limit of citing papers for each paper
LEFT_OUT = (DUPLICATE, ITSELF)


async def references(index: SearchIndex, doc_ids: Iterable[str], limit: int = ALL) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that it refers to, in its record's order."""
    asked = list(dict.fromkeys(doc_ids))
    if index.citations is None:
        return {doc_id: [] for doc_id in asked}
    return await index.threads.run(index.citations.references, asked, limit)


async def cited_by(
    index: SearchIndex, doc_ids: Iterable[str], limit: int = MOST_CITING
) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that refer to it, by id."""
    asked = list(dict.fromkeys(doc_ids))
    if index.citations is None:
        return {doc_id: [] for doc_id in asked}
    return await index.threads.run(index.citations.cited_by, asked, limit)


async def citation_counts(index: SearchIndex, doc_ids: Iterable[str]) -> dict[str, CitationCounts]:
    """Count each paper's references, those to papers of the index, and the papers that refer to it."""
    asked = list(dict.fromkeys(doc_ids))
    if index.citations is None:
        return {doc_id: CitationCounts() for doc_id in asked}
    return await index.threads.run(index.citations.counts, asked)


async def named_references(index: SearchIndex, first: StoredPassage) -> list[tuple[str, str | None]]:
    """Return the references of a paper in its order: name in the record, and paper in the index, if any.

    The paper is given by its first passage. References to itself and repeated references are left out.
    """
    if index.citations is None:
        return [(label, None) for label in labels(first.paper or {})]
    outcomes = await index.threads.run(index.citations.outcomes, first.doc_id)
    return [
        (label, outcome if isinstance(outcome, str) else None)
        for label, outcome in zip(labels(first.paper or {}), outcomes, strict=False)
        if outcome not in LEFT_OUT
    ]


async def papers_of_doi(index: SearchIndex, doi: str) -> list[str]:
    """Return the papers whose record or id has a DOI, in order of id; none if the text is not a DOI."""
    wanted = whole_doi(doi)
    if not wanted:
        return []
    graph = index.citations
    named = await index.threads.run(graph.papers_of_doi, wanted) if graph else []
    found = await index.engine.papers({wanted, doi, *named})
    return sorted(
        doc_id
        for doc_id, first in found.items()
        if wanted in {whole_doi(doc_id), whole_doi((first.paper or {}).get("doi") or "")}
    )
