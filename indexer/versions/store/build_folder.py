"""The folder of an index on the machine that builds it, for all engines.

| below HOME/NAME | content |
|---|---|
| building/ | the version being built, or an unfinished build |
| building/plan.json | the plan of the build |
| building/records.gz | the records of its corpus |
| building/dead-letters.jsonl | invalid records of its corpus |
| encoded/ | vectors encoded for the version being built |
| versions/000001/ | a published version, or local files of it |
| dead-letters/000001.jsonl | invalid records of its corpus |
| sources.bin | the files that the current version was made of |
| harvest/ | harvested records of repositories (`indexer/harvesting/`) |
| writer.lock | locked while a version is built |
| holder | the name of this folder as the builder of an index in a cluster |

Other files are foreign and never removed; those in `versions` are removed with the index.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from base.errors import InvalidCall
from base.files.durable import TEMPORARY, sync, write_durably
from base.files.locks import lock_file
from indexer.analysis import UserDictionary
from indexer.errors import IndexBusy
from indexer.files.damage import map_write_errors
from indexer.files.sums import sealed, unsealed
from indexer.settings import ReadableBy
from indexer.versions.manifest import MANIFEST

DEAD_LETTERS = "dead-letters.jsonl"  # in the building folder
DICTIONARY = "dictionary.txt"
GLOSSARY = "glossary.sqlite"
CITATIONS = "citations.sqlite"
LEXICON = "lexicon.bin"
SUMMARY = "summary.npz"
# Companion files of a version on every engine.
COMPANIONS = {GLOSSARY: "glossary", CITATIONS: "citation graph", LEXICON: "lexicon", SUMMARY: "summary"}
DERIVED_FROM = (SUMMARY, LEXICON)  # files of a base version of which an update makes others
TANTIVY, FORWARD, VECTORS = "tantivy", "forward", "vectors"  # folders: index, rows, vectors of the passages
SPOOL = "records.gz"
PLAN = "plan.json"
# Files that tantivy rewrites by renaming; all other files of an index are immutable.
CHANGING_FILES = ("meta.json", ".managed.json")
TANTIVY_META = "tantivy/meta.json"  # committed state of the embedded engine's index
# Files in the building folder that are not part of the version.
NOT_PUBLISHED = (PLAN, DEAD_LETTERS, MANIFEST, SPOOL)

FOLDER_MODES = {"owner": 0o700, "group": 0o750, "all": 0o755}
# The entries of an index's folder, in the order in which they are removed.
OWN = ("CURRENT", "versions", "building", "encoded", "dead-letters", "harvest", "sources.bin", "holder")
NAME = re.compile(r"[A-Za-z0-9가-힣][A-Za-z0-9가-힣._-]{0,63}")
VERSION = re.compile(r"\.?[0-9]{6,}")  # with a dot: to be removed when no reader has it open


class BuildFolder:
    """The folder of an index on the machine that builds it."""

    def __init__(self, home: Path, name: str, *, readable_by: ReadableBy = "group") -> None:
        """Name the paths without accessing them, and the readers of a new folder.

        Raises:
            InvalidCall: an invalid name.
        """
        if not NAME.fullmatch(name):
            raise InvalidCall(
                f"{name!r} is not a valid index name: letters, digits, '.', '_' and '-', at most 64, "
                "the first a letter or digit"
            )
        self.name, self._mode = name, FOLDER_MODES[readable_by]
        self.path = home / name
        self.building = self.path / "building"  # the version being built
        self.encoded = self.path / "encoded"  # the vectors encoded for it
        self.versions = self.path / "versions"
        self.sources = self.path / "sources.bin"
        self.harvest = self.path / "harvest"

    def version_path(self, version: int) -> Path:
        """Return the folder of a version."""
        return self.versions / f"{version:06}"

    def dead_letter_path(self, version: int) -> Path:
        """Return the file of a version's dead letters."""
        return self.path / "dead-letters" / f"{version:06}.jsonl"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the index against other processes of this machine; IndexBusy immediately if it is locked.

        The lock ends with the process, however that ends.
        """
        busy = IndexBusy(
            f"another process is writing to index {self.name!r}",
            remedy="wait for it, then try again",
            index=self.name,
        )
        with map_write_errors(self.name):
            with suppress(FileExistsError):
                self.path.mkdir(parents=True)
                self.path.chmod(self.path.stat().st_mode & self._mode)  # the umask may restrict it more
            lock = lock_file(self.path / "writer.lock", busy)
        with lock:
            self._remove_temporary_files()
            yield

    def _remove_temporary_files(self) -> None:
        """Remove temporary files of a killed process; the caller holds the lock, as all writers do."""
        for path in self.path.glob(".*"):
            if TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                with suppress(OSError):
                    path.unlink()

    def start(self, plan: dict[str, Any], dictionary: UserDictionary | None) -> None:
        """Start a build with a plan, and with the records that a killed build of the same plan has read."""
        kept = SPOOL if self.read_plan() == plan else ""
        self.building.mkdir(exist_ok=True)
        for path in self.building.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != kept:
                path.unlink()
        self.write_plan(plan)
        if dictionary:
            (self.building / DICTIONARY).write_text(dictionary.text(), encoding="utf-8")

    def discard(self, *, with_index: bool) -> None:
        """Remove the unfinished build, and the whole folder if it contains nothing else."""
        shutil.rmtree(self.building, ignore_errors=True)
        if with_index and not (self.encoded.exists() or self.harvest.exists()):
            self.remove()

    def remove(self) -> None:
        """Remove the index; foreign files remain, and a folder that is a link.

        Without them the folder is moved away as a whole, so that a kill leaves no part of an index.
        """
        own = [self.path / name for name in (*OWN, "writer.lock") if os.path.lexists(self.path / name)]
        gone = self.path.with_name(f".deleted-{self.name}")
        shutil.rmtree(gone, ignore_errors=True)  # of a killed deletion
        if set(own) == set(self.path.iterdir()) and not self.path.is_symlink():
            self.path.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
            return
        for path in own:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def is_unfinished(self) -> bool:
        """Check whether there is an interrupted or running build."""
        return (self.building / PLAN).exists()

    def is_begun(self) -> bool:
        """Check whether there is an interrupted or running build or harvest."""
        return self.is_unfinished() or self.harvest.is_dir()

    def passages_committed(self) -> int | None:
        """Return the number of passages committed by the build in this folder; None if unknown."""
        try:
            segments = json.loads((self.building / TANTIVY_META).read_bytes())["segments"]
            deleted = sum(int((part["deletes"] or {}).get("num_deleted_docs", 0)) for part in segments)
            return sum(int(part["max_doc"]) for part in segments) - deleted
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def read_plan(self) -> dict[str, Any] | None:
        """Return the plan of the unfinished build; None without one."""
        try:
            return unsealed((self.building / PLAN).read_bytes())
        except OSError:
            return None

    def write_plan(self, plan: dict[str, Any]) -> None:
        """Store the plan of the build, so that it can be resumed."""
        write_durably(self.building / PLAN, sealed(plan))

    def move_dead_letters(self, version: int) -> None:
        """Move the dead letters of the build to the folder of all versions."""
        written, target = self.building / DEAD_LETTERS, self.dead_letter_path(version)
        target.unlink(missing_ok=True)
        if written.exists():
            target.parent.mkdir(exist_ok=True)
            sync(written)
            written.rename(target)
            sync(target.parent)

    def forget_encoded(self) -> None:
        """Remove the vectors encoded for a version that is published now."""
        shutil.rmtree(self.encoded, ignore_errors=True)


def versions_in(folder: Path) -> dict[str, Path]:
    """Return the folders of versions in a folder by name; links and files are foreign."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {
        path.name: path
        for path in found
        if VERSION.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    }


def superseded(versions: list[int], version: int, before: int, keep: int) -> list[int]:
    """Return the versions to prune when `version` replaces `before` and `keep` versions may remain.

    Versions abandoned by a rollback, between the two, are pruned first. If there was no current version
    before, nothing is known about the others, and all remain.
    """
    if not before:
        return []
    abandoned = [number for number in versions if before < number < version]
    earlier = [number for number in versions if number <= before]
    return abandoned + earlier[: max(0, len(earlier) + 1 - keep)]


def unfinished_builds(home: Path) -> list[str]:
    """Return the names of indexes with a running or interrupted build on this machine, in order."""
    with suppress(OSError):
        return sorted(plan.parent.parent.name for plan in home.glob(f"*/building/{PLAN}"))
    return []
