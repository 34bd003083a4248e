"""Verification of a bundle where it will be used: every file, the wheels for this Python, the models."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from base.files.regular_files import read_regular
from stack.bundle.manifest import (
    DESCRIPTION_BYTES,
    MODELS,
    SOURCE,
    SUMS,
    WHEELS,
    Manifest,
    files_below,
    read_manifest,
    sha256_of,
)
from stack.bundle.models import model_faults
from stack.bundle.wheels import PYTHON, check_installable, lock_of
from stack.errors import BundleIncomplete


@dataclass(frozen=True, slots=True)
class Checked:
    """Result: the manifest, faults as lines, and the commands that install from the bundle."""

    manifest: Manifest
    faults: tuple[str, ...]
    commands: tuple[str, ...]


def verify_bundle(folder: Path, tell: Callable[[str], None] = lambda _: None) -> Checked:
    """Verify a bundle; raise BundleDamaged if its manifest is missing or invalid."""
    folder = folder.absolute()
    manifest = read_manifest(folder)
    tell(f"{manifest.files:,} files")
    faults = [*file_faults(folder)]
    tell("wheels")
    faults += _wheel_faults(folder, manifest)
    faults += [f"{what}: was requested and is missing ({why})" for what, why in manifest.missing.items()]
    for name in (model.name for model in manifest.models):
        tell(f"model {name}")
        faults += [f"model {name}: {fault}" for fault in model_faults(folder / MODELS / name)]
    return Checked(manifest, tuple(faults), tuple(_commands(folder, manifest)))


def file_faults(folder: Path) -> Iterator[str]:
    """Yield the missing, damaged and unexpected files."""
    try:
        lines = read_regular(folder / SUMS, DESCRIPTION_BYTES).decode("utf-8", "replace").splitlines()
    except OSError as error:
        yield f"{SUMS}: cannot be read ({error.strerror})"
        return
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    there = set(files_below(folder))
    for name, digest in sums.items():
        path = folder / name
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            yield f"{name}: is a link to a place outside the bundle"
        elif name not in there or not path.is_file():
            yield f"{name}: is missing"
        elif sha256_of(path) != digest:
            yield f"{name}: is damaged (its hash differs)"
    yield from (f"{name}: does not belong to the bundle" for name in sorted(there - sums.keys()))


def _wheel_faults(folder: Path, manifest: Manifest) -> Iterator[str]:
    if manifest.python != PYTHON:
        yield f"wheels: they are for Python {manifest.python}, and this is {PYTHON}"
        return
    for extra in manifest.extras:
        try:
            check_installable(lock_of(folder, extra), folder / WHEELS)
        except BundleIncomplete as error:
            yield str(error)


def _commands(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield the shell commands that install from the bundle."""
    targets = " ".join("install" if extra == "base" else f"install-{extra}" for extra in manifest.extras)
    yield f"cp -r {quote(str(folder / SOURCE))} shrag && cd shrag"
    wheels = quote((folder / WHEELS).as_uri())  # a URI, as pip ends a path at a space
    yield f"PIP_NO_INDEX=1 PIP_FIND_LINKS={wheels} make {targets} PYTHON=python{manifest.python}"
    if manifest.models:
        yield f"echo {quote(f'MODELS_FOLDER={folder / MODELS}')} >>.env  # after cp .env.example .env"
    for image in manifest.images:
        file = quote(str(folder / image.file))
        yield f"docker load --input {file}  # {image.name}, {image.digest}"
    yield ".venv/bin/shrag doctor --offline"
