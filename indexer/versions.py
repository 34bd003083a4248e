"""Versions of an index side by side, and the pointer that says which one answers.

| below HOME/NAME | what |
|---|---|
| CURRENT | the number of the version that answers, replaced atomically |
| clearing.json | there only while a version was published and those it replaces are not all cleared away |
| versions/000001/ | one published version, never changed again |
| versions/000001/manifest.json | what it says of itself |
| versions/000001/dictionary.txt | the user's dictionary it was analysed with, if any |
| versions/000001/plan.json | there only between the move to this place and the move of the pointer |
| versions/000001/vectors/ | the vectors of its passages, if it has any |
| building/ | the version being built, or a build that broke off |
| building/plan.json | what it is built from |
| encoded/ | vectors encoded for the version being built |
| dead-letters/000001.jsonl | what could not be read |
| writer.lock | held while a version is built |
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import tantivy

from indexer.analysis import Decompound, UserDictionary
from indexer.analysis.user_dictionary import parse_user_dictionary
from indexer.durable import not_written, sync, write_durably
from indexer.errors import (
    IndexBusy,
    IndexDamaged,
    InvalidCall,
    UnknownIndex,
)
from indexer.manifest import Manifest
from indexer.schema import StoredPassage, tantivy_schema
from indexer.settings import EngineName
from indexer.stored import read_stored

if TYPE_CHECKING:
    from indexer.papers import Unit
    from indexer.readers import DeadLetter
    from indexer.vectors.store import VectorStore
    from indexer.writers import Writer

ENGINE: EngineName = "tantivy"
GLOSSARY = "glossary.sqlite"
DICTIONARY = "dictionary.txt"
VECTORS = "vectors"  # beside the folder of the engine
PLAN = "plan.json"
CLEARING = "clearing.json"
DEAD_LETTERS = "dead-letters.jsonl"  # in the building folder

NAME = re.compile(r"[A-Za-z0-9가-힣][A-Za-z0-9가-힣._-]{0,63}")


def _refuse_nothing(_: "DeadLetter") -> None:
    """Be told of a passage that the engine will not take, and go on."""


class IndexFolder:
    """The folder of one index, with its versions in it; `writing` and `with` let go of what they hold."""

    engine: EngineName = ENGINE

    def __init__(self, home: Path, name: str, *, writer_memory_mb: int = 256) -> None:
        """Name the folder; nothing is made or read yet. InvalidCall for a name that is no plain word."""
        if not NAME.fullmatch(name):
            raise InvalidCall(
                f"{name!r} cannot name an index: letters, digits, '.', '_' and '-', at most 64, "
                "the first a letter or digit"
            )
        self.name = name
        self.path = home / name
        self._writer_memory_mb = writer_memory_mb
        self.versions_path = self.path / "versions"
        self.building = self.path / "building"
        self.dead_letters = self.path / "dead-letters"
        self.encoded = self.path / "encoded"

    def __enter__(self) -> Self:
        """Return the folder."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""

    def current(self) -> int | None:
        """Return the number of the version that answers, None before the first."""
        try:
            return int((self.path / "CURRENT").read_text(encoding="ascii"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise IndexDamaged(f"{self.path / 'CURRENT'} holds no version number") from error

    def require_current(self) -> int:
        """Return the version that answers, or raise UnknownIndex with the next step."""
        version = self.current()
        if version is None:
            raise UnknownIndex(
                f"no index {self.name!r} {self._looked_for()}; "
                f"make it with: shrag index PATH --name {self.name}"
            )
        return version

    def _looked_for(self) -> str:
        return f"in {self.path.parent}"

    def versions(self) -> list[int]:
        """List the published versions in order."""
        current = self.current()
        return [
            version
            for version in self._numbered()
            if version == current or not (self.version_path(version) / PLAN).exists()
        ]

    def _numbered(self) -> list[int]:
        if not self.versions_path.is_dir():
            return []
        return sorted(int(path.name) for path in self.versions_path.iterdir() if path.name.isdigit())

    def version_path(self, version: int) -> Path:
        """Return the folder of a version."""
        return self.versions_path / f"{version:06}"

    def stored(self, manifest: Manifest) -> Iterator[StoredPassage]:
        """Yield every passage of a version in corpus order; IndexDamaged where a file is broken."""
        path = self.version_path(manifest.version) / ENGINE
        try:
            yield from read_stored(tantivy.Index(tantivy_schema(), str(path)).searcher())
        except (ValueError, OSError) as error:
            raise IndexDamaged(
                f"index {self.name!r} cannot be read ({error}); build it again (shrag index PATH --name "
                f"{self.name} --rebuild) or go back (shrag indexes rollback {self.name})"
            ) from error

    def glossary_path(self, manifest: Manifest) -> Path:
        """Return the file of a version's glossary."""
        return self.version_path(manifest.version) / GLOSSARY

    def vectors(self, manifest: Manifest) -> "VectorStore | None":
        """Open the vectors of a version; None where it has none, or the engine holds them itself.

        Raises:
            IndexDamaged: files are missing or broken.
        """
        if not manifest.vectors:
            return None
        folder = self.version_path(manifest.version) / VECTORS
        if folder.parent.exists() and not folder.exists():
            raise IndexDamaged(
                f"the vectors of index {self.name!r}, version {manifest.version} are missing; build it "
                f"again: shrag index PATH --name {self.name} --rebuild"
            )
        from indexer.vectors.store import VectorStore

        return VectorStore(folder)

    def dictionary(self, manifest: Manifest) -> UserDictionary | None:
        """Return the user's dictionary that a version was analysed with.

        Raises:
            IndexDamaged: it is not there, or is another one.
        """
        if not manifest.dictionary:
            return None
        try:
            dictionary = self._stored_dictionary(manifest)
        except InvalidCall as error:
            raise self._no_dictionary(manifest, str(error)) from error
        if dictionary.hash != manifest.dictionary:
            raise self._no_dictionary(manifest, "it is not the one that the index was built with")
        return dictionary

    def _stored_dictionary(self, manifest: Manifest) -> UserDictionary:
        path = self.version_path(manifest.version) / DICTIONARY
        return parse_user_dictionary(path.read_bytes(), str(path))

    def _no_dictionary(self, manifest: Manifest, reason: str) -> IndexDamaged:
        return IndexDamaged(
            f"the dictionary of index {self.name!r}, version {manifest.version} cannot be used ({reason}); "
            f"build it again: shrag index PATH --name {self.name} --rebuild --dictionary FILE"
        )

    def dead_letter_path(self, version: int) -> Path:
        """Return the file of a version's dead letters."""
        return self.dead_letters / f"{version:06}.jsonl"

    def next_version(self) -> int:
        """Return the number after the highest ever published here."""
        return max([0, self.current() or 0, *self._numbered()]) + 1

    def is_broken_off(self) -> bool:
        """Tell whether a build lies there that is unfinished, or running."""
        return (self.building / PLAN).exists()

    def manifest(self) -> Manifest:
        """Read the manifest of the version that answers.

        A version may be cleared away between the look at the pointer and the look at the folder; then the
        pointer has moved, and the new one is read.
        """
        while True:
            version = self.require_current()
            try:
                return Manifest.read(self.version_path(version))
            except IndexDamaged:
                if self.current() == version:
                    raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the index for writing; IndexBusy at once where another process does.

        The hold ends with the process, however that ends. What a process left half done that ended while it
        published is put right first.
        """
        from filelock import FileLock, Timeout

        with not_written(self.name):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / "writer.lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise IndexBusy(
                    f"another process is writing to index {self.name!r}; wait for it, then try again"
                ) from None
        try:
            with not_written(self.name):
                self._put_right()
            yield
        finally:
            lock.release()

    def _put_right(self) -> None:
        """Finish, or take back, what was under way when a process ended in `publish` or `_clear_away`."""
        current = self.current()
        for version in self._numbered():
            path = self.version_path(version)
            if version == current:
                (path / PLAN).unlink(missing_ok=True)
            elif (path / PLAN).exists():
                shutil.rmtree(self.building, ignore_errors=True)
                path.rename(self.building)
        for path in self.versions_path.glob(".*"):
            shutil.rmtree(path, ignore_errors=True)
        self._finish_clearing()

    def can_go_on(self) -> bool:
        """Tell whether what a broken-off build of this place wrote is still there."""
        return self.building.is_dir()

    def start_building(
        self,
        base: Manifest | None,
        analyzer: str,
        decompound: Decompound,
        dictionary: UserDictionary | None = None,
    ) -> None:
        """Begin a build anew: from the passages of a version, or from empty with an analysis."""
        del analyzer, decompound  # the embedded engine is given tokens
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir()
        if dictionary:
            (self.building / DICTIONARY).write_text(dictionary.text(), encoding="utf-8")
        if base:
            from indexer.writers.tantivy import link_index

            link_index(self.version_path(base.version) / ENGINE, self.building / ENGINE)

    def writer(self, unit: "Unit", refuse: "Callable[[DeadLetter], None]" = _refuse_nothing) -> "Writer":
        """Open the build for writing; `refuse` is told of passages that the engine will not take."""
        from indexer.writers.tantivy import TantivyWriter

        del refuse  # the embedded engine takes all
        return TantivyWriter(self.building / ENGINE, unit=unit, memory_mb=self._writer_memory_mb)

    def publish(self, version: int, *, keep: int) -> None:
        """Make the finished build a version, let it answer, and clear away all but the last `keep`.

        Versions that were rolled back from are cleared away too: the one before this is the one that
        answered before.
        """
        self.versions_path.mkdir(exist_ok=True)
        self._move_dead_letters(version)
        for path in [*self.building.rglob("*"), self.building]:
            sync(path)
        before = self.current() or 0
        target = self.version_path(version)
        self.building.rename(target)
        sync(self.versions_path)
        sync(self.path)
        self._plan_clearing(version, before, keep)
        self.point_to(version)
        (target / PLAN).unlink(missing_ok=True)
        self._finish_clearing()

    def _plan_clearing(self, version: int, before: int, keep: int) -> None:
        """Note what is to be cleared away once `version` answers, should this process be killed before."""
        plan = {"version": version, "before": before, "keep": keep}
        write_durably(self.path / CLEARING, json.dumps(plan))

    def _finish_clearing(self) -> None:
        """Clear away what the version that answers replaced, where that is still to be done."""
        path = self.path / CLEARING
        try:
            plan = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        if plan["version"] == self.current():  # else it never came to answer
            self._clear_away_all_but(**plan)
        path.unlink()

    def _clear_away_all_but(self, version: int, before: int, keep: int) -> None:
        abandoned = [one for one in self.versions() if before < one < version]
        earlier = [one for one in self.versions() if one <= before]
        for one in abandoned + earlier[: max(0, len(earlier) + 1 - keep)]:
            self._clear_away(one)

    def _move_dead_letters(self, version: int) -> None:
        written, place = self.building / DEAD_LETTERS, self.dead_letter_path(version)
        place.unlink(missing_ok=True)
        if written.exists():
            place.parent.mkdir(exist_ok=True)
            sync(written)
            written.rename(place)
            sync(place.parent)

    def _clear_away(self, version: int) -> None:
        """Remove a version, in one step for whoever is about to open it."""
        path = self.version_path(version)
        passing = path.with_name(f".{path.name}")
        shutil.rmtree(passing, ignore_errors=True)
        path.rename(passing)
        shutil.rmtree(passing, ignore_errors=True)
        self.dead_letter_path(version).unlink(missing_ok=True)

    def discard_building(self) -> None:
        """Remove the unfinished build, and the folder with it where nothing was ever published."""
        shutil.rmtree(self.building, ignore_errors=True)
        if self.current() is None and not self._numbered() and not self.encoded.exists():
            shutil.rmtree(self.path, ignore_errors=True)

    def forget_encoded(self) -> None:
        """Remove what was encoded for a version that is published now."""
        shutil.rmtree(self.encoded, ignore_errors=True)

    def point_to(self, version: int) -> None:
        """Let `version` answer from now on."""
        write_durably(self.path / "CURRENT", f"{version}\n")

    def rollback(self) -> int:
        """Go back to the version before the one that answers; return its number."""
        self.require_current()
        with self.writing(), not_written(self.name):
            current = self.require_current()
            earlier = [version for version in self.versions() if version < current]
            if not earlier:
                raise InvalidCall(f"index {self.name!r} has no version before {current} to go back to")
            self.point_to(earlier[-1])
        return earlier[-1]

    def delete(self) -> None:
        """Remove the index with all of its versions, or what was built of it before the first."""
        if not self.is_broken_off():
            self.require_current()
        with self.writing(), not_written(self.name):
            passing = self.path.with_name(f".deleted-{self.name}-{os.getpid()}")
            self.path.rename(passing)  # in one step for whoever is about to open it
        for left in self.path.parent.glob(".deleted-*"):
            shutil.rmtree(left, ignore_errors=True)


def list_indexes(home: Path) -> list[str]:
    """Name the indexes of `home` that have a published version, in order."""
    if not home.is_dir():
        return []
    names = sorted(path.name for path in home.iterdir() if path.is_dir() and NAME.fullmatch(path.name))
    return [name for name in names if IndexFolder(home, name).current() is not None]
