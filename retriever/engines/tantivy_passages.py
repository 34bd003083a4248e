"""Passages of the embedded engine: hits by name, rows of the forward index, stored passages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import Lock

import numpy as np
import tantivy
from tantivy import Occur

from indexer.files.schema import StoredPassage
from indexer.files.stored import passage_numbers, passage_of
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import Lexicon
from indexer.forward.rows import tokens_of_row
from retriever.engines import EngineHit, NumberedRows, numbered_rows
from retriever.engines.tantivy_queries import SCHEMA, compiled
from retriever.queries.boolean import Exact

REMEMBERED_IDS = 200_000
REMEMBERED_CHARACTERS = 10_000_000  # of passages, their tokens and records: some 30 MB
LEAST_SIZE = 500  # characters added to the size of each passage

Found = tuple[float, tantivy.DocAddress]  # a hit's score and address, before its id is read


class StoredPassages:
    """The passages of an open index, with a cache of the last ones read, since hits are read next."""

    def __init__(self, searcher: tantivy.Searcher, columns: ForwardColumns, lexicon: Lexicon) -> None:
        """Start with an empty cache."""
        self._searcher = searcher
        self._columns, self._lexicon = columns, lexicon
        self._names: dict[int, tuple[str, str]] = {}  # passage_id and doc_id by number
        self._numbers: dict[str, int] = {}
        self._passages: dict[str, StoredPassage] = {}
        self._kept = 0  # characters of the cached passages, tokens and records
        self._lock = Lock()

    def hits(self, found: Sequence[Found]) -> list[EngineHit]:
        """Return hits by name, in the order given, with the scores given."""
        numbers = passage_numbers(self._searcher, [address for _, address in found])
        names = self.names(numbers)
        return [EngineHit(*name, score) for name, (score, _) in zip(names, found, strict=True)]

    def names(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Return passage_id and doc_id of the passages of numbers."""
        known = self._names
        missing = {number for number in numbers if number not in known}
        if missing:
            read = {number: self._columns.names(number) for number in missing}
            with self._lock:
                if len(known) + len(read) > REMEMBERED_IDS:
                    self._names, self._numbers = {}, {}
                self._names |= read
                self._numbers |= {passage_id: number for number, (passage_id, _) in read.items()}
            known = {**{number: known[number] for number in numbers if number in known}, **read}
        return [known[number] for number in numbers]

    def numbers(self, passage_ids: Sequence[str]) -> dict[str, int]:
        """Return the numbers of passages in the order given; unknown ids are left out."""
        known, read = self._numbers, dict[str, int]()
        missing = tuple(passage_id for passage_id in passage_ids if passage_id not in known)
        if missing:
            addresses = self._addresses(compiled(Exact("passage_id", missing)), len(missing))
            numbers = passage_numbers(self._searcher, addresses)
            read = {self._columns.names(number)[0]: number for number in numbers}
        found = ((name, known.get(name, read.get(name))) for name in passage_ids)
        return {name: number for name, number in found if number is not None}

    def papers_of(self, query: tantivy.Query) -> set[str]:
        """Return the papers with a passage that matches a query."""
        most = max(1, int(self._searcher.num_docs))
        found = self._searcher.search(query, most, count=False, order_by_field="number").hits
        return {self._columns.names(number)[1] for number, _ in found}

    def rows(self, passage_ids: Sequence[str]) -> NumberedRows:
        """Return the rows of passages in the order given; unknown ids are left out."""
        found = self.numbers(passage_ids)
        numbers = np.array(list(found.values()), np.int64)
        return numbered_rows(tuple(found), self._columns.rows(numbers), self._lexicon)

    def kept(self, passage_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return the cached passages among these ids."""
        return {name: passage for name in passage_ids if (passage := self._passages.get(name))}

    def by_id(self, passage_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return the passages of these ids; unknown ids are left out."""
        found = self.kept(passage_ids)
        missing = tuple(passage_id for passage_id in passage_ids if passage_id not in found)
        if missing:
            addresses = self._addresses(compiled(Exact("passage_id", missing)), len(missing))
            found |= {passage.passage_id: passage for passage in self._read(addresses)}
            if lost := [name for name in missing if name not in found and name in self._numbers]:
                raise ValueError(f"{min(lost)!r} was found, and is not there")
        return found

    def first_of(self, doc_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return by doc_id the first passage of each paper, which carries its record."""
        papers = tuple(dict.fromkeys(doc_ids))
        addresses = self._first_passages(papers, len(papers) + 1)
        if len(addresses) > len(papers):  # for papers indexed by passages, each passage has a record
            addresses = [address for doc_id in papers for address in self._first_passages((doc_id,), 1)]
        found: dict[str, StoredPassage] = {}
        for passage in self._read(addresses):
            found.setdefault(passage.doc_id, passage)
        return found

    def _first_passages(self, doc_ids: tuple[str, ...], most: int) -> list[tantivy.DocAddress]:
        if not doc_ids:
            return []
        first = tantivy.Query.term_query(SCHEMA, "first", True, index_option="basic")  # noqa: FBT003
        both = [(Occur.Must, compiled(Exact("doc_id", doc_ids))), (Occur.Must, first)]
        return self._addresses(tantivy.Query.boolean_query(both), most)

    def _addresses(self, query: tantivy.Query, most: int) -> list[tantivy.DocAddress]:
        """Return the addresses of a limited number of passages of a query, in corpus order."""
        hits = self._searcher.search(
            query, most, count=False, order_by_field="sequence", order=tantivy.Order.Asc
        ).hits
        return [address for _, address in hits]

    def _read(self, addresses: Sequence[tantivy.DocAddress]) -> Iterable[StoredPassage]:
        numbers = passage_numbers(self._searcher, list(addresses))
        for address, number in zip(addresses, numbers, strict=True):
            passage, layout = passage_of(self._searcher.doc(address))
            tokens = tokens_of_row(self._columns.packed(number), layout, self._lexicon.terms)
            yield self._keep(replace(passage, tokens=tokens))

    def _keep(self, passage: StoredPassage) -> StoredPassage:
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
