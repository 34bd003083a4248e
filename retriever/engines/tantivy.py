"""The embedded engine: tantivy's inverted index, no server."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from errno import ENOENT
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.encoders import Stored
from indexer.files.damage import map_damage_errors
from indexer.files.schema import StoredPassage
from indexer.files.stored import open_searcher
from indexer.forward.columns import ForwardColumns
from indexer.forward.lexicon import Lexicon
from indexer.versions.store.build_folder import FORWARD, LEXICON
from retriever.engines import Engine, EngineHit, NumberedRows
from retriever.engines.tantivy_passages import StoredPassages
from retriever.engines.tantivy_queries import compiled, filtered
from retriever.engines.tantivy_search import BestHits
from retriever.opening.worker_threads import check_cancelled
from retriever.queries.boolean import Query
from retriever.queries.filters import Filters

if TYPE_CHECKING:
    from indexer.vectors.parts import VectorParts
    from retriever.engines.nearest import NearestPassages

SEGMENT_FILES = ("term", "idx", "pos", "fast", "fieldnorm", "store")


class TantivyEngine(Engine):
    """One published version, open for reading; later versions do not affect it."""

    def __init__(
        self,
        folder: Path,
        vectors: "VectorParts | None" = None,
        *,
        name: str = "",
        check: Callable[[], None] | None = None,
    ) -> None:
        """Open the index in `folder`, with its vectors if there are any.

        `check` compares every byte, and raises IndexDamaged. It is called when a question fails, until it has
        succeeded once.

        Raises:
            FileNotFoundError: the folder is missing.
            IndexDamaged: a file is damaged. Later calls raise it too, if only they read the damaged part.
        """
        self._what, self._name = folder, name  # for a message
        self._check = cache(check) if check else None
        with map_damage_errors(folder, name):
            documents = _check_segments(folder)
            self._searcher = open_searcher(folder)
            columns = ForwardColumns(folder.with_name(FORWARD))
            self._lexicon = Lexicon.open(folder.with_name(LEXICON))
        self._passages = StoredPassages(self._searcher, columns, self._lexicon)
        self._hits = BestHits(self._searcher, self._passages, documents)
        self._vectors = _nearest_passages(vectors, self._passages) if vectors else None

    @property
    def is_local(self) -> bool:
        """Whether it runs within this process."""
        return True

    @property
    def passage_count(self) -> int:
        """The number of passages in the index."""
        return int(self._searcher.num_docs)

    def search(
        self, queries: Sequence[tuple[Query, int]], *, filters: Filters, collapse: bool, read: int = 0
    ) -> list[list[EngineHit]]:
        """Answer many queries in one call: for each (query, k) at most k hits by score, then passage_id."""
        del read  # found passages are read for their ids, and cached
        with self._describing_damage():
            return self._hits.of_all(queries, filters, collapse)

    def records(
        self, passage_ids: Iterable[str], doc_ids: Iterable[str] = ()
    ) -> tuple[dict[str, StoredPassage], dict[str, StoredPassage]]:
        """Return stored passages by passage_id, and by doc_id each paper's first."""
        wanted, papers = list(passage_ids), list(doc_ids)
        with self._describing_damage():
            return self._passages.by_id(wanted), self._passages.first_of(papers)

    def counts(self, asked: Sequence[tuple[Query, Filters]]) -> list[int]:
        """Count in one call the passages that each query matches under its filters."""
        queries = (filtered(compiled(query), filters) for query, filters in asked)
        with self._describing_damage():
            return [self._searcher.search(query, 1, count=True).count for query in queries]  # type: ignore[attr-defined]  # not in its stub

    def doc_ids(self, queries: Sequence[Query]) -> list[set[str]]:
        """Return for each query the papers with a passage that matches it."""
        with self._describing_damage():
            return [self._passages.papers_of(compiled(query)) for query in queries]

    def aggregate(self, query: Query, filters: Filters, aggregations: Mapping[str, Any]) -> dict[str, Any]:
        """Aggregate the passages that a query matches under filters."""
        narrowed = filtered(compiled(query), filters)
        with self._describing_damage():
            found: dict[str, Any] = self._searcher.aggregate(narrowed, dict(aggregations))
        return found

    @property
    def lexicon(self) -> Lexicon:
        """The numbers and document frequencies of the terms."""
        return self._lexicon

    def rows(self, passage_ids: Sequence[str]) -> NumberedRows:
        """Return the rows of passages in the order given; unknown ids are left out."""
        with self._describing_damage():
            return self._passages.rows(passage_ids)

    def document_frequencies(self, tokens: Iterable[str], texts: Iterable[str] = ()) -> dict[str, int]:
        """Return the number of passages that contain each token."""
        del texts  # the index holds tokens
        return self._lexicon.frequencies(tokens)

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the exact cosines of a vector with the given passages; skips passages without a vector."""
        with self._describing_damage():
            return self._vectors.similarities(vector, passage_ids) if self._vectors else {}

    def vectors(self, passage_ids: Iterable[str]) -> dict[str, Stored]:
        """Return the stored vectors of passages; skips passages without a vector."""
        with self._describing_damage():
            return self._vectors.of(list(passage_ids)) if self._vectors else {}

    def nearest(self, vector: Stored, k: int, *, filters: Filters) -> list[EngineHit]:
        """Return the k passages whose vectors are nearest, with their cosines; by cosine, then passage_id."""
        if self._vectors is None or k <= 0:
            return []
        with self._describing_damage():
            return self._vectors.nearest(vector, k, filters)

    def _describing_damage(self) -> AbstractContextManager[None]:
        """Describe damage found in a block; end the work before it if its caller has left."""
        check_cancelled()
        return map_damage_errors(self._what, self._name, check=self._check)


def _nearest_passages(vectors: "VectorParts", passages: StoredPassages) -> "NearestPassages":
    from retriever.engines.nearest import NearestPassages

    return NearestPassages(vectors, passages)


def _check_segments(folder: Path) -> int:
    """Return the number of documents, including deleted ones.

    Raises:
        FileNotFoundError: a file is missing that tantivy would only open for a query.
    """
    documents = 0
    for segment in json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]:
        documents += segment["max_doc"]
        name = segment["segment_id"].replace("-", "")
        for suffix in SEGMENT_FILES:
            path = folder / f"{name}.{suffix}"
            if not path.exists():
                raise FileNotFoundError(ENOENT, "no such file", str(path))
    return documents
