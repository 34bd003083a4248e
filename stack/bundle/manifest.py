"""The content and origin of a bundle (bundle.json), and the hash of every file (SHA256SUMS).

`sha256sum --check SHA256SUMS` finds damage before anything is installed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from base.files.durable import write_durably
from base.files.regular_files import read_regular
from stack.errors import BundleDamaged, BundleIncomplete

MANIFEST, SUMS = "bundle.json", "SHA256SUMS"
DESCRIPTION_BYTES = 100_000_000  # largest description file
PLAN = "plan.json"  # of an unfinished bundle
Extra = Literal[
    "base", "elasticsearch", "models", "hub", "parquet", "pdf", "citing", "server", "plots", "dev"
]
SOURCE, WHEELS, MODELS, IMAGES = "source", "wheels", "models", "images"


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a bundle: OWNER/NAME, and its commit on the hub if it is from there."""

    name: str
    revision: str
    source: Literal["folder", "hub"]


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a bundle, its digest in the registry, and its archive."""

    name: str
    digest: str
    file: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The table of contents of a bundle."""

    made: str
    shrag: str
    commit: str  # of the source
    python: str  # Python version of the wheels, like 3.11
    platforms: tuple[str, ...]
    extras: tuple[Extra, ...]  # extras whose locked wheels are included
    models: tuple[Model, ...]
    images: tuple[Image, ...]
    missing: dict[str, str]  # requested parts that are missing → reason
    files: int
    bytes: int
    format: Literal[3] = 3


ADAPTER = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a bundle; raise BundleDamaged if it is missing or invalid."""
    path = folder / MANIFEST
    try:
        return ADAPTER.validate_json(read_regular(path, DESCRIPTION_BYTES))
    except OSError as error:
        raise BundleDamaged(
            f"{folder} is not a bundle ({MANIFEST}: {error.strerror}); an unfinished bundle is called "
            "….partial, and the same shrag bundle command resumes it"
        ) from error
    except ValidationError as error:
        raise BundleDamaged(
            f"{path} cannot be read ({error.error_count()} errors); copy the bundle again, or verify it with "
            f"the SHRAG that made it, in {folder}/source"
        ) from error


def write_sums_and_manifest(folder: Path, sums: dict[str, str], manifest: Manifest) -> None:
    """Write both, the manifest last, as the sign of a complete bundle."""
    text = ADAPTER.dump_json(manifest, indent=1) + b"\n"
    lines = {**sums, MANIFEST: hashlib.sha256(text).hexdigest()}
    write_durably(folder / SUMS, "".join(f"{digest}  {name}\n" for name, digest in lines.items()))
    write_durably(folder / MANIFEST, text)


def sha256_of(path: Path) -> str:
    """Return the hash of a file, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(folder: Path) -> Iterator[str]:
    """Yield all files and links of a bundle except the list of hashes, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in {SUMS, PLAN}:
            yield name


def hashes_below(folder: Path) -> dict[str, str]:
    """Return the hash of every file; raise BundleIncomplete if a link is broken."""
    names = [name for name in files_below(folder) if name != MANIFEST]
    if broken := [name for name in names if not (folder / name).is_file()]:
        raise BundleIncomplete(f"broken links: {', '.join(broken)}; a bundle may contain only files")
    return {name: sha256_of(folder / name) for name in names}
