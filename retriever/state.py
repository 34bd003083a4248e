"""A search: what is asked, and what is known of it while it is under way."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from indexer.analysis import Token
from indexer.encoders.rounding import Stored
from indexer.errors import IndexerError
from indexer.schema import StoredPassage
from retriever.engines import EngineHit
from retriever.features import Concept, Features
from retriever.hits import QueryTrace
from retriever.index import SearchIndex
from retriever.keywords import Counterpart, Keyword
from retriever.queries import Filters, Query, describe
from retriever.settings import RetrieverSettings
from retriever.synonyms import Expansion

NEAREST = "(the passages nearest to the question's vector)"  # as a query is told
Ranked = list[tuple[EngineHit, float]]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked of an index.

    `collapse` gives papers, each by its best passage; without it passages. `keywords` stand in for those from
    statistics. `title_weight` None is the settings'.
    """

    question: str
    method: str = "shrag"
    k: int = 10
    filters: Filters = field(default_factory=Filters)
    collapse: bool = True
    keywords: tuple[Keyword, ...] | None = None
    title_weight: float | None = None


@dataclass(slots=True)
class SearchState:
    """One search under way: what is known so far, for the method to add to."""

    index: SearchIndex
    request: SearchRequest
    settings: RetrieverSettings
    tokens: list[Token] = field(default_factory=list)
    keywords: list[Keyword] = field(default_factory=list)
    token_weights: dict[str, float] = field(default_factory=dict)  # of what is searched for, one by one
    queries: list[QueryTrace] = field(default_factory=list)
    found_by: dict[str, list[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=dict)
    spellings: dict[str, list[str]] = field(default_factory=dict)
    counterparts: list[Counterpart] = field(default_factory=list)
    synonyms: list[Expansion] = field(default_factory=list)
    concepts: list[Concept] = field(default_factory=list)
    features: dict[str, Features] | None = None  # by passage_id; none where the method has none
    vector: Stored | None = None  # the question's
    cosines: dict[str, float] = field(default_factory=dict)  # with it, by passage_id
    vector_failure: IndexerError | None = None  # why the encoder gave none
    by_vectors: bool = False  # whether the order is by cosines too
    _asked_for_vector: bool = False
    _stored: dict[str, StoredPassage] = field(default_factory=dict)
    reranked_by: str = ""  # the cross-encoder that ordered the first hits

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time spent to a stage's."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + spent

    async def ask_engine(self, asked: Sequence[tuple[int, Query, int]]) -> list[list[EngineHit]]:
        """Send all (n of SQn, query, k) in one call; note what each found."""
        with self.timed("search"):
            found = await self.index.engine.search(
                [(query, k) for _, query, k in asked],
                filters=self.request.filters,
                collapse=self.request.collapse,
            )
        for (number, query, _), hits in zip(asked, found, strict=True):
            self.queries.append(QueryTrace(describe(query), len(hits)))
            for hit in hits:
                self.found_by.setdefault(hit.passage_id, []).append(number)
        return found

    async def passages(self, passage_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return what is stored of these passages, in their order; each is read once a search."""
        wanted = list(dict.fromkeys(passage_ids))
        if missing := [one for one in wanted if one not in self._stored]:
            self._stored |= await self.index.engine.passages(missing)
        return {one: self._stored[one] for one in wanted if one in self._stored}

    async def find_vector(self) -> Stored | None:
        """Encode the question once; where that fails or cannot be, the notes say so and there is none."""
        vectors = self.index.vectors
        if self._asked_for_vector or not (vectors.usable or vectors.off):
            return self.vector
        self._asked_for_vector = True
        with self.timed("vector"):
            try:
                self.vector = await vectors.of(self.request.question)
            except IndexerError as error:
                self.vector_failure = error
                self.note(f"ranked without vectors, the encoder failed: {error}")
        if vectors.off:
            self.note(vectors.off)
        return self.vector

    async def find_cosines(self, passage_ids: Sequence[str]) -> None:
        """Compare the question with the given passages, if it has a vector."""
        vector = await self.find_vector()
        if vector is None:
            return
        with self.timed("vector"):
            missing = [one for one in passage_ids if one not in self.cosines]
            self.cosines |= await self.index.engine.similarities(vector, missing)

    async def nearest(self, k: int) -> list[EngineHit]:
        """Return the passages nearest to the question, which has a vector; of papers, enough for k."""
        if self.vector is None:
            return []
        limit = k
        with self.timed("vector"):
            while True:
                hits = await self.index.engine.nearest(self.vector, limit, filters=self.request.filters)
                papers = len({hit.doc_id for hit in hits})
                if not self.request.collapse or papers >= k or len(hits) < limit:
                    break
                limit *= 2
        self.queries.append(QueryTrace(NEAREST, len(hits)))
        for hit in hits:
            self.found_by.setdefault(hit.passage_id, []).append(0)
            self.cosines[hit.passage_id] = hit.score
        return hits

    def note(self, text: str) -> None:
        """Tell something of the search, once."""
        if text not in self.notes:
            self.notes.append(text)
