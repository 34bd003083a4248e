"""Stores of the versions of an index: one protocol, a file an engine; `engines.py` opens them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from base.errors import InvalidCall, Remedy, ResourceError
from base.progress import Progress, no_progress
from indexer.analysis import Decompound, UserDictionary
from indexer.corpora.papers import Unit
from indexer.errors import IndexDamaged, IndexMismatch, UnknownIndex
from indexer.files.damage import map_write_errors
from indexer.files.schema import StoredPassage
from indexer.settings import EngineName
from indexer.versions.manifest import Manifest
from indexer.versions.store.build_folder import BuildFolder

if TYPE_CHECKING:  # a search needs none of them
    from indexer.corpora.readers import DeadLetter
    from indexer.vectors.store import VectorStore
    from indexer.versions.writers import Writer


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine does itself."""

    holds_vectors: bool  # with the passages, for good: those of another encoder need a rebuild
    snapshots: bool  # it takes and restores backups
    local: bool  # its versions are files: to look at the pointer, or to hold a version, asks no server


CAPABILITIES: dict[EngineName, Capabilities] = {
    "tantivy": Capabilities(holds_vectors=False, snapshots=False, local=True),
    "elasticsearch": Capabilities(holds_vectors=True, snapshots=True, local=False),
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine finds a version."""

    index: str  # a folder, or an index in a cluster
    shards: int = 1


@dataclass(frozen=True, slots=True)
class Pointer:
    """Which version answers; another one also where it is of the same number, but of an index made anew."""

    version: int
    mark: str


def ignore_refusal(_: "DeadLetter") -> None:
    """Take no note of a passage that the engine refuses."""


class IndexStore(Protocol):
    """The versions of one index, of which one answers; a context manager that closes connections.

    What changes an index wants `writing()` to be held, but `rollback` and `delete`, which hold it themselves.
    A published version never changes; one that is cleared away while it is read is a
    FileNotFoundError or VersionGone.
    """

    name: str
    engine: EngineName
    capabilities: Capabilities
    local: BuildFolder  # what lies on this machine
    place: str  # where its indexes are, for a message

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        return

    def current(self) -> int | None:
        """Return the number of the version that answers, None before the first.

        Raises:
            IndexDamaged: there are versions, and nothing says which of them answers.
        """

    def lost_pointer(self, reason: str) -> IndexDamaged:
        """Return the error of an index of which nothing says which version answers; nothing is cleared."""
        versions = self.versions()
        there = f"its versions: {', '.join(map(str, versions))}" if versions else "no version is left"
        return IndexDamaged(
            f"index {self.name!r}: {reason}; {there}",
            remedy=(Remedy.POINT_TO, Remedy.DELETE) if versions else Remedy.DELETE,
            index=self.name,
        )

    def pointer(self) -> Pointer | None:
        """Return what changes when another version answers or the index is made anew; None without one."""

    def holding(self, version: int) -> AbstractContextManager[None]:
        """Keep a version from being cleared away while it is read, at most until the process ends.

        It is held for certain where `pointer` has not changed by then. Who may not write to a cluster cannot
        hold it.

        Raises:
            FileNotFoundError: it was cleared away.
        """

    def require_current(self) -> int:
        """Return the number of the version that answers; UnknownIndex before the first."""
        version = self.current()
        if version is None:
            raise self.unknown()
        return version

    def unknown(self) -> UnknownIndex:
        """Return the error that says that there is no such index, and which there are."""
        there: list[str] = []
        with suppress(ResourceError, OSError):
            there = self.all_names()
        return UnknownIndex(
            f"no index {self.name!r} {self.place}", remedy=Remedy.CREATE, index=self.name, there=there
        )

    def all_names(self) -> list[str]:
        """Name the indexes of the same place that have a published version, damaged ones too, in order."""

    def versions(self) -> list[int]:
        """List the published versions in order, also where nothing says which of them answers."""

    def next_version(self) -> int:
        """Return the number after the highest ever published here."""

    def manifest(self) -> Manifest:
        """Read the manifest of the version that answers.

        A version may be cleared away between the look at its number and the look at its manifest; then
        another answers, whose manifest is read.

        Raises:
            UnknownIndex: nothing was published.
            IndexDamaged: it cannot be read.
            IndexMismatch: it is of an older or newer format.
        """
        while True:
            version = self.require_current()
            try:
                return self.manifest_of(version)
            except IndexDamaged:
                if self.current() == version:
                    raise

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version; raises as `manifest`."""

    def address(self, manifest: Manifest) -> Address:
        """Return where the engine finds a version."""

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order.

        Raises:
            VersionGone: it was cleared away.
            IndexDamaged: a passage is broken.
        """

    def companion_path(self, manifest: Manifest, name: str) -> Path:
        """Return one of the files that are kept with a version (`build_folder.COMPANIONS`).

        Raises:
            FileNotFoundError: it is missing. Versions of earlier releases have no citation graph; the
                manifest lists the files that there are.
        """

    def dictionary(self, manifest: Manifest) -> UserDictionary | None:
        """Return the user's dictionary of a version; IndexDamaged where it cannot be read or is another."""
        if not manifest.dictionary:
            return None
        try:
            dictionary = self.read_dictionary(manifest.version)
            reason = "it is not the one that the index was built with"
        except (InvalidCall, OSError) as error:
            dictionary, reason = None, str(error)
        if dictionary is None or dictionary.hash != manifest.dictionary:
            raise IndexDamaged(
                f"the dictionary of index {self.name!r}, version {manifest.version} cannot be used: {reason}",
                remedy=Remedy.REBUILD_WITH_DICTIONARY,
                index=self.name,
            )
        return dictionary

    def read_dictionary(self, version: int) -> UserDictionary:
        """Read the user's dictionary of a version that has one; InvalidCall where its lines are wrong."""

    def vectors(self, manifest: Manifest) -> "VectorStore | None":
        """Open the vectors of a version; None where it has none, or the engine holds them."""

    def check_files(self, manifest: Manifest, *, every_byte: bool = False) -> None:
        """Compare what lies there with the manifest: all sizes, and some of the bytes or every one.

        Who only reads can do with some. What is made from a version needs every one: it gets sums of its own,
        and nobody would notice later.

        Raises:
            IndexDamaged: a file is missing or differs.
        """

    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        """Compare every byte of a version with its manifest; return what differs, a line each."""

    def held(self) -> AbstractContextManager[None]:
        """Keep all others from writing; IndexBusy at once where another process does."""

    def recover(self) -> None:
        """Mend what a killed process left half done; the index is held."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the index for writing, and mend what a killed process left half done.

        Raises:
            IndexBusy: another process holds it.
            IndexDamaged: nothing says which version answers.
        """
        with self.held():
            with map_write_errors(self.name):
                self.recover()
            yield

    def can_resume(self) -> bool:
        """Tell whether what an unfinished build wrote is still there."""

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Begin a build anew: from the passages of a version, or from empty with an analysis."""

    def writer(
        self, unit: Unit, base: Manifest | None, refuse: "Callable[[DeadLetter], None]" = ignore_refusal
    ) -> "Writer":
        """Open the build for writing; `refuse` is called with passages that the engine will not take."""

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Make the finished build a version that answers, and clear away all but the last `keep`.

        Versions that were rolled back from are cleared away too. One that is held is no more listed, and
        cleared away by the next `writing` that finds it free. Return the manifest with its files' sums.
        """

    def discard_building(self) -> None:
        """Remove the unfinished build, and the index with it where nothing was ever published."""

    def rollback(self, version: int | None = None) -> int:
        """Let a version answer again, without its number the one before; return its number.

        With a number this mends an index of which nothing says which version answers.

        Raises:
            InvalidCall: there is no such version.
            IndexDamaged: that version cannot be read either.
        """
        self._check_there()
        with self.held(), map_write_errors(self.name):
            with suppress(IndexDamaged):
                self.recover()
            target = self._rollback_target() if version is None else version
            if target not in self.versions():
                raise InvalidCall(
                    f"index {self.name!r} has no version {target}, only "
                    f"{', '.join(map(str, self.versions()))}",
                    index=self.name,
                )
            with suppress(IndexMismatch):  # nothing can be told of another format
                self.check_files(self.manifest_of(target))
            self.point_to(target)
        return target

    def _rollback_target(self) -> int:
        current = self.require_current()
        earlier = [version for version in self.versions() if version < current]
        if not earlier:
            raise InvalidCall(
                f"index {self.name!r} has no version before {current} to go back to", index=self.name
            )
        return earlier[-1]

    def _check_there(self) -> None:
        """Raise UnknownIndex where there is no version, whole or damaged."""
        with suppress(IndexDamaged):
            self.require_current()

    def point_to(self, version: int) -> None:
        """Let a version answer from now on."""

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
