"""Sizes and SHA-256 sums: of a version's files, made when it is published, and of small records of JSON."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from base.files.durable import SHORTAGES, TEMPORARY, cause_of
from base.progress import Progress, no_progress

Inode = tuple[int, int]
# Bytes that are read on each opening, of the smallest files. It takes a hundredth of a second.
READ_ON_OPENING = 8_000_000
SUM = "sha256"  # the field of a record that holds the sum of the others


@dataclass(frozen=True, slots=True)
class FileSum:
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
    return FileSum(path.stat().st_size, digest.hexdigest())


def sums_by_inode(folder: Path, sums: Mapping[str, FileSum]) -> dict[Inode, FileSum]:
    """Return the sums of the files that are there below `folder` by the inodes that hard links share."""
    return {_inode(folder / name): found for name, found in sums.items() if (folder / name).exists()}


def differing_files(
    folder: Path,
    sums: Mapping[str, FileSum],
    *,
    most_bytes: int | None = None,
    progress: Progress = no_progress,
) -> Iterator[str]:
    """Yield what differs from the sums, a line a file: all sizes are compared first, then bytes.

    With `most_bytes` the smallest files are read, as many as have so many bytes together; else all are.
    """
    same_size = []
    for lock in sorted(folder.rglob("*.lock")):  # tantivy opens its own, and would wait for a pipe
        if not S_ISREG(lock.lstat().st_mode):
            yield f"{lock.relative_to(folder).as_posix()} is no file"
    for name, expected in sorted(sums.items()):
        try:
            status = (folder / name).stat()
        except OSError as error:
            yield _unreadable(name, error)
            continue
        if not S_ISREG(status.st_mode):
            yield f"{name} is no file"
        elif status.st_size != expected.bytes:
            yield f"{name} has {status.st_size:,} bytes, {expected.bytes:,} were written"
        else:
            same_size.append((status.st_size, name))
    done, total = 0, sum(size for size, _ in same_size)
    for size, name in sorted(same_size):
        progress("verifying", done, total)
        done += size
        if most_bytes is not None and done > most_bytes:
            return
        try:
            if sum_file(folder / name) != sums[name]:
                yield f"{name} holds other bytes than were written"
        except OSError as error:
            yield _unreadable(name, error)


def _unreadable(name: str, error: OSError) -> str:
    """Say that a file is missing or cannot be read; a shortage of this process is raised."""
    if error.errno in SHORTAGES:
        raise error
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{name} is missing"
    return f"{name} cannot be read ({cause_of(error)})"


def added_files(folder: Path, sums: Mapping[str, FileSum], left_out: Collection[str] = ()) -> list[str]:
    """Return what lies there and was not written by the build, a line a file."""
    return [f"{name} was not written by the build" for name in _names(folder, left_out) if name not in sums]


def sum_of(record: Mapping[str, Any]) -> str:
    """Return a sum over all that a record says, however it is laid out, but its own."""
    fields = {name: value for name, value in record.items() if name != SUM}
    text = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> str:
    """Return a record as JSON with its sum."""
    return json.dumps({**record, SUM: sum_of(record)})


def unsealed(text: str | bytes) -> dict[str, Any] | None:
    """Return the record that `sealed` wrote; None where it is anything else."""
    try:
        record = json.loads(text)
        if not isinstance(record, dict) or record.pop(SUM, None) != sum_of(record):
            return None
    except (ValueError, RecursionError):
        return None
    return record


def _names(folder: Path, left_out: Collection[str]) -> Iterator[str]:
    """Yield the files below a folder by their relative paths, without files and folders that are left out.

    Locks and temporary files are no content.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        passing = path.suffix == ".lock" or TEMPORARY.fullmatch(path.name)
        if path.is_file() and not passing and name.partition("/")[0] not in left_out:
            yield name


def _inode(path: Path) -> Inode:
    status = path.stat()
    return status.st_dev, status.st_ino
