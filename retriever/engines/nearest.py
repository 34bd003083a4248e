"""Vectors of the embedded index, mapped into memory: exact cosines, and the nearest of all rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.encoders import Stored
from indexer.encoders.rounding import cosines
from indexer.vectors.store import VectorStore
from retriever.engines import EngineHit
from retriever.engines.ordering import MARGIN, by_score, rounded_cosine, surely_first

if TYPE_CHECKING:
    from retriever.engines.tantivy_search import Satisfying

READ_AT_ONCE = 64_000_000  # bytes of the matrix that are compared in one step


class NearestPassages:
    """The vectors of one version, open for comparing."""

    def __init__(self, store: VectorStore) -> None:
        """Map the matrix."""
        self._store = store
        self._matrix = store.matrix()

    def close(self) -> None:
        """Close the files."""
        self._store.close()

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of a vector with that of each passage that has one."""
        rows = self._store.rows_of(passage_ids)
        if not rows:
            return {}
        values = cosines(self._matrix[list(rows.values())], vector)
        return dict(zip(rows, map(rounded_cosine, values.tolist()), strict=True))

    def of(self, passage_ids: Sequence[str]) -> dict[str, Stored]:
        """Return the vectors of passages; skips passages without a vector."""
        return {name: self._matrix[row].copy() for name, row in self._store.rows_of(passage_ids).items()}

    def nearest(self, vector: Stored, k: int, allowed: "Satisfying | None") -> list[EngineHit]:
        """Return the k nearest of the `allowed` passages, by cosine, then passage_id."""
        if allowed and (few := allowed.all_if_few()) is not None:
            rows = np.array(list(self._store.rows_of(few).values()), np.int64)
            return self._hits(rows, cosines(self._matrix[rows], vector))[:k] if len(rows) else []
        values = self._all_cosines(vector)
        limit = k + MARGIN
        while True:
            rows = _highest(values, limit)
            whole = len(rows) == len(values)
            kept = surely_first(self._hits(rows, values[rows]), whole=whole)
            if allowed:
                wanted = allowed.among([hit.passage_id for hit in kept])
                kept = [hit for hit in kept if hit.passage_id in wanted]
            if whole or len(kept) >= k:
                return kept[:k]
            limit *= 4

    def _all_cosines(self, vector: Stored) -> NDArray[np.float32]:
        step = max(1, READ_AT_ONCE // max(1, self._matrix.shape[1] * self._matrix.itemsize))
        parts = [
            cosines(self._matrix[start : start + step], vector) for start in range(0, len(self._matrix), step)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _hits(self, rows: NDArray[np.int64], values: NDArray[np.float32]) -> list[EngineHit]:
        named = self._store.named(rows.tolist())
        scores = map(rounded_cosine, values.tolist())
        return by_score([EngineHit(*names, score) for names, score in zip(named, scores, strict=True)])


def _highest(values: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Return the places of the highest values, unordered."""
    if limit >= len(values):
        return np.arange(len(values))
    return np.argpartition(-values, limit - 1)[:limit]
