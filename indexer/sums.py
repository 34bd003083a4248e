"""Sizes and SHA-256 sums of the files of a version: made when it is published, compared ever after."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TypedDict

from indexer.errors import IndexDamaged

Inode = tuple[int, int]


class FileSum(TypedDict):
    """What a manifest says of a file."""

    bytes: int
    sha256: str


def sum_files(
    folder: Path, left_out: Collection[str] = (), known: Mapping[Inode, FileSum] | None = None
) -> dict[str, FileSum]:
    """Return the size and the sum of each file below `folder` by its relative path.

    A file that is one of the `known` inodes, a hard link to an unchanged one, is not read.
    """
    known = known or {}
    sums = {}
    for name in _names(folder, left_out):
        found = known.get(_inode(folder / name))
        sums[name] = found or sum_file(folder / name)
    return sums


def sum_file(path: Path) -> FileSum:
    """Read a file, and return its size and its sum."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def sums_by_inode(folder: Path, sums: Mapping[str, FileSum]) -> dict[Inode, FileSum]:
    """Return the sums of the files that are there below `folder` by the inodes that hard links share."""
    return {_inode(folder / name): found for name, found in sums.items() if (folder / name).exists()}


def check_sizes(folder: Path, sums: Mapping[str, FileSum]) -> None:
    """Compare sizes only.

    Raises:
        FileNotFoundError: a file is missing.
        IndexDamaged: a file is of another size.
    """
    for name, expected in sums.items():
        size = (folder / name).stat().st_size
        if size != expected["bytes"]:
            raise IndexDamaged(f"{folder / name} has {size:,} bytes, {expected['bytes']:,} were written")


def changed_files(folder: Path, sums: Mapping[str, FileSum], left_out: Collection[str] = ()) -> list[str]:
    """Read every file, and return what differs from the sums, a line each."""
    there = set(_names(folder, left_out))
    changed = [f"{name}: missing" for name in sums if name not in there]
    changed += [f"{name}: not written by the build" for name in there if name not in sums]
    changed += [
        f"{name}: other bytes than were written"
        for name in sums
        if name in there and sum_file(folder / name) != sums[name]
    ]
    return sorted(changed)


def _names(folder: Path, left_out: Collection[str]) -> Iterator[str]:
    """Yield the files below a folder by their relative paths; locks are no content."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.suffix != ".lock" and name not in left_out:
            yield name


def _inode(path: Path) -> Inode:
    status = path.stat()
    return status.st_dev, status.st_ino
