"""Document frequencies and idf of the tokens of a question."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from retriever.engines import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REMEMBERED_FREQUENCIES = 10_000  # distinct document frequencies; most words have one of the lowest


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """Document frequencies of tokens, the number of passages they are counted in, and their mean length."""

    passages: int
    frequencies: Mapping[str, int] = field(default_factory=dict)
    average_length: float = 1.0  # tokens

    def idf(self, token: str) -> float:
        """Return the idf of a token; that of a document frequency of 0 if no passage holds it."""
        return inverse_document_frequency(self.frequencies.get(token, 0), self.passages)

    def known_idf(self, token: str) -> float:
        """Return the idf of a token, 0 if no passage holds it."""
        return self.idf(token) if self.frequencies.get(token) else 0.0


@lru_cache(REMEMBERED_FREQUENCIES)
def inverse_document_frequency(document_frequency: int, passages: int) -> float:
    """Return BM25's ln(1 + (N − df + .5) / (df + .5)), which is never negative."""
    # The document frequency of an engine may include deleted passages.
    held = min(document_frequency, passages)
    return math.log(1 + (passages - held + 0.5) / (held + 0.5))


def inverse_document_frequencies(
    document_frequencies: "NDArray[np.float64]", passages: int
) -> "NDArray[np.float64]":
    """Return the idf of each document frequency."""
    import numpy as np

    held = np.minimum(document_frequencies, passages)
    return np.asarray(np.log1p((passages - held + 0.5) / (held + 0.5)))


def term_statistics(
    engine: Engine,
    tokens: Iterable[str],
    known: TermStatistics | None = None,
    *,
    texts: Iterable[str] = (),
) -> TermStatistics:
    """Return the statistics of tokens; request unknown document frequencies from the engine.

    `texts` contain the tokens.
    """
    known = known or TermStatistics(engine.passage_count, average_length=engine.average_length)
    missing = sorted(set(tokens) - known.frequencies.keys())
    if not missing:
        return known
    found = engine.document_frequencies(missing, texts)
    return replace(known, frequencies={**known.frequencies, **found})
