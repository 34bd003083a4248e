"""Locks of files between processes."""

from contextlib import AbstractContextManager
from pathlib import Path


def lock_file(path: Path, busy: Exception) -> AbstractContextManager[object]:
    """Lock a file until the end of a `with` block; raise `busy` immediately if another process locks it.

    The file is created and stays: a process that opened it before its removal would lock nothing. The lock
    ends with the process, however that ends.
    """
    from filelock import FileLock, Timeout

    try:
        return FileLock(path).acquire(timeout=0)
    except Timeout:
        raise busy from None
