"""Check a bundle where it is to be used: every file, the wheels for this Python, the models' parts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from stack.bundle.manifest import (
    MANIFEST,
    MODELS,
    SOURCE,
    SUMS,
    WHEELS,
    Manifest,
    files_below,
    read_manifest,
    sha256_of,
    sums_of,
)
from stack.bundle.models import model_faults
from stack.bundle.wheels import LOCKS, PYTHON, check_installable
from stack.errors import BundleDamaged, BundleIncomplete


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found: the manifest, faults a line each, and the commands that install from the bundle."""

    manifest: Manifest
    faults: tuple[str, ...]
    commands: tuple[str, ...]


def verify_bundle(folder: Path, tell: Callable[[str], None] = lambda _: None) -> Checked:
    """Check a bundle.

    Raises:
        BundleDamaged: it is no bundle, or its manifest cannot be read.
    """
    folder = folder.absolute()
    manifest = read_manifest(folder)
    if manifest.lock not in LOCKS.values():
        raise BundleDamaged(
            f"{folder / MANIFEST}: no lock is called {manifest.lock!r} (but {', '.join(LOCKS.values())}); "
            "copy the bundle again"
        )
    tell(f"{len(manifest.files):,} files")
    faults = list(file_faults(folder, manifest))
    tell("wheels")
    faults += _wheel_faults(folder, manifest)
    faults += [f"{missing.what}: was asked for and left out ({missing.why})" for missing in manifest.missing]
    for name in (model["name"] for model in manifest.models):
        tell(f"model {name}")
        faults += [f"model {name}: {fault}" for fault in model_faults(folder / MODELS / name)]
    return Checked(manifest, tuple(faults), tuple(_commands(folder, manifest)))


def file_faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Tell which files are missing, of another size, damaged or not of the bundle."""
    sums = folder / SUMS
    if not sums.is_file():
        yield f"{SUMS}: is missing"
    elif sums.read_text("utf-8", "replace") != sums_of(manifest, sha256_of(folder / MANIFEST)):
        yield f"{SUMS}: does not fit {MANIFEST}; one of them was changed"
    there = set(files_below(folder))
    for file in manifest.files:
        path = folder / file.path
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            yield f"{file.path}: is a link out of the bundle"
        elif file.path not in there or not path.is_file():
            yield f"{file.path}: is missing"
        elif path.stat().st_size != file.size:
            yield f"{file.path}: has {path.stat().st_size:,} bytes, not {file.size:,}"
        elif sha256_of(path) != file.sha256:
            yield f"{file.path}: is damaged (another hash)"
    for name in sorted(there - {file.path for file in manifest.files}):
        yield f"{name}: does not belong to the bundle"


def _wheel_faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    if manifest.python != PYTHON:
        yield f"wheels: they are for Python {manifest.python}, and this is {PYTHON}"
        return
    try:
        check_installable(folder / SOURCE / "requirements" / manifest.lock, folder / WHEELS)
    except BundleIncomplete as error:
        yield str(error)


def _commands(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Tell how to install from the bundle, as lines for a shell."""
    extra = next(name for name, lock in LOCKS.items() if lock == manifest.lock)
    target = "install" if extra == "base" else f"install-{extra}"
    yield f"cp -r {quote(str(folder / SOURCE))} shrag && cd shrag"
    wheels = quote((folder / WHEELS).as_uri())  # an address: pip takes a blank for the end of a path
    yield f"PIP_NO_INDEX=1 PIP_FIND_LINKS={wheels} make {target} PYTHON=python{manifest.python}"
    if manifest.models:
        yield f"echo {quote(f'MODELS_FOLDER={folder / MODELS}')} >>.env  # after cp .env.example .env"
    for image in manifest.images:
        file = quote(str(folder / image["file"]))
        yield f"docker load --input {file}  # {image['name']}, {image['digest']}"
    yield ".venv/bin/shrag doctor --offline"
