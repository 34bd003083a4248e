"""Papers in lists, and the papers of an index that a paper is linked to by references."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from indexer.citation_graph.graph import CitationCounts
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.papers.citations import citation_counts, cited_by, named_references
from retriever.stages.hits import listed_authors


@dataclass(frozen=True, slots=True)
class NamedPaper:
    """A paper in a list: its record, and its score if the list is ordered by score."""

    doc_id: str
    record: dict[str, Any]
    score: float | None = None

    @property
    def title(self) -> str:
        """The title, or ""."""
        return str(self.record.get("title", ""))

    @property
    def year(self) -> int | None:
        """The year of publication."""
        return self.record.get("year")

    def as_record(self) -> dict[str, Any]:
        """Return the paper as JSON."""
        shown = {name: self.record[name] for name in ("lang", "journal") if name in self.record}
        record: dict[str, Any] = {"doc_id": self.doc_id, "title": self.title, "year": self.year}
        record |= shown | listed_authors(self.record) | {"score": self.score}
        return {name: value for name, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PaperLinks:
    """The papers of an index that a paper cites or that cite it, up to a limit, and their total numbers.

    `unknown` are the references to papers outside of the index, as in the record. `cites` and `unknown` are
    in the record's order, `cited_by` in order of id.
    """

    cites: tuple[NamedPaper, ...]
    unknown: tuple[str, ...]
    cited_by: tuple[NamedPaper, ...]
    counts: CitationCounts

    def as_record(self) -> dict[str, Any]:
        """Return the linked papers as JSON."""
        return {
            "cites": [paper.as_record() for paper in self.cites],
            "cites_count": self.counts.cites,
            "unknown": list(self.unknown),
            "reference_count": self.counts.references,
            "cited_by": [paper.as_record() for paper in self.cited_by],
            "citing_count": self.counts.cited_by,
        }


async def linked_papers(index: SearchIndex, first: StoredPassage, most: int) -> PaperLinks:
    """Return a limited number of papers that a paper cites and that cite it, given its first passage."""
    doc_id = first.doc_id
    named, counts, citing = await asyncio.gather(
        named_references(index, first),
        citation_counts(index, [doc_id]),
        cited_by(index, [doc_id], most),
    )
    cited = [reference.doc_id for reference in named if reference.doc_id][:most]
    found = {paper.doc_id: paper for paper in await named_papers(index, [*cited, *citing[doc_id]])}
    return PaperLinks(
        cites=tuple(found[name] for name in cited if name in found),
        unknown=tuple(reference.label for reference in named if not reference.doc_id)[:most],
        cited_by=tuple(found[name] for name in citing[doc_id] if name in found),
        counts=counts[doc_id],
    )


def named_paper(first: StoredPassage, score: float | None = None) -> NamedPaper:
    """Return a paper for lists, from its first passage."""
    return NamedPaper(first.doc_id, {"title": first.title, **(first.paper or {})}, score)


async def named_papers(
    index: SearchIndex, doc_ids: Iterable[str], scores: dict[str, float] | None = None
) -> list[NamedPaper]:
    """Return papers in the order of the given ids; unknown ids are left out."""
    wanted, scores = list(dict.fromkeys(doc_ids)), scores or {}
    found = await index.engine.papers(wanted)
    return [named_paper(found[doc_id], scores.get(doc_id)) for doc_id in wanted if doc_id in found]
