"""A table of numbers by name that all processes of a server share: a file mapped into memory.

An entry is the hash of a name, and a number. The hash chooses a group of entries. When the group is full, the
entry with the least number is evicted, so numbers grow with the time for which they matter.
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
GROUP = 16  # entries
GROUPS = 4_096
SIZE = ENTRY_BYTES * GROUP * GROUPS
# To lock a group, which takes microseconds. A stopped process that holds the lock must not block the others.
TRIES = 50


@dataclass(frozen=True, slots=True)
class Entry(Generic[Number]):
    """An entry of a locked group: its number, 0 if it is new, and a function that replaces the number."""

    number: Number
    write: Callable[[Number], None]


class SharedTable(Generic[Number]):
    """A table of integers (format Q) or floats (d)."""

    def __init__(self, path: Path | None, number_format: Literal["Q", "d"]) -> None:
        """Map the file, creating it if needed; without a path the table is private to the process.

        Raises:
            OSError: the file cannot be created or mapped, or the disk is full.
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
        """Lock the group of a name, and yield its entry."""
        digest, start = _place_of(name)
        with self._locked(start):
            place, number = self._find(start, digest)
            yield Entry(number, lambda number: self._entry.pack_into(self._mapped, place, digest, number))

    def _find(self, start: int, digest: bytes) -> tuple[int, Number]:
        """Return the place of a name's entry, or of the one to evict, and the name's number."""
        least, place = float("inf"), start
        for at in range(start, start + GROUP * ENTRY_BYTES, ENTRY_BYTES):
            found, number = self._entry.unpack_from(self._mapped, at)
            if found == digest:
                return at, number
            if not number >= least:  # also if it is NaN
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
    """Return the number of a name in the content of a table's file, 0 if it has none."""
    digest, start = _place_of(name)
    for found, number in struct.iter_unpack("=8sQ", table[start : start + GROUP * ENTRY_BYTES]):
        if found == digest:
            return int(number)
    return 0


def _place_of(name: str) -> tuple[bytes, int]:
    """Return the hash of a name, and the offset of its group."""
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=HASH.size).digest()
    return digest, int.from_bytes(digest, "little") % GROUPS * GROUP * ENTRY_BYTES


def _opened(path: Path) -> int:
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))  # noqa: TRY301 - closed below
        # Writing to a page for which the disk has no space would kill the process.
        os.posix_fallocate(opened, 0, SIZE)
    except BaseException:
        os.close(opened)
        raise
    return opened
