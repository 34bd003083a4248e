"""Records that changed in a repository, as a corpus for a build."""

from collections import Counter
from collections.abc import Collection, Generator
from functools import cached_property

from indexer.corpora.papers import Unit
from indexer.corpora.readers import LeftOut
from indexer.corpora.readers.items import Item, dead_letter
from indexer.corpora.readers.metadata_records import read_metadata
from indexer.harvesting.mirror import Mirror


class ChangedRecords:
    """The papers of a mirror that changed after a generation; each iteration reads all of them."""

    def __init__(self, mirror: Mirror, since: int) -> None:
        """Close the generation of the latest changes, so that `since` and `last` identify the content."""
        repository = mirror.state.repository
        self.last = mirror.close_generation()
        self.files = [f"{repository.name} {mirror.state.mirror_id} {since}-{self.last}"]
        self.format = repository.metadata_prefix
        self.formats = Counter({self.format: 1})
        self.left_out = LeftOut()
        self.unit: Unit = "paper"
        self.bytes_read = 0
        self.sources: dict[str, tuple[str, ...]] = {}  # records are chosen by their generation
        self.skipped: frozenset[str] = frozenset()
        self._mirror, self._since = mirror, since

    def skip(self, names: Collection[str]) -> None:
        """Leave out some files, of which there are none."""
        self.skipped = frozenset(names)

    @cached_property
    def total_bytes(self) -> int:
        """The stored bytes of the metadata."""
        return self._mirror.bytes_changed(self._since)

    def __iter__(self) -> Generator[Item, None, None]:
        host = self._mirror.state.repository.host
        self.bytes_read = 0
        for identifier, problem in self._mirror.problems(self._since):
            yield dead_letter(identifier, 0, problem)
        for identifier, metadata, stored_bytes in self._mirror.changed(self._since):
            self.bytes_read += stored_bytes
            yield read_metadata(metadata, identifier, host)
