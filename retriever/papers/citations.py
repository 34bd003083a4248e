"""References between papers of an index, for many papers in one call.

A version has its citation graph as a file, so no engine is needed. Versions of earlier releases have none;
for them the engine finds references, by id only.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from indexer.citation_graph.graph import ALL, DUPLICATE, ITSELF, CitationCounts
from indexer.citation_graph.references import labels, reference_ids
from indexer.corpora.normal_forms import whole_doi
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.queries.boolean import Exact
from retriever.queries.filters import Filters

MOST_CITING = 1_000  # default limit of citing papers for each paper
MOST_REFERENCES = 1_000  # of a paper, if the engine finds them
LEFT_OUT = (DUPLICATE, ITSELF)


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A reference of a paper: its name in the record, and its paper in the index, if any."""

    label: str
    doc_id: str | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """The linked papers of some papers, in order, and the records of all linked papers."""

    neighbours: dict[str, list[str]]
    papers: dict[str, StoredPassage]


async def references(index: SearchIndex, doc_ids: Iterable[str], limit: int = ALL) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that it refers to, in its record's order."""
    asked = list(dict.fromkeys(doc_ids))
    if (graph := index.citations) is not None:
        return await index.threads.run(lambda: graph.references(asked, limit))
    papers = await index.engine.papers(asked)
    named = {doc_id: _distinct_ids(papers.get(doc_id)) for doc_id in asked}
    there = await index.engine.papers({target for targets in named.values() for target in targets})
    return {doc_id: [name for name in named[doc_id] if name in there][:limit] for doc_id in asked}


async def cited_by(
    index: SearchIndex, doc_ids: Iterable[str], limit: int = MOST_CITING
) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that refer to it, by id."""
    asked = list(dict.fromkeys(doc_ids))
    if (graph := index.citations) is not None:
        return await index.threads.run(lambda: graph.cited_by(asked, limit))
    return await index.engine.citing(asked, limit)


async def citation_counts(index: SearchIndex, doc_ids: Iterable[str]) -> dict[str, CitationCounts]:
    """Count each paper's references, those to papers of the index, and the papers that refer to it."""
    asked = list(dict.fromkeys(doc_ids))
    if (graph := index.citations) is not None:
        return await index.threads.run(lambda: graph.counts(asked))
    papers = await index.engine.papers(asked)
    cites = await references(index, asked)
    citing = await index.engine.counts([(Exact("references", (doc_id,)), Filters()) for doc_id in asked])
    return {
        doc_id: CitationCounts(len(_ids(papers.get(doc_id))), len(cites[doc_id]), count)
        for doc_id, count in zip(asked, citing, strict=True)
    }


async def cited_layer(index: SearchIndex, doc_ids: Iterable[str], limit: int = ALL) -> Layer:
    """Return the references of papers, with records; with a graph this is one request to the engine."""
    return await _with_papers(index, await references(index, doc_ids, limit))


async def citing_layer(index: SearchIndex, doc_ids: Iterable[str], limit: int = MOST_CITING) -> Layer:
    """Return the papers that refer to papers, with records; with a graph this is one engine request."""
    return await _with_papers(index, await cited_by(index, doc_ids, limit))


async def named_references(index: SearchIndex, first: StoredPassage) -> list[NamedReference]:
    """Return the references of a paper, given its first passage, in its record's order.

    References to itself and repeated references are left out.
    """
    if (graph := index.citations) is None:
        named = _distinct_ids(first)[:MOST_REFERENCES]
        there = await index.engine.papers(named)
        return [NamedReference(name, name if name in there else None) for name in named]
    outcomes = await index.threads.run(lambda: graph.outcomes(first.doc_id))
    return [
        NamedReference(label, outcome if isinstance(outcome, str) else None)
        for label, outcome in zip(labels(first.paper or {}), outcomes, strict=False)
        if outcome not in LEFT_OUT
    ]


async def papers_of_doi(index: SearchIndex, doi: str) -> list[str]:
    """Return the papers whose record or id has a DOI, in order of id; none if the text is not a DOI.

    A version of an earlier release finds papers by their id only.
    """
    wanted, graph = whole_doi(doi), index.citations
    if not wanted:
        return []
    named = await index.threads.run(lambda: graph.papers_of_doi(wanted)) if graph else []
    found = await index.engine.papers({wanted, doi, *named})
    return sorted(
        doc_id
        for doc_id, first in found.items()
        if wanted in {whole_doi(doc_id), whole_doi((first.paper or {}).get("doi") or "")}
    )


async def _with_papers(index: SearchIndex, neighbours: dict[str, list[str]]) -> Layer:
    wanted = dict.fromkeys(doc_id for linked in neighbours.values() for doc_id in linked)
    return Layer(neighbours, await index.engine.papers(wanted) if wanted else {})


def _ids(paper: StoredPassage | None) -> list[str]:
    return reference_ids(paper.paper or {}) if paper else []


def _distinct_ids(paper: StoredPassage | None) -> list[str]:
    return [name for name in dict.fromkeys(_ids(paper)) if paper and name != paper.doc_id]
