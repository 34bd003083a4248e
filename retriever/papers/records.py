"""Complete records of papers in an index, with title and abstract."""

from collections.abc import Iterable, Sequence
from typing import Any

from indexer.corpora.chunking import CHUNK_CHARACTERS, OVERLAP_CHARACTERS
from indexer.files.schema import StoredPassage
from retriever.index import SearchIndex
from retriever.stages.hits import Hit

CHUNKS_AT_A_TIME = 100


def records_of_hits(index: SearchIndex, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return the records of the hits' papers in their order, for `retriever.exports`."""
    elsewhere = [hit.doc_id for hit in hits if not hit.passage.record]
    firsts = index.engine.papers(elsewhere) if elsewhere else {}
    return _records(
        index, [hit.passage if hit.passage.record else firsts.get(hit.doc_id, hit.passage) for hit in hits]
    )


def records_of_papers(index: SearchIndex, doc_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of papers in the order of the given ids; unknown ids are left out."""
    wanted = list(dict.fromkeys(doc_ids))
    firsts = index.engine.papers(wanted)
    return _records(index, [firsts[doc_id] for doc_id in wanted if doc_id in firsts])


def _records(index: SearchIndex, firsts: Sequence[StoredPassage]) -> list[dict[str, Any]]:
    """Make the record of each paper from its first passage: `doc_id`, title, abstract, then other keys."""
    # Those whose passage may be the first chunk of a long abstract.
    chunked = [
        f"{first.doc_id}#1"
        for first in firsts
        if first.part == "abstract" and 0 < len(first.text) <= CHUNK_CHARACTERS
    ]
    seconds = index.engine.passages(chunked) if chunked else {}
    records = []
    for first in firsts:
        whole = f"{first.doc_id}#1" not in seconds
        abstract = first.text if whole else _whole_abstract(index, first)
        known = {"id": first.passage_id, "lang": first.lang, "year": first.year, "journal": first.journal}
        record = first.paper or {key: value for key, value in known.items() if value}
        texts = {key: text for key, text in (("title", first.title), ("abstract", abstract)) if text}
        records.append({"doc_id": first.doc_id, **texts, **record})
    return records


def _whole_abstract(index: SearchIndex, first: StoredPassage) -> str:
    """Join the chunks of a long abstract, with a space between chunks that do not overlap."""
    text, begin = first.text, 1
    while True:
        ids = [f"{first.doc_id}#{number}" for number in range(begin, begin + CHUNKS_AT_A_TIME)]
        found = index.engine.passages(ids)
        for passage_id in ids:
            chunk = found.get(passage_id)
            # Another paper may have an equal id.
            if chunk is None or (chunk.doc_id, chunk.part) != (first.doc_id, "abstract"):
                return text
            text += _new_text(text, chunk.text)
        begin += CHUNKS_AT_A_TIME


def _new_text(text: str, chunk: str) -> str:
    """Return the part of a chunk that does not overlap the text before it."""
    for length in range(min(OVERLAP_CHARACTERS, len(chunk), len(text) - 1), 0, -1):
        if text[-length - 1].isspace() and text.endswith(chunk[:length]):
            return chunk[length:]
    return f" {chunk}"
