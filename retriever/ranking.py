"""The ranking of a question's candidates, and how it came about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from retriever.engines import EngineHit
from retriever.engines.ordering import first_of_each_paper
from retriever.order.candidates import Scale
from retriever.order.scored import Scored
from retriever.order.second_hop import Hop
from retriever.pool import CandidatePool

RankedHits = Sequence[tuple[EngineHit, float]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits with their scores, best first, and how they came about.

    `scored` holds the candidates that were ordered by their features, the best first; `replaced` names the
    passages that a hit stands for, found by them and shown by another.
    """

    hits: tuple[tuple[EngineHit, float], ...] = ()
    scored: Mapping[str, Scored] | None = None  # None where the method computes no features
    cosines: Mapping[str, float] = field(default_factory=dict)
    by_vectors: bool = False  # whether cosines had a part in the order
    reranker: str = ""  # the cross-encoder that ordered the first hits
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    losses: Mapping[str, float] = field(default_factory=dict)  # score lost to constraints, by passage_id
    feedback: Mapping[str, float] = field(default_factory=dict)  # terms of the best passages
    scale: Scale | None = None  # of the candidates' BM25
    hop: Hop | None = None  # what a second search went by
    pool: CandidatePool | None = None  # with what the second search found

    def cut(self, k: int) -> "Ranking":
        """Return the ranking of the first k hits."""
        return replace(self, hits=self.hits[:k])


def collapsed(hits: RankedHits) -> tuple[tuple[EngineHit, float], ...]:
    """Keep the first hit of each paper, with its score."""
    return tuple(first_of_each_paper(hits, lambda ranked: ranked[0].doc_id))
