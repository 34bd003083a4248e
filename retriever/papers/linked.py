"""References between papers of an index, from its citation graph.

An index over sources has no citation graph: its papers have no links here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from base.records import Recordable
from indexer.citation_graph.gathering import labels
from indexer.citation_graph.graph import ALL, CitationCounts
from indexer.citation_graph.matching import DUPLICATE, ITSELF
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.papers.records import ListedPaper, listed_papers

MOST_CITING = 1_000  # default limit of citing papers for each paper


@dataclass(frozen=True, slots=True)
class PaperLinks(Recordable):
    """The papers of an index that a paper cites or that cite it.

    Lists are limited; the counts beside them are complete. `cites` and `unknown` are in the record's order,
    `cited_by` in order of id.
    """

    cites: tuple[ListedPaper, ...]
    cites_count: int
    unknown: Annotated[
        tuple[str, ...], Field(description="references that are not in the index: ids, or titles")
    ]
    reference_count: Annotated[int, Field(description="all references of the record")]
    cited_by: tuple[ListedPaper, ...]
    citing_count: int


def linked_papers(index: SearchIndex, first: StoredPassage, most: int) -> PaperLinks:
    """Return a limited number of papers that a paper cites and that cite it, given its first passage."""
    doc_id = first.doc_id
    named, counts = named_references(index, first), citation_counts(index, [doc_id])
    citing = cited_by(index, [doc_id], most)
    cited = [cited_id for _, cited_id in named if cited_id][:most]
    found = {paper.doc_id: paper for paper in listed_papers(index, [*cited, *citing[doc_id]])}
    of_paper = counts[doc_id]
    return PaperLinks(
        cites=tuple(found[name] for name in cited if name in found),
        cites_count=of_paper.cites,
        unknown=tuple(label for label, cited_id in named if not cited_id)[:most],
        reference_count=of_paper.references,
        cited_by=tuple(found[name] for name in citing[doc_id] if name in found),
        citing_count=of_paper.cited_by,
    )


def references(index: SearchIndex, doc_ids: Iterable[str], limit: int = ALL) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that it refers to, in its record's order."""
    asked, graph = list(dict.fromkeys(doc_ids)), index.citations
    return graph.references(asked, limit) if graph else {name: [] for name in asked}


def cited_by(index: SearchIndex, doc_ids: Iterable[str], limit: int = MOST_CITING) -> dict[str, list[str]]:
    """Return for each paper at most `limit` papers of the index that refer to it, by id."""
    asked, graph = list(dict.fromkeys(doc_ids)), index.citations
    return graph.cited_by(asked, limit) if graph else {name: [] for name in asked}


def citation_counts(index: SearchIndex, doc_ids: Iterable[str]) -> dict[str, CitationCounts]:
    """Count each paper's references, those to papers of the index, and the papers that refer to it."""
    asked, graph = list(dict.fromkeys(doc_ids)), index.citations
    return graph.counts(asked) if graph else dict.fromkeys(asked, CitationCounts())


def named_references(index: SearchIndex, first: StoredPassage) -> list[tuple[str, str | None]]:
    """Return the references of a paper in its order: name in the record, and paper in the index, if any.

    The paper is given by its first passage. References to itself and repeated references are left out.
    """
    named, graph = labels(first.paper or {}), index.citations
    if graph is None:
        return [(label, None) for label in named]
    outcomes = graph.outcomes(first.doc_id)
    return [
        (label, outcome if isinstance(outcome, str) else None)
        for label, outcome in zip(named, outcomes, strict=False)
        if outcome not in (DUPLICATE, ITSELF)
    ]
