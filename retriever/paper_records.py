"""The whole records of papers as an index holds them, title and abstract included."""

from collections.abc import Iterable, Sequence
from typing import Any

from indexer.schema import StoredPassage
from retriever.hits import Hit
from retriever.index import SearchIndex


async def records_of_hits(index: SearchIndex, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return the record of each hit's paper, in their order; what `retriever.exports` takes."""
    elsewhere = [hit.doc_id for hit in hits if not hit.passage.record]
    firsts = await index.engine.papers(elsewhere) if elsewhere else {}
    return [
        record_of(hit.passage if hit.passage.record else firsts.get(hit.doc_id, hit.passage)) for hit in hits
    ]


async def records_of_papers(index: SearchIndex, doc_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of papers by their ids, in the order of these; unknown ids are left out."""
    wanted = list(dict.fromkeys(doc_ids))
    firsts = await index.engine.papers(wanted)
    return [record_of(firsts[doc_id]) for doc_id in wanted if doc_id in firsts]


def record_of(first: StoredPassage) -> dict[str, Any]:
    """Return a paper's record, by its first passage: `doc_id`, title, abstract, then all its other keys.

    Of an abstract that was chunked, the first chunk.
    """
    texts = {"title": first.title, "abstract": first.text}
    known = {"id": first.passage_id, "lang": first.lang, "year": first.year, "journal": first.journal}
    record = first.paper or {key: value for key, value in known.items() if value}
    return {"doc_id": first.doc_id, **{key: text for key, text in texts.items() if text}, **record}
