"""What of an index lies on the machine that builds it, whatever its engine.

| below HOME/NAME | what |
|---|---|
| building/ | the version being built, or an unfinished build |
| building/plan.json | what it is built from |
| building/committed.json | the sums of the index's files at its last commit |
| building/parts/ | rows and terms of the passages that are written |
| building/dead-letters.jsonl | what of its corpus could not be read |
| encoded/ | vectors encoded for the version being built |
| versions/000001/ | a published version, or what this machine keeps of it |
| dead-letters/000001.jsonl | what of its corpus could not be read |
| clearing.json | there while a version is published and those it replaces are not all cleared away |
| writer.lock | held while a version is built |
| holder | the name under which this place holds leases of a cluster |

What else lies there is not ours: it is never removed, and an index is not deleted around it.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from base.errors import InvalidCall
from base.files.durable import TEMPORARY, sync, write_durably
from indexer.errors import IndexBusy, IndexNotWritten
from indexer.files.damage import map_write_errors
from indexer.files.sums import FileSum, sealed, unsealed
from indexer.versions.manifest import MANIFEST

DEAD_LETTERS = "dead-letters.jsonl"  # in the building folder
DICTIONARY = "dictionary.txt"
GLOSSARY = "glossary.sqlite"
CITATIONS = "citations.sqlite"
LEXICON = "lexicon.bin"
# Files kept with a version on every engine.
COMPANIONS = {GLOSSARY: "glossary", CITATIONS: "citation graph", LEXICON: "lexicon"}
FORWARD = "forward"  # rows of the passages, a folder beside the index's
PARTS = "parts"  # rows and terms of a build, until it is published
PLAN = "plan.json"
COMMITTED = "committed.json"
TANTIVY_META = "tantivy/meta.json"  # what of the embedded engine's index is committed
CLEARING = "clearing.json"
VECTORS = "vectors"  # of the passages, a folder beside the index's
KEYS = ".keys.sqlite"  # of the server's callers, in the home folder: no index can have this name
# What lies in the building folder and is no part of the version.
NOT_PUBLISHED = (PLAN, COMMITTED, DEAD_LETTERS, MANIFEST, PARTS)

NAME = re.compile(r"[A-Za-z0-9가-힣][A-Za-z0-9가-힣._-]{0,63}")
# What is ours below HOME/NAME, files that a killed process was writing included, and in versions/.
OURS = re.compile(
    r"versions|building|encoded|dead-letters|writer\.lock|(CURRENT|clearing\.json|holder)"
    rf"|\.(CURRENT|clearing\.json|holder)\.[0-9a-f]+|{TEMPORARY.pattern}"
)
VERSION = re.compile(r"[0-9]{6,}")
CLEARED = re.compile(r"\.[0-9]{6,}")  # a version that is removed as soon as nobody has it open
OF_A_VERSION = re.compile(
    rf"manifest\.json|tantivy|{VECTORS}|{FORWARD}|{DICTIONARY}|{PLAN}"
    rf"|(.*-)?({GLOSSARY}|{CITATIONS}|{LEXICON})(\.[0-9a-f]+)?|{TEMPORARY.pattern}"
)


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """The folder of an index on the machine that builds it."""

    name: str
    path: Path

    @classmethod
    def of(cls, home: Path, name: str) -> Self:
        """Name the folder; nothing is made or read. InvalidCall for a name that is no plain word."""
        if not NAME.fullmatch(name):
            raise InvalidCall(
                f"{name!r} cannot name an index: letters, digits, '.', '_' and '-', at most 64, "
                "the first a letter or digit"
            )
        return cls(name, home / name)

    @property
    def building(self) -> Path:
        """The folder of the version being built."""
        return self.path / "building"

    @property
    def encoded(self) -> Path:
        """The folder of the vectors that were encoded for the version being built."""
        return self.path / "encoded"

    @property
    def versions(self) -> Path:
        """The folder of the published versions."""
        return self.path / "versions"

    def version_path(self, version: int) -> Path:
        """Return the folder of a version."""
        return self.versions / f"{version:06}"

    def dead_letter_path(self, version: int) -> Path:
        """Return the file of a version's dead letters."""
        return self.path / "dead-letters" / f"{version:06}.jsonl"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes of this machine from writing; IndexBusy at once where one does.

        The hold ends with the process, however that ends.
        """
        from filelock import FileLock, Timeout

        with map_write_errors(self.name):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / "writer.lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise IndexBusy(
                    f"another process is writing to index {self.name!r}",
                    remedy="wait for it, then try again",
                    index=self.name,
                ) from None
        try:
            self._remove_temporary_files()
            yield
        finally:
            lock.release()

    def _remove_temporary_files(self) -> None:
        """Remove what a killed process was writing; the lock is held, and who writes here holds it."""
        for folder in (self.path, self.building):
            for path in folder.glob(".*"):
                if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                    with suppress(OSError):
                        path.unlink()

    def start(self) -> None:
        """Begin an empty building folder."""
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir()

    def discard(self, *, with_index: bool) -> None:
        """Remove the unfinished build, and the whole folder with it unless it holds anything else."""
        shutil.rmtree(self.building, ignore_errors=True)
        if with_index and not self.encoded.exists() and not self.strays():
            self.remove()

    def remove(self) -> None:
        """Remove all of it, while its lock is held; in one step for whoever is about to open or build it.

        Raises:
            IndexNotWritten: something there is not ours; nothing is removed.
        """
        self.refuse_strays()
        self.path.rename(self.path.with_name(f".deleted-{self.name}-{os.urandom(4).hex()}"))
        for left in self.path.parent.glob(".deleted-*"):  # of an earlier deletion that was killed, too
            if left.is_dir() and not replace(self, path=left).strays():
                shutil.rmtree(left, ignore_errors=True)

    def refuse_strays(self) -> None:
        """Raise IndexNotWritten where something lies in the folder, or is linked to, that is not ours."""
        if strays := self.strays():
            raise IndexNotWritten(
                f"index {self.name!r} is not deleted: {', '.join(map(str, strays[:3]))} is not of its making",
                remedy="move that elsewhere, and give the same command again",
                index=self.name,
            )

    def strays(self) -> list[Path]:
        """Return what lies in the folder and in that of the versions and is not ours: links are not."""
        if self.path.is_symlink():
            return [self.path]
        strays = [path for path in _entries(self.path) if path.is_symlink() or not OURS.fullmatch(path.name)]
        return strays + [path for path in _entries(self.versions) if not is_version(path)]

    def is_unfinished(self) -> bool:
        """Tell whether a build lies there that was interrupted, or is running."""
        return (self.building / PLAN).exists()

    def passages_committed(self) -> int | None:
        """Return how many passages the build has committed in this folder; None where nothing tells."""
        try:
            found = json.loads((self.building / TANTIVY_META).read_bytes())["segments"]
            return sum(int(part["max_doc"]) - _deleted(part["deletes"]) for part in found)
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def read_plan(self) -> dict[str, Any] | None:
        """Return what the build that lies there is made from; None where none lies there."""
        try:
            return unsealed((self.building / PLAN).read_bytes())
        except OSError:
            return None

    def write_plan(self, plan: dict[str, Any]) -> None:
        """Note what the build is made from, so that it can be resumed."""
        write_durably(self.building / PLAN, sealed(plan))

    def note_committed(self, sums: Mapping[str, FileSum]) -> None:
        """Note the sums of what is written once and committed now, by names below the building folder."""
        record = {name: [found.bytes, found.sha256] for name, found in sums.items()}
        write_durably(self.building / COMMITTED, sealed(record))

    def committed(self) -> dict[str, FileSum]:
        """Return the sums that were noted last, of the files that are still there."""
        return self.read_committed() or {}

    def read_committed(self) -> dict[str, FileSum] | None:
        """Return what `committed` does; None where the note is damaged, and says nothing of what is there."""
        try:
            record = unsealed((self.building / COMMITTED).read_bytes())
        except FileNotFoundError:
            return {}
        except OSError:
            return None
        if record is None:
            return None
        return {name: FileSum(*found) for name, found in record.items() if (self.building / name).exists()}

    def move_dead_letters(self, version: int) -> None:
        """Put the dead letters of the build beside those of other versions."""
        written, target = self.building / DEAD_LETTERS, self.dead_letter_path(version)
        target.unlink(missing_ok=True)
        if written.exists():
            target.parent.mkdir(exist_ok=True)
            sync(written)
            written.rename(target)
            sync(target.parent)

    def forget_encoded(self) -> None:
        """Remove what was encoded for a version that is published now."""
        shutil.rmtree(self.encoded, ignore_errors=True)

    def plan_clearing(self, version: int, before: int, keep: int) -> None:
        """Note what is to be cleared away once `version` answers, should this process be killed before."""
        plan = {"version": version, "before": before, "keep": keep}
        write_durably(self.path / CLEARING, sealed(plan))

    def finish_clearing(
        self,
        current: Callable[[], int | None],
        versions: Callable[[], list[int]],
        clear: Callable[[int], None],
    ) -> None:
        """Clear away what the version that answers replaced, where that is still to be done."""
        path = self.path / CLEARING
        try:
            plan = unsealed(path.read_bytes())
        except FileNotFoundError:
            return
        if plan and plan["version"] == current():  # else it never came to answer, or the note is damaged
            for version in superseded(versions(), **plan):
                clear(version)
        path.unlink()


def _deleted(deletes: dict[str, int] | None) -> int:
    return deletes["num_deleted_docs"] if deletes else 0


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []


def is_version(path: Path) -> bool:
    """Tell whether a folder is that of a version, whole or not, or empty."""
    if path.is_symlink() or not path.is_dir() or not VERSION.fullmatch(path.name.removeprefix(".")):
        return False
    held = _entries(path)
    return not held or any(OF_A_VERSION.fullmatch(entry.name) for entry in held)


def superseded(versions: list[int], version: int, before: int, keep: int) -> list[int]:
    """Return the versions to clear away when `version` answers instead of `before` and `keep` may stay.

    Those that were rolled back from go first: they stand between the two. Where none answered before,
    nothing is known of those that are there, and all stay.
    """
    if not before:
        return []
    abandoned = [number for number in versions if before < number < version]
    earlier = [number for number in versions if number <= before]
    return abandoned + earlier[: max(0, len(earlier) + 1 - keep)]


def unfinished_builds(home: Path) -> list[str]:
    """Name the indexes of which a build is under way on this machine, or was interrupted; in order."""
    with suppress(OSError):
        return sorted(plan.parent.parent.name for plan in home.glob(f"*/building/{PLAN}"))
    return []
