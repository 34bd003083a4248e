"""Passages of the embedded engine: hits by name, rows of the forward index, stored passages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import tantivy
from tantivy import Occur

from indexer.files.schema import StoredPassage
from indexer.files.stored import passage_numbers, passage_of
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import Lexicon
from indexer.forward.rows import tokens_of_row
from retriever.engines import EngineHit, NumberedRows, numbered_rows
from retriever.engines.tantivy_queries import SCHEMA, compiled, filtered
from retriever.queries.boolean import EVERYTHING, Exact, Query
from retriever.queries.filters import Filters

REMEMBERED_IDS = 200_000

Found = tuple[float, tantivy.DocAddress]  # a hit's score and address, before its id is read


class StoredPassages:
    """The passages of an open index; the numbers of the last ones found are kept, as these are read next."""

    def __init__(self, searcher: tantivy.Searcher, columns: ForwardColumns, lexicon: Lexicon) -> None:
        """Take the parts of an open index."""
        self._searcher = searcher
        self._columns, self._lexicon = columns, lexicon
        self._numbers: dict[str, int] = {}  # by passage_id

    def hits(self, found: Sequence[Found]) -> list[EngineHit]:
        """Return hits by name, in the order given, with the scores given."""
        numbers = passage_numbers(self._searcher, [address for _, address in found])
        names = self.names(numbers)
        return [EngineHit(*name, score) for name, (score, _) in zip(names, found, strict=True)]

    def names(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Return passage_id and doc_id of the passages of numbers."""
        names = list(map(self._columns.names, numbers))
        known = self._numbers if len(self._numbers) < REMEMBERED_IDS else {}
        # A new dictionary would be copied for each question; other threads only look ids up.
        known.update((passage_id, number) for number, (passage_id, _) in zip(numbers, names, strict=True))
        self._numbers = known
        return names

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

    def satisfying(self, filters: Filters, most: int, query: Query = EVERYTHING) -> list[str]:
        """Return the ids of the first passages that match a query and satisfy filters."""
        narrowed = filtered(compiled(query), filters)
        found = self._searcher.search(narrowed, max(1, most), count=False, order_by_field="number").hits
        return [self._columns.names(number)[0] for number, _ in found]

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

    def by_id(self, passage_ids: Sequence[str]) -> dict[str, StoredPassage]:
        """Return the passages of these ids; unknown ids are left out."""
        wanted = tuple(passage_ids)
        addresses = self._addresses(compiled(Exact("passage_id", wanted)), len(wanted)) if wanted else []
        found = {passage.passage_id: passage for passage in self._read(addresses)}
        if lost := [name for name in wanted if name not in found and name in self._numbers]:
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
            yield replace(passage, tokens=tokens)
