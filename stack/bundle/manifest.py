"""What is in a bundle: every file with size and hash, where it comes from, and what was left out.

Beside the manifest stands SHA256SUMS, so that `sha256sum --check SHA256SUMS` tells of damage on a machine
where nothing is installed yet.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stack.errors import BundleDamaged, BundleIncomplete

MANIFEST, SUMS = "bundle.json", "SHA256SUMS"
PLAN = "plan.json"  # of a bundle that is not finished
UNFINISHED = ".unfinished"  # the end of a file's name while it is written
FORMAT = 1
BLOCK = 1 << 20


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
    asked_for: bool  # else it is left out of every bundle


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

    def to_json(self) -> str:
        """Return it as JSON, in a form that a person can read."""
        return json.dumps({"format": FORMAT} | asdict(self), ensure_ascii=False, indent=1) + "\n"


def asked_for(manifest: Manifest) -> tuple[LeftOut, ...]:
    """Return what was to be in the bundle and is not."""
    return tuple(one for one in manifest.left_out if one.asked_for)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a bundle.

    Raises:
        BundleDamaged: there is none, or it cannot be read.
    """
    path = folder / MANIFEST
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if record.pop("format") != FORMAT:
            raise BundleDamaged(f"{path}: another SHRAG made it; verify it with the one in {folder}/source")
        files = tuple(File(**one) for one in record.pop("files"))
        left_out = tuple(LeftOut(**one) for one in record.pop("left_out"))
        record |= {name: tuple(record.pop(name)) for name in ("platforms", "models", "images")}
        return Manifest(**record, files=files, left_out=left_out)
    except OSError as error:
        raise BundleDamaged(
            f"{folder} is no bundle ({MANIFEST}: {error.strerror}); a bundle that is not finished is called "
            "….partial, and the same shrag bundle goes on with it"
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BundleDamaged(f"{path} cannot be read ({error!r}); copy the bundle again") from error


def sha256_of(path: Path) -> str:
    """Return the hash of a file, without holding it in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def files_below(folder: Path) -> Iterator[str]:
    """Name all files and links of a bundle but those that tell of it, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in {MANIFEST, SUMS, PLAN}:
            yield name


def entries(folder: Path) -> tuple[File, ...]:
    """Return every file with size and hash.

    Raises:
        BundleIncomplete: a link leads to no file.
    """
    return tuple(_entry(folder, name) for name in files_below(folder))


def _entry(folder: Path, name: str) -> File:
    path = folder / name
    if not path.is_file():
        raise BundleIncomplete(f"{name} is a link that leads to no file, and bundles hold files; replace it")
    return File(name, path.stat().st_size, sha256_of(path))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write manifest and sums; the manifest last, so that it stands for all the rest."""
    text = manifest.to_json()
    write_whole(folder / SUMS, sums_of(manifest, hashlib.sha256(text.encode()).hexdigest()).encode())
    write_whole(folder / MANIFEST, text.encode())


def sums_of(manifest: Manifest, digest: str) -> str:
    """Return the lines of SHA256SUMS for a manifest whose own file has this hash."""
    return "".join(f"{one.sha256}  {one.path}\n" for one in manifest.files) + f"{digest}  {MANIFEST}\n"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    unfinished = unfinished_of(path)
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def unfinished_of(path: Path) -> Path:
    """Return what a file is called while it is written."""
    return path.with_name(f".{path.name}{UNFINISHED}")


def clear_unfinished(folder: Path) -> None:
    """Delete what a killed process left half-written."""
    for path in folder.rglob(f".*{UNFINISHED}"):
        path.unlink()
