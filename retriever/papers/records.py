"""Complete records of papers in an index, with title and abstract."""

from collections.abc import Iterable, Sequence
from typing import Any

from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.stages.hits import Hit


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
