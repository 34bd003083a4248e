"""Writers of passages into an engine's index: one protocol and a module per engine."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, Self, TypeAlias

from indexer.analysis.analysed import AnalysedPassage
from indexer.encoders import Stored, VectorFingerprint
from indexer.files.schema import StoredPassage

VectorKey: TypeAlias = Any  # a passage in the engine: its number or its id


class Writer(Protocol):
    """A version being written; a context manager that releases its resources.

    Added passages are durable after the next `commit`. Passages come in corpus order, with the passages of
    one record together.
    """

    replaced: int  # records of the base version deleted by `remove`

    def __enter__(self) -> Self:
        """Return the writer."""

    def __exit__(self, *_: object) -> None:
        """Close the writer; uncommitted passages are lost."""

    def add(self, passage: StoredPassage, analysed: AnalysedPassage, sequence: int) -> bytes:
        """Add a passage of the record at a place in the corpus; return its row of the forward index."""

    def remove(self, field: str, value: str) -> None:
        """Delete a record of the base version, before the passages that replace it are added.

        Its passages have the value in an exact field, doc_id or passage_id.
        """

    def held(self, field: str, values: Iterable[str]) -> set[str]:
        """Return the values that are in an exact field of the base version."""

    def stored_records(self, field: str, values: Sequence[str]) -> dict[str, list[StoredPassage]]:
        """Return the passages, with rows, of records of the base by their values in an exact field."""

    def last_written(self) -> int:
        """Return the highest committed sequence; −1 in an empty index."""

    def commit(self) -> None:
        """Make the added passages durable."""

    def finish(self) -> None:
        """Commit, and prepare the index for searching."""

    def stored(self) -> Iterator[StoredPassage]:
        """Yield every committed passage in corpus order, with its row of the forward index."""

    @property
    def terms(self) -> list[str]:
        """The terms of the version's lexicon, in the order of their numbers."""

    def start_vectors(
        self, fingerprint: VectorFingerprint, *, keep: bool
    ) -> Iterator[tuple[VectorKey, StoredPassage]]:
        """Yield the committed passages without a vector; `keep` says whether vectors of the base are kept."""

    def put_vectors(self, keys: Sequence[VectorKey], vectors: Stored) -> None:
        """Store the vectors of passages."""

    def finish_vectors(self) -> int:
        """Make the vectors durable; return the number of passages with one."""

    @property
    def passage_count(self) -> int:
        """The number of committed passages."""
