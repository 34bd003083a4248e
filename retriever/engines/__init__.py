"""The protocol of search engines; callers do not depend on which engine answers.

Engines are synchronous, and may be called by several threads (`SearchIndex.run`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

from indexer.encoders import Stored
from indexer.files.schema import StoredPassage
from indexer.forward.lexicon import Lexicon
from indexer.forward.rows import PassageRows
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters

ASSUMED_LENGTH = 150.0  # tokens of an abstract, for engines without a lexicon


class EngineHit(NamedTuple):
    """A passage that a query matched, with its score."""

    passage_id: str
    doc_id: str
    score: float


class NumberedRows(NamedTuple):
    """Rows of passages, and the lexicon of their numbers."""

    ids: tuple[str, ...]  # passage_ids
    rows: PassageRows
    lexicon: Lexicon

    def joined(self, other: Self) -> Self:
        """Return these rows followed by others, whose lexicon may have grown in the meantime."""
        lexicon = max(self.lexicon, other.lexicon, key=len)  # a longer one keeps the numbers of the other
        return type(self)((*self.ids, *other.ids), self.rows.joined(other.rows), lexicon)


def numbered_rows(ids: tuple[str, ...], rows: PassageRows, lexicon: Lexicon) -> NumberedRows:
    """Return rows with their lexicon; ValueError where it does not have all of their numbers."""
    if max(int(rows.body.max(initial=0)), int(rows.title.max(initial=0))) > len(lexicon):
        raise ValueError("a row of a passage is damaged")
    return NumberedRows(ids, rows, lexicon)


class Engine(Protocol):
    """The protocol of engines; methods with a body are the same for all engines."""

    @property
    def is_local(self) -> bool:
        """Whether it runs within this process, without requests to a server."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader on its answers so far, for instance a failed part."""
        return ()

    def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Run several queries in one call; return for each at most k hits, by score, then passage_id.

        Args:
            queries: each with its k.
            filters: of all queries.
            collapse: whether a paper is returned once, by its best passage.
            read: number of first queries whose hits' rows will be read next. A remote engine sends these rows
                with the hits, so that `rows` needs no further request.
        """
        ...

    def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages by passage_id, and by doc_id each paper's first, which carries its record.

        Both are read in one call; unknown ids are left out.
        """
        ...

    @property
    def lexicon(self) -> Lexicon | None:
        """The terms of the index; None if they are unknown before a search."""
        ...

    def rows(self, passage_ids: Sequence[str]) -> NumberedRows:
        """Return the rows of passages in the order given; unknown ids are left out."""
        ...

    def passages(self, passage_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return the stored passages of these ids; unknown ids are left out."""
        return (self.records(passage_ids))[0]

    def papers(self, doc_ids: Iterable[str]) -> dict[str, StoredPassage]:
        """Return each paper's first passage, which carries the paper's record."""
        return (self.records((), doc_ids))[1]

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count in one call the passages that each query matches under its filters."""
        ...

    def doc_ids(self, queries: Sequence[Query]) -> list[set[str]]:
        """Return for each query the papers with a passage that matches it, if there is a lexicon."""
        ...

    def aggregate(self, query: Query, filters: Filters, aggregations: Mapping[str, Any]) -> dict[str, Any]:
        """Aggregate the passages that a query matches under filters, in the language of Elasticsearch."""
        ...

    def document_frequencies(self, tokens: Iterable[str], texts: Iterable[str] = ()) -> dict[str, int]:
        """Return the number of passages that contain each token.

        `texts` contain the tokens, for engines that need their written forms.
        """
        ...

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the exact cosines of a vector with the given passages; skips passages without a vector.

        `vector` is rounded like the vectors of the index.
        """
        ...

    def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the stored vectors of passages; skips passages without a vector."""
        ...

    def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the k passages whose vectors are nearest, with their cosines; by cosine, then passage_id."""
        ...

    def nearest_papers(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the nearest passages, enough for k papers, or all passages."""
        limit = k
        while True:
            hits = self.nearest(vector, limit, filters=filters)
            if len({hit.doc_id for hit in hits}) >= k or len(hits) < limit:
                return hits
            limit *= 2

    @property
    def average_length(self) -> float:
        """The mean number of tokens of a passage; a fixed number if the engine does not know its terms."""
        return self.lexicon.average_length if self.lexicon else ASSUMED_LENGTH

    @property
    def passage_count(self) -> int:
        """The number of passages in the index."""
        ...

    def close(self) -> None:
        """Close files and connections, if there are any."""
        return
