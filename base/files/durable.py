"""Atomic, durable file writing, and system errors with their remedies."""

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file exceeds the allowed size",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.EROFS: "the file system is read-only",
    errno.EPIPE: "its reader closed the pipe",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "it is a symbolic link",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
}

# Exhausted resources of the process or machine: unrelated to the file that could not be opened.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})  # exFAT, some network mounts
TEMPORARY = re.compile(r"\.[0-9]+\.[0-9a-f]{8}\.partial")  # names made by `temporary_path`


def temporary_path(path: Path) -> Path:
    """Return a temporary name; the complete file is moved to `path`. A kill can leave it behind."""
    return path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}.partial")


def disk_of(path: Path) -> str:
    """Describe the disk of a path for a message: mount point and free space."""
    folder = path.absolute()
    while not os.path.ismount(folder) and folder != folder.parent:
        folder = folder.parent
    return f"{folder}, {shutil.disk_usage(folder).free / 1e6:,.0f} MB free"


def cause_of(error: OSError) -> str:
    """Describe the reason of a system error, without the file name."""
    return CAUSES.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def describe_error(error: Exception) -> str:
    """Describe an error in one line: what happened, to which input, and what fixes it."""
    if isinstance(error, OSError):
        return ": ".join(filter(None, (error.filename and str(error.filename), cause_of(error))))
    return str(error)


def write_durably(path: Path, content: str | bytes) -> None:
    """Replace the file at `path`: a reader, also after a crash, finds the complete old or new content.

    Text is written as UTF-8.
    """
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the one at `path`, with its permissions, when the block ends normally.

    Until then, and after an error, only the old file exists.
    """
    with _passing(path, 0o666) as (file, passing):
        with suppress(FileNotFoundError):
            old = path.lstat()
            if stat.S_ISREG(old.st_mode):
                with suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        yield file
        _complete(file)
        passing.replace(path)
    sync(path.parent)


def create_durably(path: Path, content: bytes, *, mode: int) -> None:
    """Create a file atomically with its content; FileExistsError if it exists.

    At no time does anyone have more rights to the file than `mode`. The superuser gives it to the owner of
    its folder.
    """
    with _passing(path, mode) as (file, passing):
        if os.geteuid() == 0:
            owner = path.parent.stat()
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
        file.write(content)
        _complete(file)
        try:
            path.hardlink_to(passing)
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            path.touch(mode, exist_ok=False)
            passing.replace(path)
    sync(path.parent)


@contextmanager
def _passing(path: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a file of a temporary name; the name is removed at the end."""
    passing = temporary_path(path)
    try:
        with os.fdopen(os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
            yield file, passing
    finally:
        passing.unlink(missing_ok=True)


def _complete(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Flush a file's content, or a folder's entries, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
