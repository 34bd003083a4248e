"""Files that are written whole or not at all, and errors of the system with the next step."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from indexer.errors import IndexNotWritten

CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file grew over the allowed size",
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.EROFS: "the file system is read-only",
    errno.EPIPE: "its reader has gone away",
    errno.EISDIR: "it is a folder",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
}

# What a process or its machine has run out of says nothing of the file that it could not open.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
TEMPORARY = re.compile(r"\.[0-9]+\.[0-9a-f]{8}\.partial")  # what `temporary_path` calls a file


def temporary_path(path: Path) -> Path:
    """Return where the file that is to stand at `path` is written first; a killed process leaves it there."""
    return path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}.partial")


def cause_of(error: OSError) -> str:
    """Say in plain words why the system refused, without the file."""
    return CAUSES.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def write_durably(path: Path, content: str | bytes) -> None:
    """Replace the file at `path` so that a reader, or a crash, finds the old content or the new one whole.

    Text is written as UTF-8.
    """
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of the one at `path`, and its permissions, when the block ends well.

    Until then, and where it ends in an error, what stood there stands there; nothing else is left.
    """
    passing = temporary_path(path)
    try:
        with passing.open("xb") as file:
            with suppress(FileNotFoundError):
                old = path.lstat()
                if stat.S_ISREG(old.st_mode):
                    _like(old, file.fileno())
            yield file
            file.flush()
            os.fsync(file.fileno())
        passing.replace(path)
    finally:
        passing.unlink(missing_ok=True)
    sync(path.parent)


def _like(old: os.stat_result, descriptor: int) -> None:
    """Give a new file the owner, where that is allowed, and the permissions of the one that it replaces."""
    with suppress(PermissionError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def sync(path: Path) -> None:
    """Let a file's content, or what stands in a folder, outlive a crash."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def describing_write_errors(name: str) -> Iterator[None]:
    """Turn what the system refuses while an index is written into IndexNotWritten with the next step."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise IndexNotWritten(
            f"index {name!r} was not written: {cause_of(error)}{where}. "
            "What was published before still answers",
            remedy="mend the cause and give the same command again, it goes on where it stopped",
            index=name,
        ) from error
