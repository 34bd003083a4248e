"""How rare the tokens of a question are in an index."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from retriever.engines import Engine

REMEMBERED_FREQUENCIES = 10_000  # of which most words share one of the lowest


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Document frequencies of tokens, and the number of passages they are counted in."""

    passages: int
    frequencies: Mapping[str, int] = field(default_factory=dict)

    def idf(self, token: str) -> float:
        """Return the idf of a token whose frequency is known, 0 where no passage holds it."""
        frequency = self.frequencies.get(token, 0)
        return inverse_document_frequency(frequency, self.passages) if frequency else 0.0


@lru_cache(REMEMBERED_FREQUENCIES)
def inverse_document_frequency(document_frequency: int, passages: int) -> float:
    """Return BM25's ln(1 + (N − df + .5) / (df + .5)), which is never negative."""
    # An engine may count deleted passages among those that hold a word.
    held = min(document_frequency, passages)
    return math.log(1 + (passages - held + 0.5) / (held + 0.5))


async def term_statistics(
    engine: Engine, tokens: Iterable[str], known: TermStatistics | None = None
) -> TermStatistics:
    """Return the statistics of tokens; the engine is asked for those that are not known."""
    known = known or TermStatistics(engine.passage_count)
    missing = sorted(set(tokens) - known.frequencies.keys())
    if not missing:
        return known
    found = await engine.document_frequencies(missing)
    return replace(known, frequencies={**known.frequencies, **found})
