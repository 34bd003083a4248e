"""Files that people name, opened only where they end: a device may give bytes for ever, a pipe none."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path


def open_regular(path: Path, *, pipes: bool = False) -> BufferedReader:
    """Open a regular file to read, without waiting; OSError for anything else.

    With `pipes` a pipe too, whose writer is waited for: the caller bounds what is read.
    """
    pipe = pipes and stat.S_ISFIFO(path.stat().st_mode)
    descriptor = os.open(path, os.O_RDONLY | (0 if pipe else os.O_NONBLOCK))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode)):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file of at most so many bytes; OSError for a larger one and for anything else."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if data is None:  # of the kernel's own files some give bytes when there are any
        raise OSError(errno.EAGAIN, "there is nothing to read", str(path))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data
