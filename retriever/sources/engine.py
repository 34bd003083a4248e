"""An engine over sources: it sends them the queries, and reads their papers in a pool.

Each source analyses a query and ranks its hits itself. Passages, terms and cosines come from the pool, which
is analysed here.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import Any, NoReturn, TypeVar

from base.notes import Note
from indexer.analysis import Analyzer
from indexer.encoders import Stored
from indexer.files.schema import StoredPassage
from retriever.engines import Engine, EngineHit, NumberedRows
from retriever.errors import SourceFailed
from retriever.opening.worker_threads import wait_for
from retriever.queries.boolean import And, Exact, Or, Phrase, Query, Term, with_words
from retriever.queries.filters import Filters
from retriever.sources.merging import (
    LimitedSource,
    MergedPaper,
    search_sources,
    summed_frequencies,
)
from retriever.sources.pool import Pool

T = TypeVar("T")
Encode = Callable[[Sequence[StoredPassage]], tuple[Mapping[str, Stored], str]]
ASSUMED_TOTAL = 1_000_000  # papers if no source reports its number
ASSUMED_SHARE = 0.001  # of these that contain a word that no source counts
MAX_COUNTED = 64  # words of a call whose frequencies are requested from sources
POOL_FIELDS = frozenset({"passage_id", "doc_id", "part"})  # which sources do not know
NOT_ASKED = Note("no_source_searched")


class SourcesEngine(Engine):
    """Sources as an engine, best for one question; its callers are threads, its sources belong to a loop.

    A call waits for the calls before it, whose papers it finds too.
    """

    def __init__(
        self,
        sources: Sequence[LimitedSource],
        *,
        loop: asyncio.AbstractEventLoop,
        total: int,
        analyzer: Analyzer,
        encode: Encode | None,
    ) -> None:
        """Take open sources, which the caller closes, in order of preference of their records.

        Args:
            loop: the running event loop of the sources.
            total: papers of the sources that count them, 0 if no source does.
            analyzer: for the pool's passages.
            encode: gives vectors of passages by id, and the reason if some are missing; None for no vectors.
        """
        self._sources, self._loop = sources, loop
        self._counts, self._total = total > 0, total or ASSUMED_TOTAL
        self._analyzer, self._encode = analyzer, encode
        self._pool, self._lock = Pool(analyzer), RLock()
        self.found: dict[str, MergedPaper] = {}  # all papers so far, by id
        self._answers: dict[tuple[Query, Filters], tuple[int, tuple[str, ...]]] = {}  # number requested, ids
        self._counted: dict[str, int] = {}
        self._written: dict[str, str] = {}  # the first written form of each token
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader: sources that failed, filters that they lack."""
        return tuple(self._notes)

    @property
    def passage_count(self) -> int:
        """The number of papers in sources that count them, else a large number."""
        return self._total

    def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Send queries with words to the sources, and other queries to the pool.

        Raises:
            SourceFailed: no source answers.
        """
        del read, collapse  # each paper comes once anyway
        sent = Filters(filters.years or filters.years_if_known, lang=filters.lang, journal=filters.journal)
        with self._lock:
            new: dict[Query, int] = {}
            for query, k in queries:
                if looks_for_words(query) and not self._is_answered(query, sent, k):
                    new[query] = max(k, new.get(query, 0))
            if new:
                self._gather(list(new.items()), sent)
            asked = [(query, k, self._answers.get((query, sent), (0, None))[1]) for query, k in queries]
            return self._pool.search(asked, filters)

    def _is_answered(self, query: Query, filters: Filters, k: int) -> bool:
        """Check whether the sources need not be asked again for k hits of a query."""
        requested, ids = self._answers.get((query, filters), (0, ()))
        return requested >= k or len(ids) < requested

    def _gather(self, queries: Sequence[tuple[Query, int]], filters: Filters) -> None:
        """Search the sources, and add new papers to the pool."""

        def as_written(word: Term | Phrase) -> Term | Phrase:
            is_token = isinstance(word, Term) and word.tokens == (word.text,)
            return replace(word, text=self._written.get(word.text, word.text)) if is_token else word

        asked = [(with_words(query, as_written), k) for query, k in queries]
        merged, notes = self._wait(search_sources(self._sources, asked, filters, self.found))
        self._notes |= dict.fromkeys(notes)
        self.add(merged.papers)
        for (query, k), ids in zip(queries, merged.found, strict=True):
            self._answers[query, filters] = k, ids

    def add(self, papers: Mapping[str, MergedPaper]) -> None:
        """Add papers to the pool, and encode their passages; passages already there are unchanged."""
        with self._lock:
            new = [merged.record() for paper_id, merged in papers.items() if paper_id not in self.found]
            passages = self._pool.add(new) if new else []
            self.found |= papers
            if passages and self._encode:
                encoded, failure = self._encode(passages)
                self._notes |= dict.fromkeys([failure] if failure else [])
                self._pool.vectors |= encoded

    def document_frequencies(self, tokens: Iterable[str], texts: Iterable[str] = ()) -> dict[str, int]:
        """Return the document frequency of each token in the sources that count.

        If none counts a word, it is as rare as any other: its frequency in the papers that a question found
        would say how well it found them.
        """
        wanted = list(dict.fromkeys(tokens))
        for text in texts:
            for token, _, start, end in self._analyzer.analyze(text):
                self._written.setdefault(token, text[start:end])
        unknown = (token for token in wanted if token not in self._counted)
        new = {token: self._written[token] for token in unknown if token in self._written}
        if self._counts and 0 < len(new) <= MAX_COUNTED:
            with suppress(SourceFailed):  # the search reports it
                words = sorted(set(new.values()))
                counts, _ = self._wait(summed_frequencies(self._sources, words))
                self._counted |= {token: counts[word] for token, word in new.items() if word in counts}
        assumed = max(1, round(ASSUMED_SHARE * self._total))
        return {token: self._counted.get(token, assumed) for token in wanted}

    @property
    def lexicon(self) -> None:
        """None: no source lists its terms."""

    def rows(self, passage_ids: Sequence[str]) -> NumberedRows:
        """Return the rows of passages of the pool; unknown ids are left out."""
        with self._lock:
            return self._pool.rows(passage_ids)

    def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages of the pool; papers that were not found are left out."""
        with self._lock:
            known, firsts = self._pool.passages, self._pool.firsts
            passages = {name: known[name] for name in passage_ids if name in known}
            return passages, {doc_id: firsts[doc_id] for doc_id in doc_ids if doc_id in firsts}

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count the passages of the pool that each query matches."""
        with self._lock:
            return self._pool.counts(asked)

    def doc_ids(self, queries: Sequence[Query]) -> list[set[str]]:
        """Raise NotImplementedError: sources cannot list their papers."""
        raise NotImplementedError

    def aggregate(self, *_: object) -> NoReturn:
        """Raise SourceFailed: the papers found are too few to count."""
        raise SourceFailed("papers of sources are not counted by their fields")

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosines of a vector with passages of the pool; skips passages without a vector."""
        with self._lock:
            return self._pool.similarities(vector, passage_ids)

    def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the vectors of passages of the pool."""
        known = self._pool.vectors
        return {passage_id: known[passage_id] for passage_id in passage_ids if passage_id in known}

    def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the nearest passages of the pool."""
        with self._lock:
            if not self._answers:
                self._notes[NOT_ASKED] = None
            return self._pool.nearest(vector, k, filters)

    def _wait(self, request: Coroutine[Any, Any, T]) -> T:
        """Return the answer of the sources, or end with the caller of this search."""
        return wait_for(request, self._loop)


def looks_for_words(query: Query) -> bool:
    """Check whether a query can be sent to sources: it has words, and names no passage of the pool."""
    if isinstance(query, Or | And):
        fields = {clause.field for clause in query.clauses if isinstance(clause, Exact)}
        return any(map(looks_for_words, query.clauses)) and fields.isdisjoint(POOL_FIELDS)
    return isinstance(query, Term | Phrase)
