"""What is in a bundle: every file with size and hash, where it comes from, and what was left out.

Beside the manifest stands SHA256SUMS, so that `sha256sum --check SHA256SUMS` finds damage on a machine where
nothing is installed yet.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from indexer.durable import write_durably
from stack.errors import BundleDamaged, BundleIncomplete

MANIFEST, SUMS = "bundle.json", "SHA256SUMS"
PLAN = "plan.json"  # of a bundle that is not finished
SOURCE, WHEELS, MODELS, IMAGES = "source", "wheels", "models", "images"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a bundle; the path is relative to it, with slashes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in the bundle, and why."""

    what: str
    why: str
    asked_for: bool = False  # else it is left out of every bundle


@dataclass(frozen=True, slots=True)
class Manifest:
    """A bundle's table of contents."""

    made: str
    shrag: str
    commit: str  # of the source
    python: str  # the wheels are for this one, like 3.11
    platforms: tuple[str, ...]
    lock: str
    models: tuple[dict[str, str], ...]  # name, revision, source
    images: tuple[dict[str, str], ...]  # name, digest, file
    left_out: tuple[LeftOut, ...]
    files: tuple[File, ...]
    format: Literal[1] = 1

    @property
    def missing(self) -> tuple[LeftOut, ...]:
        """What was to be in the bundle and is not."""
        return tuple(item for item in self.left_out if item.asked_for)


ADAPTER = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a bundle.

    Raises:
        BundleDamaged: there is none, or it cannot be read.
    """
    path = folder / MANIFEST
    try:
        return ADAPTER.validate_json(path.read_bytes())
    except OSError as error:
        raise BundleDamaged(
            f"{folder} is no bundle ({MANIFEST}: {error.strerror}); a bundle that is not finished is called "
            "….partial, and the same shrag bundle goes on with it"
        ) from error
    except ValidationError as error:
        raise BundleDamaged(
            f"{path} cannot be read ({error.error_count()} faults); copy the bundle again, or verify it with "
            f"the SHRAG that made it, in {folder}/source"
        ) from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write sums and manifest; the manifest last, so that it stands for all the rest."""
    text = ADAPTER.dump_json(manifest, indent=1) + b"\n"
    write_durably(folder / SUMS, sums_of(manifest, hashlib.sha256(text).hexdigest()))
    write_durably(folder / MANIFEST, text)


def sums_of(manifest: Manifest, digest: str) -> str:
    """Return the lines of SHA256SUMS for a manifest whose own file has this hash."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in manifest.files) + f"{digest}  {MANIFEST}\n"


def sha256_of(path: Path) -> str:
    """Return the hash of a file, without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(folder: Path) -> Iterator[str]:
    """Name all files and links of a bundle but those that describe it, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in {MANIFEST, SUMS, PLAN}:
            yield name


def entries(folder: Path) -> tuple[File, ...]:
    """Return every file with size and hash.

    Raises:
        BundleIncomplete: a link leads to no file.
    """
    names = list(files_below(folder))
    if broken := [name for name in names if not (folder / name).is_file()]:
        raise BundleIncomplete(f"links that lead to no file: {', '.join(broken)}; a bundle holds files")
    return tuple(File(name, (folder / name).stat().st_size, sha256_of(folder / name)) for name in names)
