"""What the embedded engine stores: read by address or by id, and kept for a while."""

from collections.abc import Sequence
from threading import Lock

import tantivy
from tantivy import Occur

from indexer.schema import StoredPassage
from indexer.stored import read_passage
from retriever.engines import EngineHit
from retriever.engines.ordering import SCORE_DECIMALS
from retriever.engines.tantivy_queries import SCHEMA, compiled
from retriever.queries import Exact

REMEMBERED_IDS = 200_000
REMEMBERED_CHARACTERS = 10_000_000  # of passages, their tokens and records: some 30 MB
LEAST_SIZE = 500  # characters that a passage counts for besides


class StoredPassages:
    """The stored passages of an open index; those read last are kept, as what is found is asked for next."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        """Begin with nothing read."""
        self._searcher = searcher
        self._ids: dict[tuple[int, int], tuple[str, str]] = {}
        self._passages: dict[str, StoredPassage] = {}
        self._kept = 0  # characters of these, of their tokens and records
        self._lock = Lock()

    def hit(self, score: float, address: tantivy.DocAddress) -> EngineHit:
        """Return a hit by its name."""
        place = place_of(address)
        ids = self._ids.get(place)
        if ids is None:
            passage = self._read(address)
            ids = (passage.passage_id, passage.doc_id)
            with self._lock:
                if len(self._ids) >= REMEMBERED_IDS:
                    self._ids.clear()
                self._ids[place] = ids
        return EngineHit(*ids, round(score, SCORE_DECIMALS))

    def kept(self, passage_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return those of the passages that need no reading."""
        return {name: passage for name in passage_ids if (passage := self._passages.get(name))}

    def by_id(self, passage_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return the passages of these ids; ids that are not there are left out."""
        found = self.kept(passage_ids)
        missing = tuple(passage_id for passage_id in passage_ids if passage_id not in found)
        if missing:
            addresses = self._addresses(compiled(Exact("passage_id", missing)), len(missing))
            found |= {passage.passage_id: passage for passage in map(self._read, addresses)}
            lost = set(missing) - found.keys()
            with self._lock:  # other threads add to what was found
                lost &= {passage_id for passage_id, _ in self._ids.values()} if lost else set()
            if lost:
                raise ValueError(f"{min(lost)!r} was found, and is not there")
        return found

    def first_of(self, doc_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return by doc_id each paper's first passage, which carries its record."""
        papers = tuple(dict.fromkeys(doc_ids))
        addresses = self._first_passages(papers, len(papers) + 1)
        if len(addresses) > len(papers):  # of articles that are indexed by passages, each carries a record
            addresses = [address for doc_id in papers for address in self._first_passages((doc_id,), 1)]
        found: dict[str, StoredPassage] = {}
        for passage in map(self._read, addresses):
            found.setdefault(passage.doc_id, passage)
        return found

    def _first_passages(self, doc_ids: tuple[str, ...], most: int) -> list[tantivy.DocAddress]:
        if not doc_ids:
            return []
        first = tantivy.Query.term_query(SCHEMA, "first", True, index_option="basic")  # noqa: FBT003
        both = [(Occur.Must, compiled(Exact("doc_id", doc_ids))), (Occur.Must, first)]
        return self._addresses(tantivy.Query.boolean_query(both), most)

    def _addresses(self, query: tantivy.Query, most: int) -> list[tantivy.DocAddress]:
        """Return where at most so many passages of a query lie, in corpus order."""
        hits = self._searcher.search(
            query, most, count=False, order_by_field="sequence", order=tantivy.Order.Asc
        ).hits
        return [address for _, address in hits]

    def _read(self, address: tantivy.DocAddress) -> StoredPassage:
        passage = read_passage(self._searcher, address)
        size = 2 * len(passage.text) + len(passage.title) + len(passage.record) + LEAST_SIZE
        with self._lock:
            if passage.passage_id not in self._passages:
                self._kept += size
            if self._kept > REMEMBERED_CHARACTERS:
                self._passages = {}
                self._kept = size
            self._passages[passage.passage_id] = passage
        return passage


def place_of(address: tantivy.DocAddress) -> tuple[int, int]:
    """Return an address as a key."""
    return address.segment_ord, address.doc
