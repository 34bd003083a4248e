"""The files that an index was made of, so that the next call reads only new and changed ones.

A file of this machine, beside the versions: it counts only for the version that it names, made by the same
release with the same options. Without it, all files are read again.
"""

import os
from array import array
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from base.files.durable import write_durably
from indexer.corpora.readers.items import name_in_letters
from indexer.corpora.record_source import RecordSource
from indexer.files.parts import Column
from indexer.files.sums import hash_of_text, sealed, unsealed
from indexer.versions.manifest import Manifest

NO_NUMBERS: Column = np.empty(0, np.int64)
UNKNOWN = -1  # place of the file of a record that is in no file
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


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files of a version, and the hashes of their records' ids."""

    version: str = ""  # as `version_key`
    options: Mapping[str, Any] = field(default_factory=dict)  # with which the files were read
    states: Mapping[str, State] = field(default_factory=dict)  # by path; empty for a file to be read again
    ids: Column = field(default_factory=lambda: NO_NUMBERS)
    files: Column = field(default_factory=lambda: NO_NUMBERS)  # the place in `states` of the file of each id

    @classmethod
    def read(cls, path: Path, version: str, options: Mapping[str, Any] | None = None) -> "SourceFiles":
        """Return the files of a version that were read with some options; none if that is unknown."""
        try:
            record = unsealed(path.read_bytes())
        except OSError:
            record = None
        if not record or record["version"] != version or options not in (None, record["options"]):
            return cls(version, options or {})
        ids, files = (np.frombuffer(b64decode(record[name]), np.int64) for name in ("ids", "files"))
        return cls(version, record["options"], record["states"], ids, files)

    def write(self, path: Path) -> None:
        """Replace the file."""
        ids, files = (b64encode(column.tobytes()).decode() for column in (self.ids, self.files))
        record = {"version": self.version, "options": self.options, "states": self.states}
        write_durably(path, sealed(record | {"ids": ids, "files": files}))

    def sharing(self, ids: Column) -> NDArray[np.bool_]:
        """Check for each file whether it has one of the ids."""
        found = np.zeros(len(self.states), np.bool_)
        found[self.files[np.isin(self.ids, ids)]] = True
        return found

    def after(
        self,
        version: str,
        states: Mapping[str, State],
        skipped: Collection[str],
        read: "ReadRecords",
        removed: Iterable[str],
    ) -> "SourceFiles":
        """Return the files after a build; other files with an id that was read or removed are to be read.

        A dead letter of unknown origin, which the engine refused, may belong to any file.
        """
        ids, everywhere = np.array(read.ids, np.int64), UNKNOWN in read.with_letters
        changed = np.append(ids, np.array([*map(hash_of_text, removed)], np.int64))
        shared = self.sharing(changed).tolist()
        left: dict[str, State] = {
            name: [] if is_shared else state
            for (name, state), is_shared in zip(self.states.items(), shared, strict=True)
            if name not in states or name in skipped
        }
        new: dict[str, State] = {
            name: [] if everywhere or place in read.with_letters else state
            for place, (name, state) in enumerate(states.items())
            if name not in skipped
        }
        places = {name: place for place, name in enumerate(left | new)}
        before = np.array([places[name] if name in left else UNKNOWN for name in self.states], np.int64)
        now = np.array([*(places[name] if name in new else UNKNOWN for name in states), UNKNOWN], np.int64)
        files = np.append(before[self.files], now[np.array(read.files, np.int64)])
        is_known = files != UNKNOWN
        return SourceFiles(
            version, self.options, left | new, np.append(self.ids, ids)[is_known], files[is_known]
        )


class ReadRecords:
    """The ids of the records that a build reads, with the places of their files in the corpus."""

    def __init__(self, corpus: RecordSource) -> None:
        """Start with the files of a corpus."""
        self.ids, self.files = array("q"), array("q")  # by record number
        self.with_letters: set[int] = set()
        order = {name: place for place, name in enumerate(dict.fromkeys(map(absolute, corpus.sources)))}
        places = {name: order[absolute(name)] for name in corpus.sources}
        self._places = {name_in_letters(each): place for each, place in places.items()} | places

    def place_of(self, origin: str) -> int:
        """Return the place of the file of a record or dead letter, which may be in an archive."""
        while origin and origin not in self._places:
            origin = origin.rpartition("/")[0]
        return self._places.get(origin, UNKNOWN)

    def add(self, origin: str, record_id: str) -> None:
        """Add a record."""
        self.ids.append(hash_of_text(record_id))
        self.files.append(self.place_of(origin))


def version_key(manifest: Manifest) -> str:
    """Return the identity of a version, also among indexes that had the same name."""
    return f"{manifest.engine} {manifest.version} {manifest.published}"


@lru_cache(4)
def _files_of_one_record(path: Path, version: str) -> dict[int, str]:
    """Return the files of a version that have one record, by the hash of its id."""
    found = SourceFiles.read(path, version)
    names, counts = list(found.states), np.bincount(found.files, minlength=len(found.states))
    alone = counts[found.files] == 1
    pairs = zip(found.ids[alone].tolist(), found.files[alone].tolist(), strict=True)
    return {hashed: names[file] for hashed, file in pairs}


def file_of_record(path: Path, manifest: Manifest, record_id: str) -> Path | None:
    """Return the file, with its links, that a version was made of and that has only this record."""
    name = _files_of_one_record(path, version_key(manifest)).get(hash_of_text(record_id))
    return Path(name) if name else None


def keep_sources(path: Path, before: Manifest, after: Manifest) -> None:
    """Let the files of a version count for another one with the same records."""
    known = SourceFiles.read(path, version_key(before))
    if known.states:
        replace(known, version=version_key(after)).write(path)


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
    ids: Column = field(default_factory=lambda: NO_NUMBERS)
    places: Column = field(default_factory=lambda: NO_NUMBERS)

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
    names, places = list(known.states), {name: place for place, name in enumerate(states)}
    place = np.array([places.get(name, UNKNOWN) for name in names], np.int64)
    is_gone = np.array([name not in places and _is_below(name, paths) for name in names], np.bool_)
    is_known = np.array([bool(state) for state in known.states.values()], np.bool_)
    is_same = np.array([known.states[name] == states.get(name) for name in names], np.bool_) & is_known
    is_there = place != UNKNOWN
    is_other = (is_there & ~is_same) | is_gone
    is_skipped = is_same & ~known.sharing(known.ids[is_other[known.files]])
    left = is_skipped[known.files]
    ids, last = known.ids[left], place[known.files[left]]
    order = np.lexsort((-last, ids))
    changes = FileChanges(
        new=len(states) - int(is_there.sum()),
        changed=int((is_there & is_known & ~is_same).sum()),
        again=int((is_there & ~is_known).sum() + is_same.sum() - is_skipped.sum()),
        unchanged=int(is_skipped.sum()),
        gone=tuple(sorted(compress(names, is_gone))),
    )
    return SkippedFiles(frozenset(compress(names, is_skipped)), changes, ids[order], last[order])


def _is_below(name: str, paths: Sequence[str]) -> bool:
    places = map(absolute, paths)
    return any(name == place or name.startswith(place.rstrip("/") + "/") for place in places)
