"""Records of papers in an index: complete ones, with title and abstract, and short ones for lists."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from base.records import IF_KNOWN, Recordable
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.stages.hits import Hit, listed_authors


def records_of_hits(index: SearchIndex, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return the records of the hits' papers in their order, for `retriever.exports`."""
    elsewhere = [hit.doc_id for hit in hits if not hit.passage.record]
    firsts = index.engine.papers(elsewhere) if elsewhere else {}
    return [
        paper_record(hit.passage if hit.passage.record else firsts.get(hit.doc_id, hit.passage))
        for hit in hits
    ]


def records_of_papers(index: SearchIndex, doc_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of papers in the order of the given ids; unknown ids are left out."""
    wanted = list(dict.fromkeys(doc_ids))
    firsts = index.engine.papers(wanted)
    return [paper_record(firsts[doc_id]) for doc_id in wanted if doc_id in firsts]


def paper_record(first: StoredPassage) -> dict[str, Any]:
    """Make a paper's record from its first passage: `doc_id`, title, abstract, then other keys."""
    known = {"id": first.passage_id, "lang": first.lang, "year": first.year, "journal": first.journal}
    record = first.paper or {key: value for key, value in known.items() if value}
    texts = {key: text for key, text in (("title", first.title), ("abstract", first.text)) if text}
    return {"doc_id": first.doc_id, **texts, **record}


@dataclass(frozen=True, slots=True)
class ListedPaper(Recordable):
    """A paper in a list; `score` if the list is ordered by one."""

    doc_id: str
    title: str
    year: Annotated[int | None, IF_KNOWN]
    lang: Annotated[str | None, IF_KNOWN]
    journal: Annotated[str | None, IF_KNOWN]
    authors: Annotated[list[str] | None, IF_KNOWN, Field(description="20 at most")]
    author_count: Annotated[int | None, IF_KNOWN, Field(description="if there are more")]
    score: Annotated[float | None, IF_KNOWN]


def record_of(first: StoredPassage) -> dict[str, Any]:
    """Return the record of a paper with its title, from its first passage."""
    return {"title": first.title, **(first.paper or {})}


def listed_paper(first: StoredPassage, score: float | None = None) -> ListedPaper:
    """Return a paper for lists, from its first passage."""
    record = record_of(first)
    few = {"author_count": None, **listed_authors(record)}
    named = {key: record.get(key) for key in ("year", "lang", "journal")}
    return ListedPaper(first.doc_id, str(record.get("title", "")), **named, **few, score=score)


def listed_papers(
    index: SearchIndex, doc_ids: Iterable[str], scores: dict[str, float] | None = None
) -> list[ListedPaper]:
    """Return papers in the order of the given ids; unknown ids are left out."""
    wanted, scores = list(dict.fromkeys(doc_ids)), scores or {}
    found = index.engine.papers(wanted)
    return [listed_paper(found[doc_id], scores.get(doc_id)) for doc_id in wanted if doc_id in found]
