"""Rate limits: one token bucket per host, shared by all sources on it."""

import threading
import time


class TokenBucket:
    """A token bucket, filled at a rate up to its size; callers without a token get the time to wait.

    It belongs to no event loop.
    """

    def __init__(self, per_second: float, size: int = 1) -> None:
        """Start full."""
        self._per_second, self._size = per_second, size
        self._tokens, self._at = float(size), time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> float:
        """Take a token, and return the seconds to wait before its use."""
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self._size, self._tokens + (now - self._at) * self._per_second)
            self._at = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self._per_second)

    def pause(self, seconds: float) -> None:
        """Block all requests for a time that the host requested."""
        with self._lock:
            self._tokens = min(self._tokens, -seconds * self._per_second)

    def put_back(self) -> None:
        """Return an unused token."""
        with self._lock:
            self._tokens = min(self._size, self._tokens + 1)

    def slow_to(self, per_second: float) -> None:
        """Lower the rate if it is higher."""
        with self._lock:
            self._per_second = min(self._per_second, per_second)


_buckets: dict[str, TokenBucket] = {}
_lock = threading.Lock()


def bucket_of(host: str, per_second: float) -> TokenBucket:
    """Return the bucket of a host and port; the slowest requested rate applies."""
    with _lock:
        bucket = _buckets.setdefault(host, TokenBucket(per_second))
    bucket.slow_to(per_second)
    return bucket
