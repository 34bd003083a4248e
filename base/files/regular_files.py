"""Files that people name, opened only where they end: a device may give bytes for ever, a pipe none."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

MOST_SECRET = 4_096  # bytes of a file that holds one


def open_regular(path: Path, *, pipes: bool = False) -> BufferedReader:
    """Open a regular file to read, without waiting; OSError for anything else.

    With `pipes` a pipe too, whose writer is waited for: the caller bounds what is read.
    """
    return os.fdopen(open_descriptor(path, pipes=pipes), "rb")


def open_descriptor(path: Path, *, pipes: bool = False) -> int:
    """Open as `open_regular`, and return the descriptor."""
    pipe = pipes and stat.S_ISFIFO(path.stat().st_mode)
    descriptor = os.open(path, os.O_RDONLY | (0 if pipe else os.O_NONBLOCK))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode)):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read_secret(path: Path) -> str:
    """Read a key or a password from a regular file that holds one line of at most 4,096 bytes.

    White space around it is removed. Raises `OSError` if the file cannot be read, and `ValueError` if it is
    larger or does not hold one line of text. No message contains its content.
    """
    try:
        secret = read_regular(path, MOST_SECRET).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ValueError(str(error.strerror)) from None
        raise
    if not secret:
        raise ValueError("it is empty")
    if len(secret.splitlines()) > 1:
        raise ValueError("it holds more than one line")
    if not secret.isprintable():
        raise ValueError("it holds control characters")
    return secret


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file of at most so many bytes; OSError for a larger one and for anything else."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if data is None:  # of the kernel's own files some give bytes when there are any
        raise OSError(errno.EAGAIN, "there is nothing to read", str(path))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data
