"""The ranking of a question's candidates, and how it came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from retriever.engines import EngineHit
from retriever.engines.ordering import first_of_each_paper
from retriever.features import Features

RankedHits = Sequence[tuple[EngineHit, float]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits with their scores, best first.

    `features` and `cosines` are those of the candidates that were ordered by them, in the order in which they
    were found; `replaced` names the passages that a hit stands for, found by them and shown by another.
    """

    hits: tuple[tuple[EngineHit, float], ...] = ()
    features: Mapping[str, Features] | None = None  # None where the method computes none
    cosines: Mapping[str, float] = field(default_factory=dict)
    by_vectors: bool = False  # whether cosines had a part in the order
    reranker: str = ""  # the cross-encoder that ordered the first hits
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    losses: Mapping[str, float] = field(default_factory=dict)  # score lost to constraints, by passage_id

    def cut(self, k: int) -> "Ranking":
        """Return the ranking of the first k hits."""
        return replace(self, hits=self.hits[:k])


def collapsed(hits: RankedHits) -> tuple[tuple[EngineHit, float], ...]:
    """Keep the first hit of each paper, with its score."""
    return tuple(first_of_each_paper(hits, lambda ranked: ranked[0].doc_id))
