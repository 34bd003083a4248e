"""Rate limits: token buckets that all processes of a server share.

A bucket of `burst` tokens that fills by `per_minute` is stored as one number: when it will be full (the
theoretical arrival time of the generic cell rate algorithm, ITU-T I.371). A full bucket needs no number.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from server.limits.shared_table import SharedTable


@dataclass(frozen=True, slots=True)
class Rate:
    """A bucket's size, and its fill rate."""

    per_minute: float
    burst: int

    @property
    def interval(self) -> float:
        """Seconds per token."""
        return 60.0 / self.per_minute

    @property
    def window(self) -> float:
        """Seconds until an empty bucket is full."""
        return self.interval * self.burst


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of taking a token."""

    allowed: bool
    left: int  # tokens
    wait_s: float  # until the next token

    def headers(self, name: str, rate: Rate) -> list[tuple[bytes, bytes]]:
        """Return the headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10)."""
        policy = f'"{name}";q={rate.burst};w={max(1, round(rate.window))}'
        limit = f'"{name}";r={self.left};t={max(0, -int(-self.wait_s // 1))}'
        return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", limit.encode())]


class Buckets:
    """Buckets by name, shared by all processes that open the same file.

    When the table is full, the bucket that refills first is evicted.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Open the table. The clock must be the same in all processes. Raises as `SharedTable`."""
        self._clock = clock
        self._table = SharedTable[float](path, "d")

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the table."""
        self._table.__exit__()

    def take(self, counted: str, rate: Rate) -> Taken:
        """Take a token from a bucket; an empty bucket is left unchanged."""
        with self._table.locked(counted) as entry:
            now = self._clock()
            full_at = entry.number
            if not now < full_at <= now + rate.window + rate.interval:  # full, or a half-written number
                full_at = now
            if full_at - now > rate.window - rate.interval + 1e-9:
                return Taken(allowed=False, left=0, wait_s=full_at - now - rate.window + rate.interval)
            full_at += rate.interval
            entry.write(full_at)
        left = int((rate.window - (full_at - now)) / rate.interval + 1e-9)
        wait_s = 0.0 if left else full_at - now - rate.window + rate.interval
        return Taken(allowed=True, left=left, wait_s=wait_s)
