"""Encoders: texts to unit vectors, in this process or through an endpoint; one module per kind.

Also the cross-encoders, which read two texts together. A search without vectors does not load numpy.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from indexer.settings import EncoderSettings, RerankerSettings, StorageType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from indexer.encoders.cross_encoder import CrossEncoderReranker

    Vectors: TypeAlias = NDArray[np.float32]  # a row per text
    Stored: TypeAlias = NDArray[np.float32] | NDArray[np.int8]  # a row per vector, as stored
else:
    Vectors = Stored = object

Progress = Callable[[int], None]  # called with the number of texts encoded so far


@dataclass(frozen=True, slots=True)
class VectorFingerprint:
    """The dependencies of a set of vectors; vectors of different fingerprints cannot be compared."""

    model: str
    revision: str
    query_prefix: str
    passage_prefix: str
    pooling: str
    dimensions: int
    max_tokens: int
    storage: StorageType

    def as_record(self) -> dict[str, str | int]:
        """Return the values by name, for a manifest or a trace."""
        return asdict(self)


class Encoder(Protocol):
    """Texts to vectors. Prefixes, truncation, normalisation and precision are handled by the encoder."""

    fingerprint: VectorFingerprint

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for each question: float32 of shape (len(texts), dimensions)."""
        ...

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return a unit vector for each passage, in order: float32 of shape (len(texts), dimensions)."""
        ...

    def close(self) -> None:
        """Release the model or the connection."""
        ...


def open_encoder(settings: EncoderSettings) -> Encoder | None:
    """Open the configured encoder; None if none is configured.

    Raises:
        LibraryMissing, EncoderUnusable: it cannot be loaded or reached; the message contains the remedy.
    """
    if settings.provider == "local":
        from indexer.encoders.models import LocalEncoder

        return LocalEncoder(settings)
    if settings.provider == "endpoint":
        from indexer.encoders.endpoint import EndpointEncoder

        return EndpointEncoder(settings)
    return None


def open_reranker(settings: RerankerSettings) -> "CrossEncoderReranker | None":
    """Open the configured re-ranker; None if none is configured.

    Raises:
        LibraryMissing, EncoderUnusable: it cannot be loaded; the message contains the remedy.
    """
    if settings.provider == "none":
        return None
    from indexer.encoders.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(settings)
