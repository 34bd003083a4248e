"""The files that an index was made of, so that the next call reads only new and changed ones.

A file of this machine, beside the versions: it counts only for the version that it names, made by the same
release with the same options. Without it, all files are read again.
"""

import os
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from base.files.durable import write_durably
from indexer.corpora.readers.items import name_in_letters
from indexer.corpora.record_source import RecordSource
from indexer.files.parts import Column
from indexer.files.sums import hash_of_text, sealed, unsealed
from indexer.versions.manifest import Manifest

State: TypeAlias = list[str | int]  # values that change with a file


def absolute(name: str) -> str:
    """Return the absolute path of a file, with its links."""
    return os.path.abspath(name)  # noqa: PTH100


def state_of(name: str) -> State:
    """Return values that change with a file or its permissions; constant for paths of the hub."""
    try:
        status = Path(name).stat()
    except OSError:
        return [name]
    return [name, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


class SourceFile(NamedTuple):
    """A file: its state, empty if it had dead letters, and the hashes of its records' ids."""

    state: State
    ids: Column


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files of a version, by name."""

    version: str  # as `version_key`
    options: Mapping[str, Any]  # with which the files were read
    files: Mapping[str, SourceFile] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, version: str, options: Mapping[str, Any]) -> "SourceFiles":
        """Return the files of a version that were read with some options; none if that is unknown."""
        record = _record_in(path, version)
        if record is None or record["options"] != options:
            return cls(version, options)
        files = {
            name: SourceFile(state, np.frombuffer(b64decode(ids), np.int64))
            for name, state, ids in record["files"]
        }
        return cls(version, options, files)

    def updated(self, read: Mapping[str, SourceFile], ids: Column) -> dict[str, SourceFile]:
        """Return the files after a build: other files with one of its ids are to be read again next time."""
        kept = {name: file for name, file in self.files.items() if name not in read}
        again = {name: SourceFile([], kept[name].ids) for name in _sharing(kept, ids)}
        return kept | again | dict(read)

    def write(self, path: Path) -> None:
        """Replace the file."""
        files = [
            (name, file.state, b64encode(file.ids.tobytes()).decode()) for name, file in self.files.items()
        ]
        record = {"version": self.version, "options": self.options, "files": files}
        write_durably(path, sealed(record))


def _record_in(path: Path, version: str) -> dict[str, Any] | None:
    """Return the content of the file if it is about a version."""
    try:
        record = unsealed(path.read_bytes())
    except OSError:
        return None
    return record if record and record.get("version") == version else None


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
        owners = {name: name for name in corpus.sources}
        letters = {name_in_letters(name): name for name in corpus.sources}
        order = {name: place for place, name in enumerate(dict.fromkeys(map(absolute, corpus.sources)))}
        places = {name: order[absolute(name)] for name in corpus.sources}
        return cls(places, corpus.skipped, letters | owners)

    def file_of(self, origin: str) -> str:
        """Return the file of a record or dead letter, whose origin may be a member of an archive."""
        while origin and origin not in self.owners:
            origin = origin.rpartition("/")[0]
        return self.owners.get(origin, "")

    def add(self, origin: str, record_id: str) -> tuple[int, int]:
        """Add a record; return the place of its file, and the hash of its id."""
        file, hashed = self.file_of(origin), hash_of_text(record_id)
        self.ids.setdefault(file, array("q")).append(hashed)
        return self.places.get(file, -1), hashed

    def all_ids(self, removed: Iterable[str]) -> Column:
        """Return the hashes of all ids that were read, or removed."""
        return np.array([*map(hash_of_text, removed), *chain(*self.ids.values())], np.int64)

    def sources(self, states: Mapping[str, State]) -> dict[str, SourceFile]:
        """Return the files that were read, by absolute paths; files with dead letters without their states.

        A dead letter of unknown origin, which the engine refused, may belong to any file.
        """
        refused = self.places if "" in self.with_letters else self.with_letters
        return {
            absolute(name): SourceFile(
                [] if name in refused else states[absolute(name)], np.array(self.ids.get(name, ()), np.int64)
            )
            for name in self.places
            if name not in self.skipped
        }


def version_key(manifest: Manifest) -> str:
    """Return the identity of a version, also among indexes that had the same name."""
    return f"{manifest.engine} {manifest.version} {manifest.published}"


@lru_cache(4)
def _files_of_one_record(path: Path, version: str) -> dict[int, str]:
    """Return the files of a version that have one record, by the hash of its id."""
    record = _record_in(path, version) or {"files": ()}
    files = ((name, np.frombuffer(b64decode(ids), np.int64)) for name, _, ids in record["files"])
    return {int(ids[0]): name for name, ids in files if len(ids) == 1}


def file_of_record(path: Path, manifest: Manifest, record_id: str) -> Path | None:
    """Return the file, with its links, that a version was made of and that has only this record."""
    name = _files_of_one_record(path, version_key(manifest)).get(hash_of_text(record_id))
    return Path(name) if name else None


def keep_sources(path: Path, before: Manifest, after: Manifest) -> None:
    """Let the files of a version count for another one with the same records."""
    if record := _record_in(path, version_key(before)):
        write_durably(path, sealed(record | {"version": version_key(after)}))


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The files of a corpus, compared with those of the current version."""

    new: int = 0
    changed: int = 0
    again: int = 0  # unchanged, but read again, because they had dead letters or share ids with others
    unchanged: int = 0  # not read
    gone: tuple[str, ...] = ()  # their papers remain

    def described(self) -> str:
        """Describe the numbers in one line; "" if nothing was known before."""
        if not (self.changed or self.again or self.unchanged or self.gone):
            return ""
        parts = [f"{self.new:,} new", f"{self.changed:,} changed", f"{self.unchanged:,} unchanged, not read"]
        if self.again:
            parts.insert(2, f"{self.again:,} read again")
        if self.gone:
            more = ", …" if len(self.gone) > 1 else ""
            parts.append(f"{len(self.gone):,} gone ({self.gone[0]}{more}), whose papers remain")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """Files that need not be read, and the changes of the others."""

    names: frozenset[str] = frozenset()
    changes: FileChanges = field(default_factory=FileChanges)
    # Hashes of the skipped files' ids, sorted, with the last place of a file with the id.
    ids: Column = field(default_factory=lambda: np.empty(0, np.int64))
    places: Column = field(default_factory=lambda: np.empty(0, np.int64))

    def has_later(self, wanted: int, place: int) -> bool:
        """Check whether a skipped file after the place contains a record with the hash of an id."""
        found = int(np.searchsorted(self.ids, wanted))
        return found < self.ids.size and bool(self.ids[found] == wanted and self.places[found] > place)


def states_of(corpus: RecordSource) -> dict[str, State]:
    """Return the states of a corpus's files by absolute paths."""
    return {absolute(name): state_of(name) for name in corpus.sources}


def choose_skipped(known: SourceFiles, states: Mapping[str, State], paths: Sequence[str]) -> SkippedFiles:
    """Choose the files that are unchanged since they were read.

    An unchanged file is read nevertheless if one of its ids was also in a file that changed or is gone, as
    the record of the other file may have been indexed.

    Args:
        known: the files of the current version.
        states: the files of the corpus in their order, with their states, by absolute paths.
        paths: the paths of the corpus; known files below them that are not in the corpus are gone.
    """
    before = {name: known.files[name] for name in states if name in known.files}
    same = {name: file for name, file in before.items() if file.state == states[name]}
    gone = [name for name in known.files if name not in states and _is_below(name, paths)]
    again = [name for name, file in before.items() if not file.state]
    changed = before.keys() - {*same, *again}
    shared = _sharing(same, _joined(known.files[name] for name in (*changed, *again, *gone)))
    skipped = [name for name in same if name not in shared]
    place_of = {name: place for place, name in enumerate(states)}
    ids = _joined(known.files[name] for name in skipped)
    counts = np.array([len(known.files[name].ids) for name in skipped], np.int64)
    places = np.repeat(np.array([place_of[name] for name in skipped], np.int64), counts)
    order = np.lexsort((-places, ids))
    changes = FileChanges(
        new=len(states) - len(before),
        changed=len(changed),
        again=len(again) + len(same) - len(skipped),
        unchanged=len(skipped),
        gone=tuple(sorted(gone)),
    )
    return SkippedFiles(frozenset(skipped), changes, ids[order], places[order])


def _sharing(files: Mapping[str, SourceFile], ids: Column) -> set[str]:
    """Return the files with one of the ids."""
    wanted = set(ids.tolist()) if files else set()
    return {name for name, file in files.items() if not wanted.isdisjoint(file.ids.tolist())}


def _joined(files: Iterable[SourceFile]) -> Column:
    return np.concatenate([np.zeros(0, np.int64), *(file.ids for file in files)])


def _is_below(name: str, paths: Sequence[str]) -> bool:
    places = map(absolute, paths)
    return any(name == place or name.startswith(place.rstrip("/") + "/") for place in places)
