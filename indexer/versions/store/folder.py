"""Versions as folders, with a pointer file for the current one.

| below HOME/NAME, in addition to `indexer.versions.store.build_folder` | content |
|---|---|
| CURRENT | the number of the current version, with a checksum; replaced atomically |
| versions/000001/ | a published, immutable version; docs/architecture.md lists its files |
| versions/000001/plan.json | exists only between moving the folder and moving the pointer |
| versions/.000001/ | a version to be removed when no reader has it open |

An update adds files for what has changed, and shares all others with its base by hard links. Other files are
foreign.
"""

# ruff: noqa: D102 - the base class describes the methods

import fcntl
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from errno import ENOENT
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from base.errors import Remedy
from base.files.durable import SHORTAGES, sync, write_durably
from base.progress import Progress, no_progress
from indexer.errors import IndexDamaged, IndexMismatch, VersionGone
from indexer.files.damage import map_damage_errors, map_write_errors
from indexer.files.parts import link_files
from indexer.files.schema import StoredPassage
from indexer.files.stored import open_searcher, read_numbered
from indexer.files.sums import READ_ON_OPENING, FileSum, differing_files, sum_files
from indexer.settings import EngineName, IndexerSettings, ReadableBy
from indexer.versions.manifest import MANIFEST, Manifest
from indexer.versions.store import Analysis, IndexStore, Pointer
from indexer.versions.store.build_folder import (
    CHANGING_FILES,
    FORWARD,
    LEXICON,
    NAME,
    NOT_PUBLISHED,
    PLAN,
    SPOOL,
    TANTIVY,
    VECTORS,
    BuildFolder,
    superseded,
    versions_in,
)

if TYPE_CHECKING:  # searching without vectors needs neither
    from indexer.vectors.parts import VectorParts
    from indexer.versions.writers import Writer

POINTER = "CURRENT"
NUMBER = re.compile(r"[0-9]{1,18}")


