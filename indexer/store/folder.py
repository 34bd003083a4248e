"""Versions as folders side by side, and the pointer that says which one answers.

| below HOME/NAME, beside what `indexer.store.build_folder` lists | what |
|---|---|
| CURRENT | the number of the version that answers, replaced atomically |
| versions/000001/ | one published version, never changed again |
| versions/000001/manifest.json | what it says of itself |
| versions/000001/tantivy/ | its index |
| versions/000001/vectors/ | the vectors of its passages, if it has any |
| versions/000001/glossary.sqlite | its glossary |
| versions/000001/dictionary.txt | the user's dictionary it was analysed with, if any |
| versions/000001/plan.json | there only between the move to this place and the move of the pointer |
| versions/.000001/ | a version that is cleared away as soon as nobody has it open |

What else lies there is not ours, and left alone.
"""

import fcntl
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING

import tantivy

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.durable import describing_write_errors, sync, write_durably
from indexer.errors import IndexDamaged, IndexMismatch, Remedy
from indexer.manifest import MANIFEST, Manifest
from indexer.papers import Unit
from indexer.schema import StoredPassage, tantivy_schema
from indexer.settings import EngineName, IndexerSettings
from indexer.store import CAPABILITIES, Address, IndexStore, Pointer, ignore_refusal
from indexer.store.build_folder import (
    CLEARED,
    DICTIONARY,
    GLOSSARY,
    NAME,
    NOT_PUBLISHED,
    PLAN,
    VECTORS,
    VERSION,
    BuildFolder,
    is_version,
)
from indexer.stored import read_stored
from indexer.sums import FileSum, changed_files, check_sizes, sum_files, sums_by_inode

if TYPE_CHECKING:
    from indexer.readers import DeadLetter
    from indexer.vectors.store import VectorStore
    from indexer.writers import Writer

TANTIVY = "tantivy"  # the folder of a version's index
REBUILD_OR_ROLL_BACK = (Remedy.REBUILD, Remedy.ROLL_BACK)


