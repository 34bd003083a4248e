"""Stores of index versions: one class and a module per engine; `engines.py` opens them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from base.errors import InvalidCall, Remedy, ResourceError
from base.progress import Progress, no_progress
from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.errors import IndexDamaged, UnknownIndex
from indexer.files.schema import StoredPassage
from indexer.settings import EngineName
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import DICTIONARY, BuildFolder

if TYPE_CHECKING:  # not needed for searching
    from indexer.vectors.parts import VectorParts
    from indexer.versions.writers import Writer


# Engines with versions as files: the pointer is read without a server, the vectors are files that a new
# version can replace, and a backup copies the files.
LOCAL_ENGINES: frozenset[EngineName] = frozenset({"tantivy"})
Analysis: TypeAlias = tuple[str, Decompound, UserDictionary | None]  # analyzer, compounds, dictionary


@dataclass(frozen=True, slots=True)
class Pointer:
    """Identity of the current version; differs for a re-created index with the same version number."""

    version: int
    mark: str


class IndexStore(ABC):
    """The versions of one index, one of which is current; a context manager that closes connections.

    Methods that change an index require `writing()`, except `rollback` and `delete`, which acquire it
    themselves. A published version never changes; a version that is pruned while it is read raises
    FileNotFoundError or VersionGone.
    """

    name: str
    engine: EngineName
    local: BuildFolder  # files on this machine
    place: str  # location of its indexes, for messages

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        return

    @abstractmethod
    def all_names(self) -> list[str]:
        """Return the names of the published indexes at this location, including damaged ones, in order."""

    @abstractmethod
    def pointer(self) -> Pointer | None:
        """Return the identity of the current version, to detect changes; None before the first.

        Raises:
            IndexDamaged: there are versions, but no record of the current one.
        """

    @abstractmethod
    def versions(self) -> list[int]:
        """List the published versions in order, even without a record of the current one."""

    def current(self) -> int | None:
        """Return the number of the current version; as `pointer`."""
        pointer = self.pointer()
        return pointer.version if pointer else None

    def next_version(self) -> int:
        """Return the number after the highest published one."""
        return max(self.versions(), default=0) + 1

    def lost_pointer(self, reason: str) -> IndexDamaged:
        """Return the error for an index without a record of its current version; nothing is removed."""
        versions = self.versions()
        there = f"its versions: {', '.join(map(str, versions))}" if versions else "no version is left"
        return IndexDamaged(
            f"index {self.name!r}: {reason}; {there}",
            remedy=(Remedy.POINT_TO, Remedy.DELETE) if versions else Remedy.DELETE,
            index=self.name,
        )

    def require_current(self) -> int:
        """Return the number of the current version; UnknownIndex, with existing names, before the first."""
        if (version := self.current()) is not None:
            return version
        there: list[str] = []
        with suppress(ResourceError, OSError):
            there = self.all_names()
        raise UnknownIndex(
            f"no index {self.name!r} {self.place}", remedy=Remedy.CREATE, index=self.name, there=there
        )

    def manifest(self) -> Manifest:
        """Read the manifest of the current version.

        If the version is pruned before its manifest is read, the manifest of its successor is read.

        Raises:
            UnknownIndex: no version was published.
            IndexDamaged: the manifest is unreadable.
            IndexMismatch: the format is older or newer.
        """
        while True:
            version = self.require_current()
            try:
                return self.manifest_of(version)
            except IndexDamaged:
                if self.current() == version:
                    raise

    @abstractmethod
    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version; raises as `manifest`."""

    def holding(self, version: int) -> AbstractContextManager[object]:
        """Keep a version from being pruned while it is read, at most until the process ends.

        The version is reliably held if `pointer` is unchanged afterwards. A cluster holds no versions.

        Raises:
            FileNotFoundError: the version was pruned.
        """
        return nullcontext(version)

    @abstractmethod
    def address(self, manifest: Manifest) -> str:
        """Return the location of a version: a folder, or an index in a cluster."""

    @abstractmethod
    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order.

        Raises:
            VersionGone: the version was pruned.
            IndexDamaged: a passage is damaged.
        """

    @abstractmethod
    def companion_path(self, manifest: Manifest, name: str) -> Path:
        """Return the path of a companion file (`build_folder.COMPANIONS`); FileNotFoundError without it."""

    def dictionary(self, manifest: Manifest) -> UserDictionary | None:
        """Return the user dictionary of a version; IndexDamaged if it is unreadable or has another hash."""
        if not manifest.dictionary:
            return None
        reason = "the index was built with another one"
        try:
            path = self.companion_path(manifest, DICTIONARY)
            dictionary = parse_user_dictionary(path.read_bytes(), str(path))
            if dictionary.hash == manifest.dictionary:
                return dictionary
        except (InvalidCall, OSError) as error:
            reason = str(error)
        raise IndexDamaged(
            f"the dictionary of index {self.name!r}, version {manifest.version} cannot be used: {reason}",
            remedy=Remedy.REBUILD_WITH_DICTIONARY,
            index=self.name,
        )

    def vectors(self, manifest: Manifest) -> "VectorParts | None":  # noqa: ARG002
        """Open the vectors of a version; None if it has none, or if the engine stores them."""
        return None

    def check_files(  # noqa: B027 - the servers of a cluster check their own files
        self, manifest: Manifest, *, every_byte: bool = False, names: Collection[str] = ()
    ) -> None:
        """Compare the files with the manifest: all sizes, and the checksums of small files, or of all.

        `names`: large files that are compared, too. A version derived from this one needs that for the files
        of which it makes others, whose new checksums would hide damage.

        Raises:
            IndexDamaged: a file is missing or differs.
        """

    @abstractmethod
    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        """Compare every byte of a version with its manifest; return one line per difference."""

    @abstractmethod
    def held(self) -> AbstractContextManager[None]:
        """Acquire the exclusive right to write, and complete the publication of a killed process.

        Raises:
            IndexBusy: another process has it.
            IndexNotWritten: a system error, also of the block.
        """

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the index for writing; raises as `held` and `pointer`."""
        with self.held():
            self.current()
            yield

    @abstractmethod
    def start_building(
        self, base: Manifest | None, version: int, analysis: Analysis, plan: dict[str, Any]
    ) -> None:
        """Start to build a version: from the passages of another one, or empty with an analysis.

        The records that a killed build with the same plan has read are kept.
        """

    @abstractmethod
    def writer(self, base: Manifest | None) -> "Writer":
        """Open the build for writing."""

    @abstractmethod
    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Publish the finished build as the current version, and prune all but the last `keep` versions.

        Versions abandoned by a rollback are pruned too. A version held by a reader is no longer listed, and
        removed by a later `writing` when it is free. Return the manifest with the files' checksums.
        """

    @abstractmethod
    def discard_building(self) -> None:
        """Remove the unfinished build, and the index if it was never published."""

    @abstractmethod
    def point_to(self, version: int) -> None:
        """Make a version the current one."""

    def rollback(self, version: int | None = None) -> int:
        """Make a version current, by default the previous one; return its number.

        With a number, this also repairs an index without a record of its current version.

        Raises:
            InvalidCall: the version does not exist.
            IndexDamaged: that version is unreadable too.
            IndexMismatch: it has another format, which this program cannot read.
        """
        with suppress(IndexDamaged):
            self.require_current()
        with self.held():
            there = self.versions()
            if version is None:
                current = self.require_current()
                earlier = [number for number in there if number < current]
                if not earlier:
                    what = f"index {self.name!r} has no version before {current} to roll back to"
                    raise InvalidCall(what, index=self.name)
                version = earlier[-1]
            if version not in there:
                what = f"index {self.name!r} has no version {version}, only {', '.join(map(str, there))}"
                raise InvalidCall(what, index=self.name)
            self.check_files(self.manifest_of(version))
            self.point_to(version)
        return version

    @abstractmethod
    def delete(self) -> None:
        """Remove the index with all of its versions, or an unfinished first build."""
