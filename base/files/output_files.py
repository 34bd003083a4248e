"""The files that a command is told to write.

A file is replaced whole or stays as it is, behind the links that lead to it; its permissions stay. A pipe, a
terminal or a descriptor (/dev/stdout) is written through. What the command reads is never written over.
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
from base.files.durable import cause_of, remove_leftovers, replacing

LONGEST_CHAIN = 40  # of links, as Linux has it
STANDARD_OUTPUT = 1


def check_output(path: Path, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse, before any work, a path that could not be written after it, or that is (in) one of the inputs.

    Raises:
        InvalidCall: the path is a folder, or by whatever name an input, or lies in one that is a folder.
        UnknownPath: its folder is not there.
        OutputNotWritten: no permission.
    """
    target, found = _behind_links(path)
    if found and stat.S_ISDIR(found.st_mode):
        raise InvalidCall(f"{path} is a folder, and a file is to be written", remedy="name a file in it")
    for read in inputs:
        if read and _is_within(target, found, read):
            raise InvalidCall(
                f"{path} would be written over what is read: {read}", remedy="name another file to write"
            )
    if found and (_descriptor(path) is not None or not stat.S_ISREG(found.st_mode)):
        return
    if not target.parent.is_dir():
        raise UnknownPath(
            f"{path} cannot be written: there is no folder {target.parent}",
            remedy="make it first, or name another",
        )
    if not os.access(target.parent, os.W_OK) or (found and not os.access(target, os.W_OK)):
        raise not_written(path, PermissionError(errno.EACCES, "no permission"))


def is_stream(path: Path) -> bool:
    """Tell whether what is written there passes through: a pipe, a terminal, a descriptor."""
    _, found = _behind_links(path)
    return _descriptor(path) is not None or bool(found and not stat.S_ISREG(found.st_mode))


def is_standard_output(path: Path) -> bool:
    """Tell whether the path stands for standard output, as /dev/stdout does."""
    return _descriptor(path) == STANDARD_OUTPUT


def write_output(path: Path, content: bytes) -> None:
    """Write a file; raises as `check_output` does, and OutputNotWritten where the system refuses."""
    with output_file(path) as file:
        file.write(content)


def write_standard_output(pieces: Iterable[bytes]) -> None:
    """Write bytes to standard output as they are, whatever encoding it has for text."""
    for piece in pieces:
        click.echo(piece, nl=False)


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Open what a command writes; a file is there, or replaced, when the block has ended well.

    Raises:
        InvalidCall, UnknownPath: as `check_output`.
        OutputNotWritten: disk full, no permission, a reader that has gone away.
    """
    check_output(path)
    try:
        with _open_stream(path) if is_stream(path) else _replacing(Path(os.path.realpath(path))) as file:
            yield file
    except OSError as error:
        raise not_written(path, error) from error


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    remove_leftovers(path.parent)
    with replacing(path) as file:
        yield file


def _open_stream(path: Path) -> BinaryIO:
    descriptor = _descriptor(path)
    if descriptor is None:
        return path.open("wb")
    for stream in (sys.stdout, sys.stderr):  # what was printed before comes first
        stream.flush()
    return os.fdopen(os.dup(descriptor), "wb")


def _behind_links(path: Path) -> tuple[Path, os.stat_result | None]:
    """Return the path without links, and what is there, if anything is."""
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
    except OSError:  # it is yet to be made, or nothing can be read of it
        return target == real
    same = found is not None and os.path.samestat(found, there)
    return same or (stat.S_ISDIR(there.st_mode) and target.is_relative_to(real))


def _descriptor(path: Path) -> int | None:
    """Return the open descriptor of this process that a path such as /dev/stdout stands for."""
    for _ in range(LONGEST_CHAIN):
        folder = Path(os.path.realpath(path.parent))
        if folder == Path(f"/proc/{os.getpid()}/fd") and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = folder / path.readlink()
    return None


def not_written(path: Path, error: OSError) -> OutputNotWritten:
    """Return the error that says why the system refused a file that was asked for."""
    room = ("make room",) if error.errno in {errno.ENOSPC, errno.EDQUOT} else ()
    remedy = (*room, "name another place")
    return OutputNotWritten(f"{path} was not written: {cause_of(error)}", remedy=remedy)


def is_same_file(first: Path, second: Path) -> bool:
    """Tell whether two paths lead to one file, also one that is not there yet."""
    return first.resolve() == second.resolve() or (
        first.exists() and second.exists() and first.samefile(second)
    )