class FolderStore(IndexStore):
    """An index whose versions are folders of this machine; see `indexer.store.IndexStore`."""

    engine: EngineName = "tantivy"
    capabilities = CAPABILITIES["tantivy"]

    def __init__(self, home: Path, name: str, *, writer_memory_mb: int = 256) -> None:
        """Name the folder; nothing is made or read yet. InvalidCall for a name that is no plain word."""
        self.name = name
        self.local = BuildFolder.of(home, name)
        self.place = f"in {home}"
        self._pointer = self.local.path / "CURRENT"
        self._writer_memory_mb = writer_memory_mb

    def current(self) -> int | None:
        """Return the number of the version that answers, None before the first."""
        try:
            return int(self._pointer.read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise IndexDamaged(
                f"{self._pointer} holds no version number", remedy=Remedy.REBUILD, index=self.name
            ) from error

    def pointer(self) -> Pointer | None:
        """Return what changes when another version answers or the index is made anew; None without one."""
        try:
            about = self._pointer.stat()
        except FileNotFoundError:
            return None
        version = self.current()
        return None if version is None else Pointer(version, f"{about.st_ino} {about.st_mtime_ns}")

    @contextmanager
    def holding(self, version: int) -> Iterator[None]:
        """Keep a version from being removed while it is read: readers share a lock of its manifest."""
        with (self.version_path(version) / MANIFEST).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError as error:  # it is being removed
                raise FileNotFoundError(ENOENT, "no such version", file.name) from error
            except OSError:  # a file system without locks
                pass
            yield

    def versions(self) -> list[int]:
        """List the published versions in order."""
        current = self.current()
        return [
            version
            for version in self._numbered()
            if version == current or self._is_published(self.version_path(version))
        ]

    @staticmethod
    def _is_published(path: Path) -> bool:
        return (path / MANIFEST).exists() and not (path / PLAN).exists()

    def _numbered(self) -> list[int]:
        """List the numbers that folders and files are called by, also those that are not ours."""
        return sorted(int(path.name) for path in self._called(VERSION))

    def _called(self, pattern: re.Pattern[str]) -> list[Path]:
        if not self.local.versions.is_dir():
            return []
        return [path for path in self.local.versions.iterdir() if pattern.fullmatch(path.name)]

    def next_version(self) -> int:
        """Return the number after the highest ever published here."""
        return max([0, self.current() or 0, *self._numbered()]) + 1

    def version_path(self, version: int) -> Path:
        """Return the folder of a version."""
        return self.local.version_path(version)

    def manifest_of(self, version: int) -> Manifest:
        """Read the manifest of any version."""
        return Manifest.read(self.version_path(version), self.name)

    def address(self, manifest: Manifest) -> Address:
        """Return the folder of a version's index."""
        return Address(str(self.version_path(manifest.version) / TANTIVY))

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order; IndexDamaged where a file is broken."""
        try:
            with self.holding(manifest.version):
                yield from read_stored(
                    tantivy.Index(tantivy_schema(), self.address(manifest).index).searcher()
                )
        except (ValueError, OSError) as error:
            raise IndexDamaged(
                f"index {self.name!r} cannot be read ({error})", remedy=REBUILD_OR_ROLL_BACK, index=self.name
            ) from error

    def glossary_path(self, manifest: Manifest) -> Path:
        """Return the file of a version's glossary."""
        return self.version_path(manifest.version) / GLOSSARY

    def vectors(self, manifest: Manifest) -> "VectorStore | None":
        """Open the vectors of a version; None where it has none.

        Raises:
            FileNotFoundError: files are missing, perhaps as the version was cleared away.
            IndexDamaged: files are broken.
        """
        if not manifest.vectors:
            return None
        from indexer.vectors.store import VectorStore

        return VectorStore(self.version_path(manifest.version) / VECTORS)

    def read_dictionary(self, version: int) -> UserDictionary:
        """Read the user's dictionary of a version; InvalidCall where its lines are wrong."""
        path = self.version_path(version) / DICTIONARY
        return parse_user_dictionary(path.read_bytes(), str(path))

    def check_files(self, manifest: Manifest) -> None:
        """Compare the sizes of a version's files with its manifest."""
        try:
            check_sizes(self.version_path(manifest.version), manifest.files)
        except IndexDamaged as error:
            raise IndexDamaged(error.what, remedy=REBUILD_OR_ROLL_BACK, index=self.name) from error

    def verify_files(self, version: int) -> list[str]:
        """Compare every byte of a version with its manifest; return what differs, a line each."""
        folder = self.version_path(version)
        try:
            manifest = self.manifest_of(version)
        except (IndexDamaged, IndexMismatch) as error:
            return [f"{MANIFEST}: {error.what}"]
        changed = changed_files(folder, manifest.files, NOT_PUBLISHED)
        if (folder / MANIFEST).read_bytes() != manifest.to_text().encode():
            changed.append(f"{MANIFEST}: other bytes than were written")
        return changed

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the index for writing, and mend what a killed process left undone."""
        with self.local.lock():
            with describing_write_errors(self.name):
                self._recover()
            yield

    def _recover(self) -> None:
        """Finish, or take back, what a process that was killed in `publish` or `_clear_away` left undone."""
        current = self.current()
        for version in self._numbered():
            path = self.version_path(version)
            if version == current:
                (path / PLAN).unlink(missing_ok=True)
            elif (path / PLAN).exists():
                shutil.rmtree(self.local.building, ignore_errors=True)
                path.rename(self.local.building)
        for path in filter(is_version, self._called(CLEARED)):
            _remove_unless_read(path)
        self.local.finish_clearing(self.current, self.versions, self._clear_away)

    def can_resume(self) -> bool:
        """Tell whether what an unfinished build wrote is still there."""
        return self.local.building.is_dir()

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Begin a build anew: from the passages of a version, or from empty."""
        del analyzer, decompound  # the engine is given tokens
        self.local.start()
        if dictionary:
            (self.local.building / DICTIONARY).write_text(dictionary.text(), encoding="utf-8")
        if base:
            from indexer.writers.tantivy import link_index

            link_index(Path(self.address(base).index), self.local.building / TANTIVY)

    def writer(
        self, unit: Unit, base: Manifest | None, refuse: "Callable[[DeadLetter], None]" = ignore_refusal
    ) -> "Writer":
        """Open the build for writing."""
        from indexer.writers.tantivy import TantivyWriter

        del base, refuse  # its files are linked already; the engine takes all passages
        return TantivyWriter(self.local.building / TANTIVY, unit=unit, memory_mb=self._writer_memory_mb)

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        """Make the finished build a version that answers, and clear away all but the last `keep`."""
        building, target = self.local.building, self.version_path(manifest.version)
        self.local.versions.mkdir(exist_ok=True)
        self.local.move_dead_letters(manifest.version)
        before = self.current() or 0
        published = replace(manifest, files=sum_files(building, NOT_PUBLISHED, self._known_sums(before)))
        published.write(building)
        for path in [*building.rglob("*"), building]:
            sync(path)
        building.rename(target)
        sync(self.local.versions)
        sync(self.local.path)
        self.local.plan_clearing(manifest.version, before, keep)
        self.point_to(manifest.version)
        (target / PLAN).unlink(missing_ok=True)
        self.local.finish_clearing(self.current, self.versions, self._clear_away)
        return published

    def _known_sums(self, version: int) -> dict[tuple[int, int], FileSum]:
        """Return the sums of the files that a build may share with a version by hard links."""
        try:
            return sums_by_inode(self.version_path(version), self.manifest_of(version).files)
        except (IndexDamaged, IndexMismatch):
            return {}

    def _clear_away(self, version: int) -> None:
        """Remove a version, in one step for whoever is about to open it; hide it while somebody reads it."""
        path = self.version_path(version)
        hidden = path.with_name(f".{path.name}")
        path.rename(hidden)
        _remove_unless_read(hidden)
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder with it where nothing was ever published."""
        self.local.discard(with_index=self.current() is None and not self._numbered())

    def point_to(self, version: int) -> None:
        """Let a version answer from now on."""
        write_durably(self._pointer, f"{version}\n")

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
        if not self.local.is_unfinished():
            self.require_current()
        with self.writing(), describing_write_errors(self.name):
            self.local.remove()


def _remove_unless_read(path: Path) -> None:
    """Remove the folder of a hidden version, unless a reader has its manifest locked."""
    try:
        with (path / MANIFEST).open("r+b") as file:  # for writing: else NFS gives no lock for oneself alone
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    except OSError:  # what an earlier removal left, or a file system without locks
        pass
    shutil.rmtree(path, ignore_errors=True)


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Return the store of an index; InvalidCall for a name that is no plain word."""
    return FolderStore(settings.home, name, writer_memory_mb=settings.writer_memory_mb)


def index_names(settings: IndexerSettings) -> list[str]:
    """Name the indexes of the home folder that have a published version, in order."""
    home = settings.home
    if not home.is_dir():
        return []
    names = sorted(path.name for path in home.iterdir() if path.is_dir() and NAME.fullmatch(path.name))
    return [name for name in names if FolderStore(home, name).current() is not None]
