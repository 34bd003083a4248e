"""Output files of commands.

A file is replaced atomically or remains unchanged. Links are followed, and permissions are kept. A pipe, a
terminal and standard output are written directly. The inputs of a command are never overwritten.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from base.errors import InvalidCall, OutputNotWritten, UnknownPath
from base.files.durable import cause_of, replacing

STANDARD_OUTPUT = 1


def check_output(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Check, before any work, that a path can be written and is not an input, or inside one.

    Raises:
        InvalidCall: the path is a folder, or is an input under any name, or is inside an input folder.
        UnknownPath: its folder does not exist.
        OutputNotWritten: no permission.
    """
    target, found = _behind_links(path)
    if found and stat.S_ISDIR(found.st_mode):
        raise InvalidCall(f"{path} is a folder; the output must be a file", remedy="name a file in it")
    for read in inputs:
        if read and _is_within(target, found, read):
            raise InvalidCall(f"{path} would overwrite the input {read}", remedy="name another output file")
    if _is_stream(found):
        return
    if not target.parent.is_dir():
        raise UnknownPath(
            f"{path} cannot be written: the folder {target.parent} does not exist",
            remedy="create it, or name another one",
        )
    if not os.access(target.parent, os.W_OK) or (found and not os.access(target, os.W_OK)):
        raise not_written(path, PermissionError(errno.EACCES, "no permission"))


def is_stream(path: Path) -> bool:
    """Check whether a path is written directly: a pipe, a terminal, standard output."""
    return _is_stream(_behind_links(path)[1])


def is_standard_output(path: Path) -> bool:
    """Check whether a path is standard output, such as /dev/stdout."""
    return _is_standard_output(_behind_links(path)[1])


def write_output(path: Path, content: bytes) -> None:
    """Write a file; raises as `check_output`, and OutputNotWritten for a system error."""
    with output_file(path) as file:
        file.write(content)


def write_standard_output(pieces: Iterable[bytes]) -> None:
    """Write bytes to standard output unchanged, regardless of its text encoding."""
    for piece in pieces:
        click.echo(piece, nl=False)


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Open an output file; it is created or replaced when the block ends without an error.

    Raises:
        InvalidCall, UnknownPath: as `check_output`.
        OutputNotWritten: disk full, no permission, a reader that closed the pipe.
    """
    check_output(path)
    try:
        with _open_stream(path) if is_stream(path) else replacing(Path(os.path.realpath(path))) as file:
            yield file
    except OSError as error:
        raise not_written(path, error) from error


def _open_stream(path: Path) -> BinaryIO:
    if not is_standard_output(path):
        return path.open("wb")
    sys.stdout.flush()  # keep the order with earlier output
    return os.fdopen(os.dup(STANDARD_OUTPUT), "wb")


def _is_stream(found: os.stat_result | None) -> bool:
    return found is not None and (not stat.S_ISREG(found.st_mode) or _is_standard_output(found))


def _is_standard_output(found: os.stat_result | None) -> bool:
    try:
        return found is not None and os.path.samestat(found, os.fstat(STANDARD_OUTPUT))
    except OSError:  # it is closed
        return False


def _behind_links(path: Path) -> tuple[Path, os.stat_result | None]:
    """Return the path with links resolved, and its status if it exists."""
    try:
        return Path(os.path.realpath(path)), path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Path(os.path.realpath(path)), None
    except OSError as error:
        raise not_written(path, error) from error


def _is_within(target: Path, found: os.stat_result | None, read: Path) -> bool:
    real = Path(os.path.realpath(read))
    try:
        there = read.stat()
    except OSError:  # it does not exist yet, or is unreadable
        return target == real
    same = found is not None and os.path.samestat(found, there)
    return same or (stat.S_ISDIR(there.st_mode) and target.is_relative_to(real))


def not_written(path: Path, error: OSError) -> OutputNotWritten:
    """Return the error for an output file that the system refused to write."""
    room = ("make room",) if error.errno in {errno.ENOSPC, errno.EDQUOT} else ()
    remedy = (*room, "name another place")
    return OutputNotWritten(f"{path} was not written: {cause_of(error)}", remedy=remedy)


def is_same_file(first: Path, second: Path) -> bool:
    """Check whether two paths lead to one file, even if it does not exist yet."""
    return first.resolve() == second.resolve() or (
        first.exists() and second.exists() and first.samefile(second)
    )
