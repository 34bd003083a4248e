"""What is in a bundle and where it comes from (bundle.json), and the hash of every file (SHA256SUMS).

`sha256sum --check SHA256SUMS` finds damage where nothing is installed yet.
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
DESCRIPTION_BYTES = 100_000_000  # of a file that describes others, at most
PLAN = "plan.json"  # of a bundle that is not finished
Extra = Literal["base", "elasticsearch", "models", "hub", "pdf", "server", "plots", "dev"]
SOURCE, WHEELS, MODELS, IMAGES = "source", "wheels", "models", "images"


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a bundle: OWNER/NAME, and the commit of the hub that it is, if it is from there."""

    name: str
    revision: str
    source: Literal["folder", "hub"]


@dataclass(frozen=True, slots=True)
class Image:
    """An image of a bundle, the digest that its registry knows it by, and its archive."""

    name: str
    digest: str
    file: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A bundle's table of contents."""

    made: str
    shrag: str
    commit: str  # of the source
    python: str  # the wheels are for this one, like 3.11
    platforms: tuple[str, ...]
    extras: tuple[Extra, ...]  # whose locks the wheels are of
    models: tuple[Model, ...]
    images: tuple[Image, ...]
    missing: dict[str, str]  # what was asked for and is not there, and why
    files: int
    bytes: int
    format: Literal[3] = 3


ADAPTER = TypeAdapter(Manifest)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a bundle; BundleDamaged where there is none, or it cannot be read."""
    path = folder / MANIFEST
    try:
        return ADAPTER.validate_json(read_regular(path, DESCRIPTION_BYTES))
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


def write_sums_and_manifest(folder: Path, sums: dict[str, str], manifest: Manifest) -> None:
    """Write both, the manifest last, so that it stands for all the rest."""
    text = ADAPTER.dump_json(manifest, indent=1) + b"\n"
    lines = {**sums, MANIFEST: hashlib.sha256(text).hexdigest()}
    write_durably(folder / SUMS, "".join(f"{digest}  {name}\n" for name, digest in lines.items()))
    write_durably(folder / MANIFEST, text)


def sha256_of(path: Path) -> str:
    """Return the hash of a file, without holding it in memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(folder: Path) -> Iterator[str]:
    """Name all files and links of a bundle but the list of their hashes, in order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_dir()) and name not in {SUMS, PLAN}:
            yield name


def hashes_below(folder: Path) -> dict[str, str]:
    """Return the hash of every file; BundleIncomplete where a link leads to none."""
    names = [name for name in files_below(folder) if name != MANIFEST]
    if broken := [name for name in names if not (folder / name).is_file()]:
        raise BundleIncomplete(f"links that lead to no file: {', '.join(broken)}; a bundle holds files")
    return {name: sha256_of(folder / name) for name in names}
