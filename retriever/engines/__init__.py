"""The protocol of search engines; callers do not depend on which engine answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from indexer.encoders.arrays import Stored
from indexer.schema import StoredPassage
from retriever.engines.facets import FacetCounts, FacetField
from retriever.queries import Exact, Filters, Query


@dataclass(frozen=True, slots=True)
class EngineHit:
    """A passage that a query matched, with its score."""

    passage_id: str
    doc_id: str
    score: float


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one token of a query adds to the score of a passage (BM25)."""

    token: str
    field: str
    weight: float
    frequency: float
    document_frequency: int
    idf: float
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a passage scores what it scores, token by token, highest first."""

    passage_id: str
    score: float
    terms: tuple[TermScore, ...]


class Engine(Protocol):
    """What every engine does; the methods with a body here are the same for all."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how it answered so far: a part that failed, for instance."""
        return ()

    async def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Answer many queries in one call: for each (query, k) at most k hits by score, then passage_id.

        With `collapse` a paper stands once, by its best passage. The passages that the first `read` queries
        find are needed next: a remote engine sends them along, and `records` then makes no request for them.
        """
        ...

    async def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages by passage_id, and by doc_id each paper's first, which carries its record.

        Both are read in one call; ids that are not there are left out.
        """
        ...

    async def passages(self, passage_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return the stored passages of these ids; ids that are not there are left out."""
        return (await self.records(passage_ids))[0]

    async def papers(self, doc_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return each paper's first passage, which carries the paper's record."""
        return (await self.records((), doc_ids))[1]

    async def citing(self, doc_ids: Iterable[str], limit: int) -> dict[str, list[str]]:
        """Return for each paper the doc_ids of at most `limit` papers that refer to it, by id."""
        asked = list(dict.fromkeys(doc_ids))
        queries = [(Exact("references", (doc_id,)), limit) for doc_id in asked]
        found = await self.search(queries, filters=Filters(), collapse=True)
        return {doc_id: [hit.doc_id for hit in hits] for doc_id, hits in zip(asked, found, strict=True)}

    async def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Return in one call how many passages each query matches under its filters."""
        ...

    async def facets(
        self, query: Query | None, *, filters: Filters, fields: Sequence[FacetField], several: bool
    ) -> FacetCounts:
        """Count the papers that a query matches under filters, and how many have each value of some fields.

        Without a query those of the whole index. `several` says whether a paper of the index may have several
        passages; `count_papers` says what is exact then.
        """
        ...

    async def document_frequencies(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return in how many passages each token stands."""
        ...

    async def terms_near(self, token: str, limit: int) -> list[tuple[str, int]]:
        """Return (term, document frequency) of terms of the text that may be misspelt as `token`.

        At most `limit`, all of the same first letter or syllable, and among them those that differ from it
        in up to two.
        """
        ...

    async def term_frequencies(self, token: str, sample: int) -> list[int]:
        """Return how often the token stands in each of at most `sample` passages that hold it."""
        ...

    async def explain(self, query: Query, passage_id: str) -> Explanation:
        """Say what each token of a query adds to the score of one passage."""
        ...

    async def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the exact cosine of a vector with that of each given passage; none where none is stored.

        `vector` is rounded as those of the index are.
        """
        ...

    async def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the stored vectors of passages; none where none is stored."""
        ...

    async def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the k passages whose vectors are nearest, with their cosines; by cosine, then passage_id."""
        ...

    @property
    def passage_count(self) -> int:
        """How many passages the index holds."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...
