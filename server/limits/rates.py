"""How many calls in a time: token buckets that all processes of a server share.

A bucket of `burst` tokens that fills by `per_minute` is kept as one number: the time at which it will be full
(the theoretical arrival time of the generic cell rate algorithm, ITU-T I.371). A full bucket is no number at
all, so the table, a file mapped into memory, forgets on its own: an entry is a hash of what is counted, and a
time.
"""

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

ENTRY = struct.Struct("=8sd")  # hash, time at which the bucket is full
GROUP = 16  # entries that one hash may stand in
GROUPS = 4_096
SIZE = ENTRY.size * GROUP * GROUPS
TRIES = (
    50  # to get a group's lock, which is held for some microseconds; a process that stopped holds nobody up
)


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket's size, and how it fills."""

    per_minute: float
    burst: int

    @property
    def interval(self) -> float:
        """Seconds in which a token is added."""
        return 60.0 / self.per_minute

    @property
    def window(self) -> float:
        """Seconds in which an empty bucket fills."""
        return self.interval * self.burst


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of taking a token."""

    allowed: bool
    left: int  # tokens
    wait_s: float  # until there is one again

    def headers(self, name: str, rate: Rate) -> list[tuple[bytes, bytes]]:
        """Return the headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10)."""
        policy = f'"{name}";q={rate.burst};w={max(1, round(rate.window))}'
        limit = f'"{name}";r={self.left};t={max(0, -int(-self.wait_s // 1))}'
        return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", limit.encode())]


class Buckets:
    """Buckets by what is counted; where there is a file, those of all processes that have it open.

    Of a table that is full the bucket is forgotten that is full soonest.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Map the file, which is made where it is missing; without one keep the buckets in this process.

        The clock must be the same in all processes.
        """
        self._clock = clock
        self._file = -1 if path is None else os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if path is not None:
            os.ftruncate(self._file, SIZE)
        self._table = mmap.mmap(self._file, SIZE)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let the file go."""
        self._table.close()
        if self._file >= 0:
            os.close(self._file)

    def take(self, counted: str, rate: Rate) -> Taken:
        """Take a token from a bucket; where there is none, the bucket stays as it is."""
        digest = blake2b(counted.encode("utf-8", "replace"), digest_size=8).digest()
        start = int.from_bytes(digest, "little") % GROUPS * GROUP * ENTRY.size
        with self._locked(start):
            now = self._clock()
            place, full_at = self._find(start, digest)
            if not now < full_at <= now + rate.window + rate.interval:  # full, or a half-written number
                full_at = now
            if full_at - now > rate.window - rate.interval + 1e-9:
                return Taken(allowed=False, left=0, wait_s=full_at - now - rate.window + rate.interval)
            full_at += rate.interval
            ENTRY.pack_into(self._table, place, digest, full_at)
        left = int((rate.window - (full_at - now)) / rate.interval + 1e-9)
        wait_s = 0.0 if left else full_at - now - rate.window + rate.interval
        return Taken(allowed=True, left=left, wait_s=wait_s)

    def _find(self, start: int, digest: bytes) -> tuple[int, float]:
        """Return where a bucket stands, or may stand, and when it is full."""
        soonest, place = float("inf"), start
        for at in range(start, start + GROUP * ENTRY.size, ENTRY.size):
            found, full_at = ENTRY.unpack_from(self._table, at)
            if found == digest:
                return at, full_at
            if not full_at >= soonest:  # also where it is no number
                soonest, place = full_at, at
        return place, 0.0

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
