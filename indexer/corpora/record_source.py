"""The protocol of a corpus: records that a build reads, from files or from another store."""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, Protocol

from indexer.corpora.papers import Unit
from indexer.corpora.readers.files import LeftOut


class RecordSource(Protocol):
    """Records of a corpus. Each iteration reads them from the beginning, in the same order.

    A class of records that are in no files inherits the properties of files.
    """

    @property
    def files(self) -> Sequence[str]:
        """Paths of the files; a name that is no path identifies its content."""

    @property
    def format(self) -> str:
        """The formats of the records, joined by commas."""

    @property
    def unit(self) -> Unit:
        """The kind of a record."""

    @property
    def formats(self) -> Mapping[str, int]:
        """The number of files by format."""
        return {}

    @property
    def left_out(self) -> LeftOut:
        """Files that are not read."""
        return LeftOut()

    @property
    def total_bytes(self) -> int:
        """The bytes to read, 0 if unknown."""
        return 0

    @property
    def bytes_read(self) -> int:
        """The bytes read by the last iteration."""
        return 0

    @property
    def sources(self) -> Sequence[str]:
        """The files that can be skipped, in their order."""
        return ()

    @property
    def skipped(self) -> frozenset[str]:
        """The files that are not read."""
        return frozenset()

    def skip(self, names: Collection[str]) -> None:  # noqa: ARG002 - records in no files
        """Leave out some files in further iterations."""
        return

    def __iter__(self) -> Generator[Any, None, None]:
        """Yield papers and dead letters; of another version records with their passages."""
