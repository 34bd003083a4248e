"""Where the versions of an index live: one protocol, a file an engine; `indexer.store.engines` opens them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from indexer.analysis import Decompound, UserDictionary
from indexer.manifest import Manifest
from indexer.papers import Unit
from indexer.schema import StoredPassage
from indexer.settings import EngineName
from indexer.store.build_folder import BuildFolder

if TYPE_CHECKING:  # a search needs none of them
    from indexer.readers import DeadLetter
    from indexer.vectors.store import VectorStore
    from indexer.writers import Writer


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine does itself."""

    holds_vectors: bool  # with the passages, for good: those of another encoder need a rebuild
    snapshots: bool  # it takes and restores backups


CAPABILITIES: dict[EngineName, Capabilities] = {
    "tantivy": Capabilities(holds_vectors=False, snapshots=False),
    "elasticsearch": Capabilities(holds_vectors=True, snapshots=True),
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where an engine finds a version."""

    index: str  # a folder, or an index in a cluster
    shards: int = 1


def ignore_refusal(_: "DeadLetter") -> None:
    """Take no note of a passage that the engine refuses."""


class IndexStore(Protocol):
    """The versions of one index, of which one answers; a context manager that closes connections.

    What changes an index wants `writing()` to be held, but `rollback` and `delete`, which hold it themselves.
    A published version never changes; one that is cleared away while it is read is a FileNotFoundError.
    """

    name: str
    engine: EngineName
    capabilities: Capabilities
    local: BuildFolder  # what lies on this machine

    def __enter__(self) -> Self:
        """Return the store."""
        ...

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        ...

    def current(self) -> int | None:
        """Return the number of the version that answers, None before the first."""
        ...

    def require_current(self) -> int:
        """Return the number of the version that answers; UnknownIndex before the first."""
        ...

    def versions(self) -> list[int]:
        """List the published versions in order."""
        ...

    def next_version(self) -> int:
        """Return the number after the highest ever published here."""
        ...

    def manifest(self) -> Manifest:
        """Read the manifest of the version that answers.

        Raises:
            UnknownIndex: nothing was published.
            IndexDamaged: it cannot be read.
            IndexMismatch: it is of an older or newer format.
        """
        ...

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version; raises as `manifest`."""
        ...

    def address(self, manifest: Manifest) -> Address:
        """Return where the engine finds a version."""
        ...

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order; IndexDamaged where a file is broken."""
        ...

    def glossary_path(self, manifest: Manifest) -> Path:
        """Return the file of a version's glossary; FileNotFoundError where it is missing."""
        ...

    def dictionary(self, manifest: Manifest) -> UserDictionary | None:
        """Return the user's dictionary of a version; IndexDamaged where it is missing or another."""
        ...

    def vectors(self, manifest: Manifest) -> "VectorStore | None":
        """Open the vectors of a version; None where it has none, or the engine holds them."""
        ...

    def check_files(self, manifest: Manifest) -> None:
        """Compare what lies there with the manifest at a small cost: by sizes.

        Raises:
            FileNotFoundError: a file is missing.
            IndexDamaged: a file is of another size.
        """
        ...

    def verify_files(self, version: int) -> list[str]:
        """Compare every byte of a version with its manifest; return what differs, a line each."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Hold the index for writing, and mend what a killed process left half done.

        Raises:
            IndexBusy: another process holds it.
        """
        ...

    def can_resume(self) -> bool:
        """Tell whether what an unfinished build wrote is still there."""
        ...

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Begin a build anew: from the passages of a version, or from empty with an analysis."""
        ...

    def writer(
        self, unit: Unit, base: Manifest | None, refuse: "Callable[[DeadLetter], None]" = ignore_refusal
    ) -> "Writer":
        """Open the build for writing; `refuse` is called with passages that the engine will not take."""
        ...

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Make the finished build a version that answers, and clear away all but the last `keep`.

        Versions that were rolled back from are cleared away too. Return the manifest with its files' sums.
        """
        ...

    def discard_building(self) -> None:
        """Remove the unfinished build, and the index with it where nothing was ever published."""
        ...

    def rollback(self) -> int:
        """Go back to the version before the one that answers; return its number."""
        ...

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
        ...
