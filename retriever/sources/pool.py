"""The papers that sources found for a question: an embedded index in memory, with rows and vectors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from indexer.analysis import Analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.corpora.papers import Paper
from indexer.encoders import Stored
from indexer.encoders.rounding import cosines
from indexer.files.schema import StoredPassage
from indexer.files.stored import passage_numbers, stored_passages
from indexer.forward.building import packed_row
from indexer.forward.lexicon import Lexicon, LexiconBuilder, TokenCounts, lexicon_bytes
from indexer.forward.rows import PassageRows
from indexer.versions.writers.tantivy import new_index, passage_document
from retriever.engines import EngineHit, NumberedRows, numbered_rows
from retriever.engines.ordering import BY_PAPER, SCORE_DECIMALS, by_score, first_of_each_paper, rounded_cosine
from retriever.engines.tantivy_queries import compiled, filtered
from retriever.queries.boolean import EVERYTHING, Query
from retriever.queries.filters import Filters

WRITER_BYTES = 15_000_000  # the least that tantivy takes


class Pool:
    """The passages of papers; vectors are added by the caller."""

    def __init__(self, analyzer: Analyzer) -> None:
        """Hold no passages yet."""
        self._analyzer, self._index = analyzer, new_index()
        self._searcher = self._index.searcher()
        self._terms, self._counts = LexiconBuilder(), TokenCounts()
        self._lexicon = Lexicon(lexicon_bytes([], self._counts))
        self._numbered: list[StoredPassage] = []
        self.passages: dict[str, StoredPassage] = {}  # by passage_id
        self.firsts: dict[str, StoredPassage] = {}  # the first passage of each paper, by doc_id
        self.vectors: dict[str, Stored] = {}  # by passage_id

    def add(self, papers: Iterable[Paper]) -> list[StoredPassage]:
        """Analyse the passages of new papers, index them, and return them."""
        new, documents = list[StoredPassage](), []
        for passage in (passage for paper in papers for passage in stored_passages(paper, "paper")):
            analysed = AnalysedPassage.of(passage.title, passage.text, passage.title2, self._analyzer)
            row, number = packed_row(passage, analysed, self._terms), len(self._numbered) + len(new)
            documents.append(passage_document(passage, analysed.tokens, number, number))
            new.append(replace(passage, tokens=analysed.tokens, row=row))
        writer = self._index.writer(WRITER_BYTES, 1)
        for document in documents:
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()  # closes it: an index has one writer at a time
        self._index.reload()
        self._searcher = self._index.searcher()
        for passage in new:
            self._counts.add(passage.row)
            self.passages[passage.passage_id] = passage
            self.firsts.setdefault(passage.doc_id, passage)
        self._lexicon = Lexicon(lexicon_bytes(self._terms.terms, self._counts))
        self._numbered += new
        return new

    def rows(self, passage_ids: Iterable[str]) -> NumberedRows:
        """Return the rows of passages; unknown ids are left out."""
        known = [name for name in passage_ids if name in self.passages]
        rows = PassageRows.of([self.passages[name].row for name in known])
        return numbered_rows(tuple(known), rows, self._lexicon)

    def search(
        self, queries: Sequence[tuple[Query, int, Sequence[str] | None]], filters: Filters
    ) -> list[list[EngineHit]]:
        """Return at most k papers for each query, by their best passages under the filters.

        A query that was sent to the sources has the ids of the papers that they found. These keep their
        order, also if their passages lack the words; their scores are the reciprocals of their ranks.
        """
        is_sent = any(found is not None for *_, found in queries)
        allowed = self._matching(EVERYTHING, filters) if is_sent else []
        answers = []
        for query, k, found in queries:
            hits = self._matching(query, filters)
            if found is None:
                hits = first_of_each_paper(hits, BY_PAPER)
            else:
                best = {hit.doc_id: hit for hit in reversed([*hits, *allowed])}
                ranked = ((best.get(doc_id), 1 / rank) for rank, doc_id in enumerate(found, 1))
                hits = [hit._replace(score=round(score, SCORE_DECIMALS)) for hit, score in ranked if hit]
            answers.append(hits[:k])
        return answers

    def _matching(self, query: Query, filters: Filters) -> list[EngineHit]:
        """Return all passages that a query matches under filters, by score, then passage_id."""
        asked = filtered(compiled(query), filters)
        found = self._searcher.search(asked, max(1, len(self._numbered)), count=False).hits
        numbers = passage_numbers(self._searcher, [address for _, address in found])
        scored = ((self._numbered[number], score) for number, (score, _) in zip(numbers, found, strict=True))
        return by_score(
            EngineHit(of.passage_id, of.doc_id, round(score, SCORE_DECIMALS)) for of, score in scored
        )

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count the passages that each query matches under its filters."""
        queries = (filtered(compiled(query), filters) for query, filters in asked)
        return [self._searcher.search(query, 1, count=True).count for query in queries]  # type: ignore[attr-defined]  # not in its stub

    def similarities(self, vector: Stored, passage_ids: Iterable[str]) -> dict[str, float]:
        """Return the cosines of a vector with passages; skips passages without a vector."""
        known = {name: self.vectors[name] for name in passage_ids if name in self.vectors}
        return similarities(vector, known)

    def nearest(self, vector: Stored, k: int, filters: Filters) -> list[EngineHit]:
        """Return the k nearest passages under the filters, by cosine, then passage_id."""
        allowed = {hit.passage_id: hit for hit in self._matching(EVERYTHING, filters)}
        found = self.similarities(vector, allowed)
        return by_score(allowed[name]._replace(score=cosine) for name, cosine in found.items())[:k]


def similarities(vector: Stored, vectors: Mapping[str, Stored]) -> dict[str, float]:
    """Return the cosine of a vector with each of several."""
    if not vectors:
        return {}
    rows: Stored = np.stack(list(vectors.values()))  # type: ignore[assignment]
    return dict(zip(vectors, map(rounded_cosine, cosines(rows, vector).tolist()), strict=True))
