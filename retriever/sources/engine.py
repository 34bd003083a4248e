"""An engine over sources: it sends them the queries, and indexes their papers in a pool.

Each source analyses a query and ranks its hits itself. Passages, terms and cosines come from the pool, which
is analysed here.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from indexer.analysis import Analyzer
from indexer.analysis.analysed import AnalysedPassage
from indexer.encoders.arrays import Stored
from indexer.files.schema import StoredPassage
from retriever.engines import Engine, EngineHit, Explanation, NumberedRows, T, no_rows
from retriever.engines.facets import FacetCounts, FacetField
from retriever.engines.tantivy import TantivyEngine
from retriever.errors import SourceFailed
from retriever.opening.worker_threads import WorkerThreads
from retriever.queries.boolean import EVERYTHING, And, Exact, Not, Or, Phrase, Query, Range, Term
from retriever.queries.filters import Filters
from retriever.sources import Source, SourceAnswer
from retriever.sources.merging import (
    LimitedSource,
    MergedPaper,
    ask_sources,
    merge,
    search_sources,
    summed_frequencies,
)
from retriever.sources.models import PassageVectors
from retriever.sources.pool import Found, Pool, Sent, passages_of_papers, write_pool
from retriever.sources.words import WrittenWords, as_written

UNCOUNTED = 1_000_000  # assumed papers if no source reports its number
PROBED = 100  # papers fetched to weigh words that no source counts
MOST_COUNTED = 64  # words of a call whose frequencies are requested from sources
NOT_ASKED = "no source was searched: the search has no query with words"


class SourcesEngine(Engine):
    """Sources as an engine; for one event loop, and best for one question."""

    def __init__(
        self,
        sources: Sequence[LimitedSource],
        *,
        total: int | None,
        analyzer: Analyzer,
        words: WrittenWords,
        vectors: PassageVectors | None,
        folder: Path,
    ) -> None:
        """Take open sources, which the caller closes.

        Args:
            sources: in order of preference of their records.
            total: papers of the sources that count them, None if no source does.
            analyzer: for the pool's passages.
            words: the written forms of a question's tokens.
            vectors: the encoder of passages, None for no vectors.
            folder: an exclusive folder for the pool.
        """
        self._sources = sources
        self._counts, self._total = total is not None, total or UNCOUNTED
        self._analyzer, self._words, self._vectors, self._folder = analyzer, words, vectors, folder
        self._pool = Pool()
        self._opened: list[TantivyEngine] = []  # a pool's engine may be in use until all are closed
        self._counted: dict[str, int] = {}
        self._absent: set[str] = set()  # ids that no source knows
        self._gathering = asyncio.Lock()
        self._threads = WorkerThreads("sources", 1)
        self._notes: dict[str, None] = {}
        self._failure: SourceFailed | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader: sources that failed, filters that they lack."""
        return tuple(self._notes)

    @property
    def found(self) -> Mapping[str, MergedPaper]:
        """All papers found so far, by id."""
        return self._pool.papers

    @property
    def passage_count(self) -> int:
        """The number of papers in sources that count them, else a large number."""
        return self._total

    async def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Send queries with words to the sources, and other queries to the pool.

        Raises:
            SourceFailed: no source answers.
        """
        del read, collapse  # each paper comes once anyway
        sent = Filters(filters.years, filters.lang, filters.journal)
        async with self._gathering:
            if self._failure:  # concurrent queries would fail in the same way
                raise self._failure
            new = [
                (query, k)
                for query, k in dict(queries).items()
                if looks_for_words(query) and not self._knows((query, sent), k)
            ]
            if new:
                await self._gather(new, sent)
            pool = self._pool
        if pool.engine is None:
            return [[] for _ in queries]
        everything = [(query, max(1, len(pool.papers))) for query, _ in queries]
        by_words, allowed = await asyncio.gather(
            pool.engine.search(everything, filters=filters, collapse=True),
            pool.engine.search(
                [(EVERYTHING, max(1, pool.engine.passage_count))], filters=filters, collapse=False
            ),
        )
        first: dict[str, str] = {}
        for hit in allowed[0]:  # in order of id; a paper's first passage comes first
            first.setdefault(hit.doc_id, hit.passage_id)
        answers = []
        for (query, k), hits in zip(queries, by_words, strict=True):
            best = {hit.doc_id: hit.passage_id for hit in hits}
            found = pool.found.get((query, sent))
            ranked = [(hit.doc_id, hit.score) for hit in hits] if found is None else found.ranked
            answers.append(
                [
                    EngineHit(best.get(doc_id, first[doc_id]), doc_id, round(score, 4))
                    for doc_id, score in ranked
                    if doc_id in first
                ][:k]
            )
        return answers

    def _knows(self, sent: Sent, k: int) -> bool:
        known = self._pool.found.get(sent)
        return known is not None and (known.k >= k or len(known.ranked) < known.k)

    async def _gather(self, queries: Sequence[tuple[Query, int]], filters: Filters) -> None:
        """Search the sources, and add new papers to the pool."""
        written = [(as_written(query, self._words), k) for query, k in queries]
        try:
            merged, notes = await search_sources(self._sources, written, filters, self._pool.papers)
        except SourceFailed as error:
            self._failure = error
            raise
        self._notes |= dict.fromkeys(notes)
        found = {
            (query, filters): Found(ranked, k)
            for (query, k), ranked in zip(queries, merged.found, strict=True)
        }
        pool = replace(self._pool, papers=merged.papers, found={**self._pool.found, **found})
        self._pool = await self._with_passages(pool)

    async def _with_passages(self, pool: Pool) -> Pool:
        """Analyse, encode and index new papers; without any, the pool is unchanged."""
        new = {paper_id: merged for paper_id, merged in pool.papers.items() if paper_id not in pool.passages}
        if not new:
            return pool

        def analyse() -> dict[str, tuple[tuple[StoredPassage, AnalysedPassage], ...]]:
            return {
                paper_id: tuple(passages_of_papers([merged.record()], self._analyzer))
                for paper_id, merged in new.items()
            }

        passages = {**pool.passages, **await self._threads.run(analyse)}
        listed = [passage for of in passages.values() for passage in of]
        vectors: Mapping[bytes, Stored] = {}
        if self._vectors:
            vectors, failure = await self._vectors.of([passage for passage, _ in listed])
            self._notes |= dict.fromkeys([failure] if failure else [])
        engine = await self._threads.run(
            write_pool,
            self._folder / f"pool-{len(listed)}",
            listed,
            vectors,
            self._vectors.fingerprint if self._vectors else None,
        )
        self._opened.append(engine)
        return replace(pool, passages=passages, engine=engine)

    async def document_frequencies(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return the document frequency of each token: counted by sources, else in the pool.

        If no source counts and the pool is empty, the words are searched for first.
        """
        wanted = list(dict.fromkeys(tokens))
        new = {
            token: word for token in wanted if token not in self._counted and (word := self._words.of(token))
        }
        if new and len(new) <= MOST_COUNTED:
            await self._count(new)
        found = {token: self._counted[token] for token in wanted if token in self._counted}
        missing = [token for token in wanted if token not in found]
        if not missing:
            return found
        if self._pool.engine is None and new:
            probe = Or(tuple(Term(word, (token,)) for token, word in new.items()))
            await self.search([(probe, PROBED)], filters=Filters(), collapse=True)
        if (pool := self._pool.engine) is None:
            return found | dict.fromkeys(missing, 0)
        scale = self._total / max(1, pool.passage_count)
        counted = await pool.document_frequencies(missing)
        return found | {token: round(count * scale) for token, count in counted.items()}

    async def _count(self, words: Mapping[str, str]) -> None:
        """Request the document frequencies of words from the sources that count them."""
        if self._counts:
            with suppress(SourceFailed):  # the search reports it
                counts, _ = await summed_frequencies(self._sources, sorted(set(words.values())))
                self._counted |= {token: counts[word] for token, word in words.items() if word in counts}

    @property
    def lexicon(self) -> None:
        """None: no source lists its terms."""

    async def of_rows(self, passage_ids: Sequence[str], function: Callable[[NumberedRows], T]) -> T:
        """Call a function with the rows of passages of the pool."""
        pool = self._pool.engine
        return function(no_rows()) if pool is None else await pool.of_rows(passage_ids, function)

    async def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages of the pool; missing papers are requested from the sources by id.

        Raises:
            SourceFailed: a paper was requested, and no source answers.
        """
        doc_ids = list(doc_ids)
        async with self._gathering:
            unknown = [doc_id for doc_id in dict.fromkeys(doc_ids) if doc_id not in self._pool.papers]
            if unknown := [doc_id for doc_id in unknown if doc_id not in self._absent]:
                await self._fetch(unknown)
        pool = self._pool.engine
        return ({}, {}) if pool is None else await pool.records(passage_ids, doc_ids)

    async def _fetch(self, doc_ids: Sequence[str]) -> None:
        """Request papers by id from the sources, and add them to the pool."""
        several = len(self._sources) > 1

        async def of_source(source: Source) -> SourceAnswer:
            own = f"{source.name}:" if several else ""
            ids = [doc_id.removeprefix(own) for doc_id in doc_ids if doc_id.startswith(own)]
            return SourceAnswer((tuple((await source.papers(ids)).values()),) if ids else ())

        given = await ask_sources(self._sources, of_source)
        self._notes |= dict.fromkeys(given.failures)
        merged = merge(given.answers, self._pool.papers, several=several)
        self._pool = await self._with_passages(replace(self._pool, papers=merged.papers))
        self._absent |= {doc_id for doc_id in doc_ids if doc_id not in merged.papers}

    async def add(self, papers: Mapping[str, MergedPaper]) -> None:
        """Add papers with known records to the pool; papers already there are unchanged."""
        async with self._gathering:
            if papers.keys() - self._pool.papers.keys():
                pool = replace(self._pool, papers={**papers, **self._pool.papers})
                self._pool = await self._with_passages(pool)

    async def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count the passages of the pool that each query matches."""
        pool = self._pool.engine
        return [0] * len(asked) if pool is None else await pool.counts(asked)

    async def facets(
        self, query: Query | None, *, filters: Filters, fields: Sequence[FacetField], several: bool
    ) -> FacetCounts:
        """Count papers of the pool."""
        return await self._gathered().facets(query, filters=filters, fields=fields, several=several)

    async def term_frequencies(self, token: str, sample: int) -> list[int]:
        """Return the frequency of the token in each passage of the pool that contains it."""
        pool = self._pool.engine
        return [] if pool is None else await pool.term_frequencies(token, sample)

    async def explain(self, query: Query, passage_id: str) -> Explanation:
        """Explain the score of a passage in the pool, token by token."""
        return await self._gathered().explain(query, passage_id)

    async def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosines of a vector with passages of the pool; skips passages without a vector."""
        pool = self._pool.engine
        return {} if pool is None else await pool.similarities(vector, passage_ids)

    async def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the vectors of passages of the pool."""
        pool = self._pool.engine
        return {} if pool is None else await pool.vectors(passage_ids)

    async def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the nearest passages of the pool, after the running queries have been answered."""
        async with self._gathering:
            pool = self._pool.engine
        if not self._pool.found:
            self._notes[NOT_ASKED] = None
        return [] if pool is None else await pool.nearest(vector, k, filters=filters)

    def close(self) -> None:
        """Close the pools."""
        self._threads.close()
        for engine in self._opened:
            engine.close()

    def _gathered(self) -> TantivyEngine:
        if self._pool.engine is None:
            raise SourceFailed("no source has been asked yet")
        return self._pool.engine


def looks_for_words(query: Query) -> bool:
    """Check whether a query can be sent to sources: it has words, and names no passage of the pool."""
    match query:
        case Term() | Phrase():
            return True
        case Or(clauses=clauses) | And(clauses=clauses):
            return any(map(looks_for_words, clauses)) and not any(map(_is_of_pool, clauses))
        case Not() | Range() | Exact():
            return False


def _is_of_pool(query: Query) -> bool:
    return isinstance(query, Exact) and query.field in {"passage_id", "doc_id", "part", "references"}
