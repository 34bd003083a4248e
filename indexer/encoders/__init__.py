"""Encoders: texts to unit vectors, in this process or through an endpoint; one module per kind.

Also the re-ranker, which reads a question and a text together.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from base.errors import InvalidCall
from indexer.encoders.arrays import Vectors
from indexer.settings import EncoderSettings, RerankerSettings, StorageType

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


class Reranker(Protocol):
    """Scores of texts for a question; higher is better."""

    model: str
    revision: str

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return a score for each text, in order: float32 of shape (len(texts),)."""
        ...

    def close(self) -> None:
        """Release the model."""
        ...


def open_encoder(settings: EncoderSettings) -> Encoder | None:
    """Open the configured encoder; None if none is configured.

    Raises:
        LibraryMissing, EncoderUnusable: it cannot be loaded or reached; the message contains the remedy.
    """
    kind = settings.provider
    if kind == "none":
        return None
    if kind not in ENCODERS:
        raise InvalidCall(f"no encoder {kind!r}; there are {', '.join(('none', *ENCODERS))}")
    return ENCODERS[kind](settings)


def open_reranker(settings: RerankerSettings) -> Reranker | None:
    """Open the configured re-ranker; None if none is configured.

    Raises:
        LibraryMissing, EncoderUnusable: it cannot be loaded; the message contains the remedy.
    """
    if settings.provider == "none":
        return None
    from indexer.encoders.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(settings)


def _open_local(settings: EncoderSettings) -> Encoder:
    from indexer.encoders.local import LocalEncoder

    return LocalEncoder(settings)


def _open_endpoint(settings: EncoderSettings) -> Encoder:
    from indexer.encoders.endpoint import EndpointEncoder

    return EndpointEncoder(settings)


ENCODERS: dict[str, Callable[[EncoderSettings], Encoder]] = {
    "local": _open_local,
    "endpoint": _open_endpoint,
}
