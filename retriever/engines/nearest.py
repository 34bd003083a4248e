"""Vectors of the embedded index, mapped into memory: exact cosines, and the nearest of all places."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.encoders import Stored
from indexer.encoders.rounding import cosines, lengths_of
from indexer.vectors.parts import VectorParts
from retriever.engines import EngineHit
from retriever.engines.ordering import MARGIN, by_score, rounded_cosine, surely_first
from retriever.queries.boolean import Exact
from retriever.queries.filters import Filters

if TYPE_CHECKING:
    from retriever.engines.tantivy_passages import StoredPassages

FEW = 5_000  # passages that satisfy filters and are compared alone; more are filtered afterwards
READ_AT_ONCE = 64_000_000  # bytes of the matrix that are compared in one step


class NearestPassages:
    """The vectors of one version, open for comparing."""

    def __init__(self, vectors: VectorParts, passages: "StoredPassages") -> None:
        """Take the vectors, and the passages with their numbers."""
        self._vectors, self._passages = vectors, passages

    @cached_property
    def _lengths(self) -> list[NDArray[np.float64] | None]:
        """The lengths of the int8 vectors of each block, computed once."""
        blocks = self._vectors.blocks(READ_AT_ONCE)
        return [lengths_of(block) if block.dtype == np.int8 else None for block in blocks]

    def _places(self, passage_ids: Sequence[str]) -> dict[str, int]:
        """Return the place of the vector of each passage that has one."""
        numbers = self._passages.numbers(passage_ids)
        places = self._vectors.places(np.array(list(numbers.values()), np.int64))
        return {name: place for name, place in zip(numbers, places.tolist(), strict=True) if place >= 0}

    def similarities(self, vector: Stored, passage_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of a vector with that of each passage that has one."""
        places = self._places(passage_ids)
        if not places:
            return {}
        values = cosines(self._vectors.vectors(np.array(list(places.values()))), vector)
        return dict(zip(places, map(rounded_cosine, values.tolist()), strict=True))

    def of(self, passage_ids: Sequence[str]) -> dict[str, Stored]:
        """Return the vectors of passages; skips passages without a vector."""
        places = self._places(passage_ids)
        return dict(
            zip(places, self._vectors.vectors(np.array(list(places.values()), np.int64)), strict=True)
        )

    def nearest(self, vector: Stored, k: int, filters: Filters) -> list[EngineHit]:
        """Return the k nearest passages that satisfy filters, by cosine, then passage_id."""
        is_filtered = filters != Filters()
        allowed = self._passages.satisfying(filters, FEW + 1) if is_filtered else []
        if is_filtered and len(allowed) <= FEW:
            places = np.array(list(self._places(allowed).values()), np.int64)
            values = cosines(self._vectors.vectors(places), vector) if len(places) else np.zeros(0)
            return self._hits(places, values)[:k]
        values = self._all_cosines(vector)
        limit = k + MARGIN
        while True:
            places = _highest(values, limit)
            places = places[~self._vectors.is_removed[places]]
            whole = limit >= len(values)
            kept = surely_first(self._hits(places, values[places]), whole=whole)
            if is_filtered:
                among = Exact("passage_id", tuple(hit.passage_id for hit in kept))
                satisfying = set(self._passages.satisfying(filters, len(kept), among))
                kept = [hit for hit in kept if hit.passage_id in satisfying]
            if whole or len(kept) >= k:
                return kept[:k]
            limit *= 4

    def _all_cosines(self, vector: Stored) -> NDArray[np.float32]:
        """Return the cosines of all vectors; that of a removed passage is −∞."""
        blocks = self._vectors.blocks(READ_AT_ONCE)
        parts = [
            cosines(block, vector, of_rows) for block, of_rows in zip(blocks, self._lengths, strict=True)
        ]
        values: NDArray[np.float32] = np.concatenate([np.zeros(0, np.float32), *parts])
        values[self._vectors.is_removed] = -np.inf
        return values

    def _hits(self, places: NDArray[np.int64], values: NDArray[np.floating]) -> list[EngineHit]:
        names = self._passages.names(self._vectors.numbers[places].tolist())
        scores = map(rounded_cosine, values.tolist())
        return by_score([EngineHit(*name, score) for name, score in zip(names, scores, strict=True)])


def _highest(values: NDArray[np.float32], limit: int) -> NDArray[np.int64]:
    """Return the places of the highest values, unordered, and of those equal to the last."""
    if limit >= len(values):
        return np.arange(len(values))
    return np.flatnonzero(values >= np.partition(values, -limit)[-limit])
