"""Rates and daily counts of callers, in the memory of a process."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from server.errors import TooOften

DAY_S = 86_400
PRUNED_FROM = 10_000  # buckets
ROUNDING = 1e-9


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
    """Token buckets by name.

    A bucket is stored as the time at which it will be full (the theoretical arrival time of the generic cell
    rate algorithm, ITU-T I.371). A full bucket needs no entry.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with full buckets."""
        self._clock = clock
        self._full_at: dict[str, float] = {}
        self._pruned_at = PRUNED_FROM

    def take(self, name: str, rate: Rate) -> Taken:
        """Take a token from a bucket; an empty bucket is left unchanged."""
        now = self._clock()
        full_at = max(now, self._full_at.get(name, now)) + rate.interval
        left = int((rate.window - (full_at - now)) / rate.interval + ROUNDING)
        wait_s = full_at - now - rate.window
        if wait_s > ROUNDING:
            return Taken(allowed=False, left=0, wait_s=wait_s)
        self._full_at[name] = full_at
        if len(self._full_at) > self._pruned_at:
            self._full_at = {name: full_at for name, full_at in self._full_at.items() if full_at > now}
            self._pruned_at = max(PRUNED_FROM, 2 * len(self._full_at))
        return Taken(allowed=True, left=left, wait_s=0.0 if left else wait_s + rate.interval)

    def require(self, name: str, rate: Rate, message: str) -> None:
        """Take a token. Raises TooOften with the message if there is none."""
        taken = self.take(name, rate)
        if not taken.allowed:
            raise TooOften(message, retry_after_s=taken.wait_s)


class DailyUse:
    """Searches and questions of each key today (UTC)."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Start with no calls."""
        self._clock = clock
        self._day = 0
        self._used: Counter[str] = Counter()

    def used(self, key_id: str) -> int:
        """Return the calls of a key today."""
        today = int(self._clock() // DAY_S)
        if today != self._day:
            self._day, self._used = today, Counter()
        return self._used[key_id]

    def add(self, key_id: str) -> int:
        """Count a call of a key, and return its calls today."""
        self._used[key_id] = self.used(key_id) + 1
        return self._used[key_id]

    def ends_in_s(self) -> float:
        """Return the seconds until midnight."""
        return DAY_S - self._clock() % DAY_S
