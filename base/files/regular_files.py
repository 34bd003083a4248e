"""Bounded reading of files named by users: a device may be endless, and opening a pipe may block."""

import errno
import os
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

MOST_SECRET = 4_096  # bytes of a file with a secret


def open_regular(path: Path, *, pipes: bool = False) -> BufferedReader:
    """Open a regular file for reading, without blocking; OSError for anything else.

    With `pipes`, pipes are allowed too. Opening one waits for its writer, and the caller bounds the reading.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "the path contains a NUL character", str(path))
    pipe = pipes and stat.S_ISFIFO(path.stat().st_mode)
    descriptor = os.open(path, os.O_RDONLY | (0 if pipe else os.O_NONBLOCK))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (pipe and stat.S_ISFIFO(mode)):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
    raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def read_secret(path: Path) -> str:
    """Read a key or a password from a regular file with one line of at most 4,096 bytes.

    White space around it is removed. Raises `OSError` if the file cannot be read, and `ValueError` if it is
    larger or does not contain one line of text. No message quotes its content.
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
        raise ValueError("it contains more than one line")
    if not secret.isprintable():
        raise ValueError("it contains control characters")
    return secret


def read_regular(path: Path, most: int, check: Callable[[os.stat_result], None] | None = None) -> bytes:
    """Read a regular file of at most `most` bytes; OSError for a larger file and for anything else.

    `check` is called with the status of the open file before it is read.
    """
    with open_regular(path) as file:
        if check:
            check(os.fstat(file.fileno()))
        data = file.read(most + 1)
    if data is None:  # some kernel files have no data at the moment
        raise OSError(errno.EAGAIN, "there is nothing to read", str(path))
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data
