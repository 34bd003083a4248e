"""Atomic, durable file writing, and system errors with their remedies."""

import errno
import fcntl
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
    errno.ENOTDIR: "a part of the path is a file, not a folder",
}

# Exhausted resources of the process or machine: unrelated to the file that could not be opened.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
TEMPORARY = re.compile(r"\.[0-9]+\.[0-9a-f]{8}\.partial")  # names made by `temporary_path`


# File systems without unnamed files (O_TMPFILE), such as NFS, and kernels that do not know them.
NO_UNNAMED_FILES = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})  # exFAT, some network mounts


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
    with _unfinished(path) as (file, passing):
        with suppress(FileNotFoundError):
            old = path.lstat()
            if stat.S_ISREG(old.st_mode):
                _like(old, file.fileno())
        yield file
        _complete(file, passing)
        passing.replace(path)
    sync(path.parent)


def create_durably(path: Path, content: bytes, *, mode: int) -> None:
    """Create a file atomically with its content; FileExistsError if it exists.

    On a file system without hard links the file is empty at first, and a kill can leave it empty. At no time
    does anyone have more rights to the file than `mode`. The superuser gives it to the owner of its folder.
    """
    with _unfinished(path, mode) as (file, passing):
        _give_to_owner_of_folder(file, path)
        file.write(content)
        _complete(file, passing)
        try:
            path.hardlink_to(passing)
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            _create_in_place(path, content, mode)
    sync(path.parent)


def _create_in_place(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _give_to_owner_of_folder(file, path)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _give_to_owner_of_folder(file: BinaryIO, path: Path) -> None:
    if os.geteuid() == 0:
        owner = path.parent.stat()
        os.fchown(file.fileno(), owner.st_uid, owner.st_gid)


@contextmanager
def _unfinished(path: Path, mode: int = 0o666) -> Iterator[tuple[BinaryIO, Path]]:
    """Open an unnamed file in the folder of `path`; yield it with its later temporary name.

    Where the file system supports unnamed files, a kill leaves nothing behind. The open file is locked, so
    that `remove_leftovers` does not remove it. Other files with such names (SQLite files, copies from a
    cluster) have no lock; they are in index folders, for which `remove_leftovers` is not called.
    """
    passing = temporary_path(path)
    try:
        Path("/proc/self/fd").stat()  # _complete needs it
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, mode)
    except OSError as error:
        if error.errno not in NO_UNNAMED_FILES:
            raise
        descriptor = os.open(passing, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield file, passing
    finally:
        passing.unlink(missing_ok=True)


def _complete(file: BinaryIO, passing: Path) -> None:
    """Flush a file to disk, and name it if it is unnamed."""
    file.flush()
    os.fsync(file.fileno())
    descriptor = file.fileno()
    if os.fstat(descriptor).st_nlink == 0:
        # The ignored src_dir_fd makes os.link call linkat, which follows the link of /proc.
        os.link(f"/proc/self/fd/{descriptor}", passing, src_dir_fd=descriptor, follow_symlinks=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a folder that no process has open, as far as permissions allow."""
    with suppress(OSError), os.scandir(folder) as entries:
        leftovers = [entry.path for entry in entries if TEMPORARY.fullmatch(entry.name)]
        for leftover in leftovers:
            with suppress(OSError):
                descriptor = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    Path(leftover).unlink()
                finally:
                    os.close(descriptor)


def _like(old: os.stat_result, descriptor: int) -> None:
    """Copy the owner, where permitted, and the permissions of the old file to a new one."""
    with suppress(PermissionError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def sync(path: Path) -> None:
    """Flush a file's content, or a folder's entries, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
