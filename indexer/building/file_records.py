"""The ids of the records of each file of a corpus, collected while it is read."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from indexer.building.source_files import SourceFile, State, absolute
from indexer.corpora.readers.files import is_archive
from indexer.corpora.readers.items import name_in_letters
from indexer.corpora.record_source import RecordSource
from indexer.files.sums import hash_of_text


@dataclass(slots=True)
class FileRecords:
    """The ids read from each file, and the files with dead letters; names are the corpus's own."""

    places: Mapping[str, int]  # of the files, by name
    skipped: frozenset[str] = frozenset()
    owners: Mapping[str, str] = field(default_factory=dict)  # files by the names in origins and dead letters
    ids: "dict[str, array[int]]" = field(default_factory=dict)
    with_letters: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, corpus: RecordSource) -> Self:
        """Start with the files of a corpus."""
        sources = corpus.sources
        owners = {each: name for name, copies in sources.items() for each in (name, *copies)}
        letters = {name_in_letters(each): name for each, name in owners.items()}
        order = {name: place for place, name in enumerate(dict.fromkeys(map(absolute, sources)))}
        places = {name: order[absolute(name)] for name in sources}
        return cls(places, corpus.skipped, letters | owners)

    def file_of(self, origin: str) -> str:
        """Return the file of a record or dead letter, whose origin may be a member of an archive."""
        if origin in self.owners:
            return self.owners[origin]
        place = origin.find("/")
        while place >= 0:
            if is_archive(origin[:place]) and origin[:place] in self.owners:
                return self.owners[origin[:place]]
            place = origin.find("/", place + 1)
        return ""

    def add(self, origin: str, record_id: str) -> tuple[int, int]:
        """Add a record; return the place of its file, and the hash of its id."""
        file, hashed = self.file_of(origin), hash_of_text(record_id)
        self.ids.setdefault(file, array("q")).append(hashed)
        return self.places.get(file, -1), hashed

    def add_letter(self, origin: str) -> None:
        """Note a dead letter."""
        self.with_letters.add(self.file_of(origin))

    def all_ids(self, removed: Iterable[str]) -> "array[int]":
        """Return the hashes of all ids that were read, or removed."""
        ids = array("q", map(hash_of_text, removed))
        for found in self.ids.values():
            ids.extend(found)
        return ids

    def sources(self, states: Mapping[str, State]) -> dict[str, SourceFile]:
        """Return the files that were read, by absolute paths; files with dead letters without their states.

        A dead letter of unknown origin, which the engine refused, may belong to any file.
        """
        is_known = "" not in self.with_letters
        return {
            absolute(name): SourceFile(
                states[absolute(name)] if is_known and name not in self.with_letters else [],
                self.ids.get(name, array("q")),
            )
            for name in self.places
            if name not in self.skipped
        }
