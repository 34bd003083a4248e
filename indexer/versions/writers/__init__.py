"""Writers: passages into an engine's index. One protocol, a file an engine."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, Self

from indexer.analysis.analysed import AnalysedPassage
from indexer.encoders import VectorFingerprint
from indexer.files.schema import StoredPassage
from indexer.vectors.store import VectorStore


class Writer(Protocol):
    """A version being written; a context manager that gives everything free at the end.

    What was added is kept from the next `commit` on. Passages come in the order of the corpus, those of one
    record together.
    """

    replaced: int  # records of the version it started from that `replace` took out

    def __enter__(self) -> Self:
        """Return the writer."""
        ...

    def __exit__(self, *_: object) -> None:
        """Let go; what was not committed is lost."""
        ...

    def add(self, passage: StoredPassage, analysed: AnalysedPassage, sequence: int) -> bytes:
        """Add a passage, and return its row of the forward index.

        `sequence` is its record's place in the corpus.
        """
        ...

    def replace(self, field: str, value: str) -> None:
        """Take out what the version it started from holds of a record, before its passages are added."""
        ...

    def held(self, field: str, values: Iterable[str]) -> set[str]:
        """Return which of the values stand in an exact field of the version it started from."""
        ...

    def last_written(self) -> tuple[int, str | None]:
        """Return the highest sequence committed and the key of that record; (-1, None) in an empty index."""
        ...

    def commit(self) -> None:
        """Make what was added last."""
        ...

    def finish(self) -> None:
        """Commit, and put the index into the form in which it will be searched."""
        ...

    def stored(self) -> Iterator[StoredPassage]:
        """Yield every stored passage in corpus order, with its row of the forward index."""
        ...

    @property
    def terms(self) -> list[str]:
        """The terms of the version's lexicon, in the order of their numbers."""
        ...

    def without_vector(self, fingerprint: VectorFingerprint) -> Iterator[StoredPassage]:
        """Yield the committed passages for which the engine itself holds no vector of that fingerprint."""
        ...

    def place_vectors(self, sources: Sequence[VectorStore]) -> int:
        """Give the committed passages their vectors, from the first source that has each.

        Return how many passages then have one.
        """
        ...

    @property
    def passage_count(self) -> int:
        """How many passages are committed."""
        ...
