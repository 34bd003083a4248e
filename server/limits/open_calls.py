"""Concurrent calls of each caller, limited over all processes of a server.

A call holds one of its caller's places until its answer has ended. Between processes a place is a byte of a
file, locked by its holder. The kernel unlocks the bytes of a process that ends or is killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Self

from base.amounts import counted
from server.errors import TooManyOpen

MOST_PLACES = 1_000  # of a caller
CALLER_BYTES = 6  # of a caller's hash; offsets in the file stay below 2^63


class OpenCalls:
    """The places of callers, for one event loop."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the file that processes share; without a path only this process is counted."""
        self._file = -1 if path is None else os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._held: dict[str, set[int]] = {}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Release all places."""
        if self._file >= 0:
            os.close(self._file)

    @contextmanager
    def one_more(self, caller: str, most: int) -> Iterator[None]:
        """Hold a place of a caller.

        Raises:
            TooManyOpen: all are taken.
        """
        held = self._held.setdefault(caller, set())
        place = next(
            (place for place in range(most) if place not in held and self._lock(caller, place)), None
        )
        if place is None:
            if not held:
                del self._held[caller]
            open_now = f"{counted(most, 'call')} {'is' if most == 1 else 'are'} open already"
            raise TooManyOpen(f"{open_now}; wait until one has ended", retry_after_s=1)
        held.add(place)
        try:
            yield
        finally:
            held.remove(place)
            if not held:
                del self._held[caller]
            if self._file >= 0:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _offset(caller, place))

    def _lock(self, caller: str, place: int) -> bool:
        """Try to lock a place; another process may hold it."""
        if self._file < 0:
            return True
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(caller, place))
        except OSError:
            return False
        return True


def _offset(caller: str, place: int) -> int:
    digest = blake2b(caller.encode("utf-8", "replace"), digest_size=CALLER_BYTES).digest()
    return int.from_bytes(digest, "little") * MOST_PLACES + place
