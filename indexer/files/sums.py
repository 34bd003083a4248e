"""Sizes and SHA-256 checksums of a version's files, and checksums of small JSON records."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from base.files.durable import SHORTAGES, TEMPORARY, cause_of
from base.progress import Progress, no_progress

# Bytes of the smallest files that are verified at each opening, which takes a hundredth of a second.
READ_ON_OPENING = 8_000_000
HASH_BYTES = 8
SUM = "sha256"  # the checksum field of a record


@dataclass(frozen=True, slots=True)
class FileSum:
    """Size and checksum of a file in a manifest."""

    bytes: int
    sha256: str


def sum_files(
    folder: Path, left_out: Collection[str] = (), shared: tuple[Path, Mapping[str, FileSum]] | None = None
) -> dict[str, FileSum]:
    """Return the size and checksum of each file below `folder` by its relative path.

    `shared`: another folder with the checksums of its files. Hard links to them are not read.
    """
    other, sums = shared or (folder, {})
    known = {_inode(other / name): found for name, found in sums.items() if (other / name).exists()}
    names = _names(folder, left_out)
    return {name: known.get(_inode(folder / name)) or sum_file(folder / name) for name in names}


def sum_file(path: Path) -> FileSum:
    """Read a file, and return its size and checksum."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return FileSum(path.stat().st_size, digest.hexdigest())


def differing_files(
    folder: Path,
    sums: Mapping[str, FileSum],
    *,
    most_bytes: int | None = None,
    progress: Progress = no_progress,
) -> Iterator[str]:
    """Yield a line for each file that differs from its checksum; sizes are compared first, then bytes.

    With `most_bytes`, only the smallest files up to this total are read; otherwise all files.
    """
    same_size = []
    for name, expected in sorted(sums.items()):
        try:
            status = (folder / name).stat()
        except OSError as error:
            yield _unreadable(name, error)
            continue
        if not S_ISREG(status.st_mode):
            yield f"{name} is not a file"
        elif status.st_size != expected.bytes:
            yield f"{name} has {status.st_size:,} bytes instead of {expected.bytes:,}"
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
                yield f"{name} has a wrong checksum"
        except OSError as error:
            yield _unreadable(name, error)


def _unreadable(name: str, error: OSError) -> str:
    """Describe a missing or unreadable file; a shortage of resources of this process is raised."""
    if error.errno in SHORTAGES:
        raise error
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return f"{name} is missing"
    return f"{name} cannot be read ({cause_of(error)})"


def _names(folder: Path, left_out: Collection[str]) -> Iterator[str]:
    """Yield the relative paths of the files below a folder, without locks and temporary files.

    `left_out` are files and folders at the top.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        passing = path.suffix == ".lock" or TEMPORARY.fullmatch(path.name)
        if path.is_file() and not passing and name.partition("/")[0] not in left_out:
            yield name


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def hash_of_text(text: str) -> int:
    """Return a signed 64-bit hash that is the same in each process."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()
    return int.from_bytes(digest, signed=True)


def sum_of(record: Mapping[str, Any]) -> str:
    """Return the checksum of a record without its checksum field, independent of the layout."""
    fields = {name: value for name, value in record.items() if name != SUM}
    text = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sealed(record: Mapping[str, Any]) -> str:
    """Return a record as JSON with its checksum."""
    return json.dumps({**record, SUM: sum_of(record)})


def unsealed(text: str | bytes) -> dict[str, Any] | None:
    """Return the record written by `sealed`; None if the checksum or format is wrong."""
    try:
        record = json.loads(text)
        if not isinstance(record, dict) or record.pop(SUM, None) != sum_of(record):
            return None
    except (ValueError, RecursionError):
        return None
    return record
