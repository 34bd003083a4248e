"""A table of numbers by name that all processes of a server share: a file mapped into memory.

An entry is a hash of the name and a number. A name stands in one of the places of its group. Where all are
taken, the entry with the least number is replaced: the number says how long an entry is worth keeping.
"""

import errno
import fcntl
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Generic, Literal, Self, TypeVar

Number = TypeVar("Number", int, float)

HASH = struct.Struct("=8s")
NUMBER_BYTES = 8
ENTRY_BYTES = HASH.size + NUMBER_BYTES
GROUP = 16  # entries that one hash may stand in
GROUPS = 4_096
SIZE = ENTRY_BYTES * GROUP * GROUPS
# To get a group's lock, which is held for some microseconds; a process that stopped holds nobody up.
TRIES = 50


@dataclass(frozen=True, slots=True)
class Entry(Generic[Number]):
    """An entry whose group is locked: its number, 0 where the table has none, and what replaces it."""

    number: Number
    write: Callable[[Number], None]


class SharedTable(Generic[Number]):
    """A table of whole numbers (format Q) or of others (d); without a file it is this process's own."""

    def __init__(self, path: Path | None, number_format: Literal["Q", "d"]) -> None:
        """Map the file, which is made for its owner alone where it is missing.

        Raises:
            OSError: it cannot be made or mapped; the disk is full.
        """
        self._entry = struct.Struct(f"=8s{number_format}")
        self._file = -1 if path is None else _opened(path)
        try:
            self._mapped = mmap.mmap(self._file, SIZE)
        except BaseException:
            self._close_file()
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Unmap the file."""
        self._mapped.close()
        self._close_file()

    @contextmanager
    def locked(self, name: str) -> Iterator[Entry[Number]]:
        """Keep other processes from a name's group, and yield its entry."""
        digest, start = _place_of(name)
        with self._locked(start):
            place, number = self._find(start, digest)
            yield Entry(number, lambda number: self._entry.pack_into(self._mapped, place, digest, number))

    def _find(self, start: int, digest: bytes) -> tuple[int, Number]:
        """Return where a name's entry stands, or may stand, and its number."""
        least, place = float("inf"), start
        for at in range(start, start + GROUP * ENTRY_BYTES, ENTRY_BYTES):
            found, number = self._entry.unpack_from(self._mapped, at)
            if found == digest:
                return at, number
            if not number >= least:  # also where it is no number
                least, place = number, at
        return place, 0

    @contextmanager
    def _locked(self, start: int) -> Iterator[None]:
        if self._file < 0:
            yield
            return
        held = False
        for _ in range(TRIES):
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, start)
                held = True
                break
            os.sched_yield()
        try:
            yield
        finally:
            if held:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, start)

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)


def read_whole_number(table: bytes, name: str) -> int:
    """Return a name's number in the content of a table's file; 0 where it has none."""
    digest, start = _place_of(name)
    for found, number in struct.iter_unpack("=8sQ", table[start : start + GROUP * ENTRY_BYTES]):
        if found == digest:
            return int(number)
    return 0


def _place_of(name: str) -> tuple[bytes, int]:
    """Return the hash of a name, and where its group begins."""
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=HASH.size).digest()
    return digest, int.from_bytes(digest, "little") % GROUPS * GROUP * ENTRY_BYTES


def _opened(path: Path) -> int:
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))  # noqa: TRY301 - closed below
        os.posix_fallocate(
            opened, 0, SIZE
        )  # writing to a page that a full disk cannot hold kills the process
    except BaseException:
        os.close(opened)
        raise
    return opened