class FolderStore(IndexStore):
    """An index whose versions are folders of this machine; see `indexer.versions.store.IndexStore`."""

    engine: EngineName = "tantivy"

    def __init__(self, home: Path, name: str, *, readable_by: ReadableBy = "group") -> None:
        """Create a store without accessing the folder; InvalidCall for an invalid name."""
        self.name = name
        self.local = BuildFolder(home, name, readable_by=readable_by)
        self.place = f"in {home}"
        self._pointer = self.local.path / POINTER

    def all_names(self) -> list[str]:
        home, names = self.local.path.parent, list[str]()
        for path in sorted(home.iterdir()) if home.is_dir() else ():
            if path.is_dir() and NAME.fullmatch(path.name):
                with suppress(IndexDamaged, OSError):  # reported when it is opened
                    if FolderStore(home, path.name).current() is None:
                        continue
                names.append(path.name)
        return names

    def pointer(self) -> Pointer | None:
        while True:
            text = self._pointer_text()
            version = _version_in(text)
            if version and self.version_path(version).is_dir():
                with suppress(FileNotFoundError):
                    about = self._pointer.lstat()
                    return Pointer(version, f"{about.st_ino} {about.st_mtime_ns}")
            there = self.versions()
            if self._pointer_text() == text:
                break  # otherwise another version was published in the meantime
        if text is None and not there:
            return None
        reason = "is missing" if text is None else "contains no version number"
        reason = f"names version {version}, which does not exist" if version else reason
        raise self.lost_pointer(f"{self._pointer} {reason}")

    def _pointer_text(self) -> bytes | None:
        """Return the content of the pointer, None if it is missing."""
        with suppress(FileNotFoundError):
            return self._pointer.read_bytes()
        return None

    def versions(self) -> list[int]:
        current = _version_in(self._pointer_text())
        return [v for v in self._numbered() if v == current or not (self.version_path(v) / PLAN).exists()]

    def _numbered(self) -> list[int]:
        return sorted(int(name) for name in versions_in(self.local.versions) if name.isdecimal())

    def version_path(self, version: int) -> Path:
        return self.local.version_path(version)

    def manifest_of(self, version: int) -> Manifest:
        return Manifest.read(self.version_path(version), self.name, version)

    @contextmanager
    def holding(self, version: int) -> Iterator[None]:
        """Keep a version from being pruned while it is read: readers share a lock on its manifest."""
        with (self.version_path(version) / MANIFEST).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError as error:  # it is being removed
                raise FileNotFoundError(ENOENT, "no such version", file.name) from error
            except OSError:  # a file system without locks
                pass
            yield

    def address(self, manifest: Manifest) -> str:
        return str(self.version_path(manifest.version) / TANTIVY)

    def stored_passages(self, manifest: Manifest) -> Iterator[StoredPassage]:
        what = f"index {self.name!r}, version {manifest.version}"
        try:
            with map_damage_errors(what, self.name), self.holding(manifest.version):
                self.check_files(manifest, every_byte=True)
                for _, passage in read_numbered(open_searcher(Path(self.address(manifest)))):
                    yield passage
        except (IndexDamaged, OSError) as error:
            if not self.version_path(manifest.version).is_dir():
                raise VersionGone(
                    f"{what} was pruned", remedy="read the current version", index=self.name
                ) from error
            if isinstance(error, IndexDamaged) or error.errno in SHORTAGES:
                raise
            raise self._damaged(manifest.version, f"cannot be read ({error})") from error

    def companion_path(self, manifest: Manifest, name: str) -> Path:
        return self.version_path(manifest.version) / name

    def vectors(self, manifest: Manifest) -> "VectorParts | None":
        if (fingerprint := manifest.vector_fingerprint) is None:
            return None
        from indexer.forward.columns import read_removed
        from indexer.vectors.parts import VectorParts

        folder = self.version_path(manifest.version)
        with map_damage_errors(folder / VECTORS, self.name):
            return VectorParts(folder / VECTORS, fingerprint, read_removed(folder / FORWARD))

    def check_files(
        self, manifest: Manifest, *, every_byte: bool = False, names: Collection[str] = ()
    ) -> None:
        folder, most_bytes = self.version_path(manifest.version), None if every_byte else READ_ON_OPENING
        named = {name: manifest.files[name] for name in names if name in manifest.files}
        small = differing_files(folder, manifest.files, most_bytes=most_bytes)
        self._raise_first(manifest.version, chain(small, differing_files(folder, named)))

    def verify_files(self, version: int, progress: Progress = no_progress) -> list[str]:
        try:
            manifest = self.manifest_of(version)
        except (IndexDamaged, IndexMismatch) as error:
            return [error.what]
        return sorted(differing_files(self.version_path(version), manifest.files, progress=progress))

    @contextmanager
    def held(self) -> Iterator[None]:
        with self.local.lock(), map_write_errors(self.name):
            self._complete_publication()
            for name, path in versions_in(self.local.versions).items():
                if not name.isdecimal():
                    _remove_unless_read(path)
            yield

    def _complete_publication(self) -> None:
        """Move the pointer to a version that a killed process has moved to its place."""
        for version in self._numbered():
            plan = self.version_path(version) / PLAN
            if plan.exists():
                if version > (_version_in(self._pointer_text()) or 0):
                    self.point_to(version)
                plan.unlink()

    def start_building(
        self, base: Manifest | None, version: int, analysis: Analysis, plan: dict[str, Any]
    ) -> None:
        del version
        self.local.start(plan, analysis[-1])
        if base:
            for folder in (TANTIVY, FORWARD, VECTORS):
                source = self.version_path(base.version) / folder
                link_files(source, self.local.building / folder, CHANGING_FILES)

    def writer(self, base: Manifest | None) -> "Writer":
        from indexer.versions.writers.tantivy import TantivyWriter

        lexicon = self.companion_path(base, LEXICON) if base else None
        return TantivyWriter(self.local.building, lexicon)

    def publish(self, manifest: Manifest, *, keep: int) -> Manifest:
        building, target = self.local.building, self.version_path(manifest.version)
        self.local.versions.mkdir(exist_ok=True)
        self.local.move_dead_letters(manifest.version)
        before = self.current() or 0
        published = replace(manifest, files=self._sum_files(before))
        published.write(building)
        for path in [*building.rglob("*"), building]:
            sync(path)
        (building / SPOOL).unlink(missing_ok=True)
        building.rename(target)
        sync(self.local.versions)
        sync(self.local.path)
        self.point_to(manifest.version)
        (target / PLAN).unlink(missing_ok=True)
        for version in superseded(self.versions(), manifest.version, before, keep):
            self._prune(version)
        return published

    def _sum_files(self, current: int) -> dict[str, FileSum]:
        """Return the checksums of the build's files; those shared with the current version are not read.

        The files of the base that an update has joined or merged are compared, as new checksums hide damage.
        """
        try:
            known = self.manifest_of(current).files
        except (IndexDamaged, IndexMismatch):
            known = {}
        building = self.local.building
        files = sum_files(building, NOT_PUBLISHED, shared=(self.version_path(current), known))
        if (base := (self.local.read_plan() or {}).get("base")) is not None:
            folders = (TANTIVY, FORWARD, VECTORS)
            were = self.manifest_of(base).files
            rewritten = {
                name: found
                for name, found in were.items()
                if name.startswith(folders) and files.get(name) != found
            }
            self._raise_first(base, differing_files(self.version_path(base), rewritten))
        return files

    def _raise_first(self, version: int, differences: Iterable[str]) -> None:
        for difference in differences:
            raise self._damaged(version, difference)

    def _damaged(self, version: int, how: str) -> IndexDamaged:
        what = f"index {self.name!r}, version {version}: {how}"
        return IndexDamaged(what, remedy=(Remedy.REBUILD, Remedy.ROLL_BACK), index=self.name)

    def _prune(self, version: int) -> None:
        """Remove a version atomically; while a reader has it open, only hide it."""
        path = self.version_path(version)
        hidden = path.with_name(f".{path.name}")
        path.rename(hidden)
        _remove_unless_read(hidden)
        self.local.dead_letter_path(version).unlink(missing_ok=True)

    def discard_building(self) -> None:
        self.local.discard(with_index=self.current() is None)

    def point_to(self, version: int) -> None:
        write_durably(self._pointer, _pointer_to(str(version)))

    def delete(self) -> None:
        if not self.local.is_begun():
            with suppress(IndexDamaged):
                self.require_current()
        with self.held():
            self.local.remove()


def _remove_unless_read(path: Path) -> None:
    """Remove the folder of a hidden version, unless a reader has its manifest locked."""
    try:
        with (path / MANIFEST).open("r+b") as file:  # NFS requires write access for an exclusive lock
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    except OSError:  # remains of an earlier removal, or a file system without locks
        pass
    shutil.rmtree(path, ignore_errors=True)


def open_store(settings: IndexerSettings, name: str) -> IndexStore:
    """Return the store of an index; InvalidCall for an invalid name."""
    return FolderStore(settings.home, name, readable_by=settings.readable_by)


def _version_in(text: bytes | None) -> int | None:
    """Parse the number in a pointer; None if it is damaged. A pointer written by hand needs no checksum."""
    number, _, check = (text or b"").decode("ascii", "replace").partition("\n")
    if not NUMBER.fullmatch(number) or (check and f"{number}\n{check}" != _pointer_to(number)):
        return None
    return int(number)


def _pointer_to(number: str) -> str:
    return f"{number}\n{crc32(number.encode()):08x}\n"
