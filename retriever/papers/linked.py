"""Papers as lists name them, and those that a paper of an index is linked to by references."""

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
    """A paper as it stands in a list: its record, and a score where the list is ordered by one."""

    doc_id: str
    record: dict[str, Any]
    score: float | None = None

    @property
    def title(self) -> str:
        """The title, "" where it has none."""
        return str(self.record.get("title", ""))

    @property
    def year(self) -> int | None:
        """The year of publication."""
        return self.record.get("year")

    def as_record(self) -> dict[str, Any]:
        """Return what a list shows as JSON."""
        shown = {name: self.record[name] for name in ("lang", "journal") if name in self.record}
        record: dict[str, Any] = {"doc_id": self.doc_id, "title": self.title, "year": self.year}
        record |= shown | listed_authors(self.record) | {"score": self.score}
        return {name: value for name, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PaperLinks:
    """The papers of an index that a paper cites and is cited by, at most so many, and how many there are.

    `unknown` are the references that the index does not hold, as the record names them. `cites` and `unknown`
    stand in the record's order, `cited_by` by id.
    """

    cites: tuple[NamedPaper, ...]
    unknown: tuple[str, ...]
    cited_by: tuple[NamedPaper, ...]
    counts: CitationCounts

    def as_record(self) -> dict[str, Any]:
        """Return what a paper is linked to as JSON."""
        return {
            "cites": [paper.as_record() for paper in self.cites],
            "cites_count": self.counts.cites,
            "unknown": list(self.unknown),
            "reference_count": self.counts.references,
            "cited_by": [paper.as_record() for paper in self.cited_by],
            "citing_count": self.counts.cited_by,
        }


async def linked_papers(index: SearchIndex, first: StoredPassage, most: int) -> PaperLinks:
    """Return at most so many papers that a paper cites and that cite it; its first passage is given."""
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
    """Return a paper as lists name it, of its first passage."""
    return NamedPaper(first.doc_id, {"title": first.title, **(first.paper or {})}, score)


async def named_papers(
    index: SearchIndex, doc_ids: Iterable[str], scores: dict[str, float] | None = None
) -> list[NamedPaper]:
    """Return papers in the order of their ids; those that the index does not hold are left out."""
    wanted, scores = list(dict.fromkeys(doc_ids)), scores or {}
    found = await index.engine.papers(wanted)
    return [named_paper(found[doc_id], scores.get(doc_id)) for doc_id in wanted if doc_id in found]
