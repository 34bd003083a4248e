"""Files that are written whole or not at all, and errors of the system with the next step."""

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


# File systems that have no files without a name, such as NFS; kernels that do not know them.
NO_UNNAMED_FILES = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS})  # exFAT, some network mounts


def temporary_path(path: Path) -> Path:
    """Return the name of the file that is moved to `path` when it is complete; a kill can leave it there."""
    return path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}.partial")


def disk_of(path: Path) -> str:
    """Return the mount point of the disk of a path, and its free space, for a message."""
    folder = path.absolute()
    while not os.path.ismount(folder) and folder != folder.parent:
        folder = folder.parent
    return f"{folder}, {shutil.disk_usage(folder).free / 1e6:,.0f} MB free"


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

    Until then, and after an error, the old file is there and nothing else.
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
    """Write a new file that appears with all of its content; FileExistsError where there is one already.

    On a file system without hard links it appears empty, and a kill can leave it so. Nobody has more rights
    to the file than `mode` gives, at any time. The superuser gives it to the owner of its folder.
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
    """Open a file of the folder of `path`, and give the name that it has in the folder when it is complete.

    It has no name before, so a kill leaves none, where the file system allows that. While it is open it is
    locked: `remove_leftovers` does not remove it. The other files of such names (SQLite files, copies from a
    cluster) have no lock: they are written in an index's folders, which `remove_leftovers` is not called for.
    """
    passing = temporary_path(path)
    try:
        Path("/proc/self/fd").stat()  # which _complete needs
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
    """Write a file out, and give it its name if it has none."""
    file.flush()
    os.fsync(file.fileno())
    descriptor = file.fileno()
    if os.fstat(descriptor).st_nlink == 0:
        # With a src_dir_fd, which is ignored, os.link calls linkat and follows the link of /proc.
        os.link(f"/proc/self/fd/{descriptor}", passing, src_dir_fd=descriptor, follow_symlinks=True)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of a folder that no process holds open, as far as permissions allow."""
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
